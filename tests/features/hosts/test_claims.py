"""Which host a ByoMachine claims, what the claim brings to it, and what is said while there is none."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from mooring.catalog import CATALOG
from mooring.features.hosts.api.names import BYOMACHINE_NAME, CLUSTER_NAME, PAUSED
from mooring.features.hosts.simulated.controller import LOST
from mooring.testing.hosts import byo_host, put_machine
from tests.features.hosts.world import HostWorld, labelled

WORKER, GPU = {"purpose": "worker"}, {"purpose": "gpu"}
TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}


def test_hosts_go_to_the_pool_whose_selector_they_match() -> None:
    world = HostWorld(*(labelled(f"node1{i}", p) for i, p in enumerate(("worker", "gpu", "worker", "general"))))
    for name, selector in (("w1", WORKER), ("w2", WORKER), ("g1", GPU)):
        put_machine(world.simulation, name, selector, labels=selector)
    world.run()
    assert world.claims() == {"node10": "w1", "node12": "w2", "node11": "g1"}
    assert [world.phase(f"node1{i}") for i in range(4)] == ["Claimed", "Claimed", "Claimed", "Available"]
    nodes = world.all("Node")
    assert {name: node["metadata"]["labels"]["purpose"] for name, node in nodes.items()} == {
        "node10": "worker",
        "node11": "gpu",
        "node12": "worker",
    }
    assert nodes["node11"]["spec"]["providerID"] == "byoh://node11"
    assert world.get("ByoMachine", "g1")["spec"]["providerID"] == "byoh://node11"
    assert nodes["node11"]["status"]["nodeInfo"]["kubeletVersion"] == "v1.34.1"
    assert all(world.ready(name) for name in ("w1", "w2", "g1"))


@pytest.mark.parametrize(
    ("hosts", "wanted", "chosen"),
    [
        pytest.param(
            [byo_host("a"), byo_host("b", priority=5)], {}, "b", id="the host of the highest priority is chosen first"
        ),
        pytest.param(
            [byo_host("a", cpu="64"), byo_host("b", cpu="8")],
            {"capacityRequirements": {"cpu": "4"}},
            "b",
            id="of those that are large enough, the smallest",
        ),
        pytest.param(
            [byo_host("a", cpu="2"), byo_host("b", cpu="8")],
            {"capacityRequirements": {"cpu": "4"}},
            "b",
            id="one that is too small is never chosen",
        ),
        pytest.param(
            [byo_host("a", gpu=8), byo_host("b", memory="1Ti")], {}, "b", id="GPUs are kept for those that ask for them"
        ),
        pytest.param([byo_host("b"), byo_host("a")], {}, "a", id="and else the first by name"),
        pytest.param(
            [byo_host("a", priority=-3), byo_host("b", priority=-5)],
            {},
            "a",
            id="a negative priority is one like others",
        ),
        pytest.param(
            [byo_host("a", labels={"zone": "x"}), byo_host("b", labels={"zone": "y"})],
            {"selector": {"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["x"]}]}},
            "b",
            id="expressions count as labels do",
        ),
    ],
)
def test_the_choice_among_hosts_is_always_the_same(hosts: list[Any], wanted: dict[str, Any], chosen: str) -> None:
    world = HostWorld(*hosts)
    put_machine(world.simulation, "m", **wanted)
    assert world.run().claims() == {chosen: "m"}


def test_a_machine_shows_the_addresses_at_which_its_host_is_reached() -> None:
    world = HostWorld(byo_host("node10"))
    network = [
        {"macAddr": "1", "ipAddrs": ["192.0.2.7/24"], "connected": True},
        {"macAddr": "2", "ipAddrs": ["198.51.100.7/24"], "connected": False},
        {"macAddr": "3", "ipAddrs": ["10.0.0.7/24", "fd00::7/64"], "connected": True, "isDefault": True},
    ]
    world.patch("ByoHost", "node10", {"status": {"network": network}}, "status")
    put_machine(world.simulation, "m")
    world.run()
    addresses = [(each["type"], each["address"]) for each in world.get("ByoMachine", "m")["status"]["addresses"]]
    assert addresses == [
        ("InternalIP", "10.0.0.7"),
        ("InternalIP", "fd00::7"),
        ("InternalIP", "192.0.2.7"),
        ("Hostname", "node10"),
    ]


def test_a_host_that_rested_longest_is_claimed_first() -> None:
    world = HostWorld(byo_host("a"), byo_host("b"))
    put_machine(world.simulation, "m1")
    world.run()
    world.delete("ByoMachine", "m1")
    world.run()
    put_machine(world.simulation, "m2")
    assert world.run().claims() == {"b": "m2"}


def test_a_host_that_is_relabelled_is_claimed_at_once_and_by_one() -> None:
    world = HostWorld(labelled("node10", "worker"), labelled("node13", "general"))
    for i in range(3):
        put_machine(world.simulation, f"m{i}", WORKER)
    world.run()
    waiting = [name for name in ("m0", "m1", "m2") if name not in world.claims().values()]
    assert len(waiting) == 2
    condition = world.condition("ByoMachine", waiting[0])
    assert (condition["status"], condition["reason"], condition["severity"]) == ("False", "BYOHostsUnavailable", "Info")
    assert condition["message"].startswith("1 of 1 matching hosts are claimed")
    before = world.simulation.now
    world.label("node13", purpose="worker")
    world.run(1)
    assert len(world.claims()) == 2
    assert world.simulation.now == before, "time had to pass before the host was claimed"


def test_a_selector_without_a_host_names_the_nearest_labels_and_is_not_tried_again_and_again() -> None:
    world = HostWorld(labelled("node10", "worker"))
    put_machine(world.simulation, "m", {"purpose": "wroker"})
    world.run()
    message = world.condition("ByoMachine", "m")["message"]
    assert "no ByoHost matches purpose=wroker; the nearest label is purpose=worker on node10" in message
    events = [each for each in world.all("Event").values() if each["reason"] == "ByoHostSelectionFailed"]
    assert [each.get("count", 1) for each in events] == [1]
    steps = world.simulation.steps
    world.run(600)
    assert world.simulation.steps == steps


def test_a_machine_on_its_way_is_told_with_what_it_waits_for() -> None:
    world = HostWorld(labelled("node10", "worker"))
    put_machine(world.simulation, "m", GPU)
    assert CATALOG.progress(world.get("ByoMachine", "m")) == "no host is claimed yet"
    world.run()
    assert "no ByoHost matches purpose=gpu" in CATALOG.progress(world.get("ByoMachine", "m"))
    world.label("node10", purpose="gpu")
    world.run()
    assert CATALOG.progress(world.get("ByoMachine", "m")) == ""


def test_a_silent_host_is_not_claimed_and_says_so() -> None:
    world = HostWorld(byo_host("quiet"))
    world.run()
    world.annotate("ByoHost", "quiet", {LOST: "true"})
    world.wait(130).run()
    assert world.phase("quiet") == "Silent"
    told = world.condition("ByoHost", "quiet", "HostHealthy")
    assert (told["status"], told["reason"]) == ("False", "HeartbeatStale")
    put_machine(world.simulation, "m")
    world.run()
    assert world.claims() == {}
    assert "silent, paused or not clean" in world.condition("ByoMachine", "m")["message"]
    world.annotate("ByoHost", "quiet", {LOST: None})
    assert world.run().claims() == {"quiet": "m"}


def test_a_host_nobody_speaks_for_is_told_to_get_an_agent() -> None:
    world = HostWorld(byo_host("bare"), agents=False)
    put_machine(world.simulation, "m")
    world.run()
    assert world.phase("bare") == "Silent"
    assert "start `mooring agent` on it" in world.condition("ByoHost", "bare", "HostHealthy")["message"]
    assert world.claims() == {}


def test_heartbeats_wake_nobody_who_waits_for_a_host() -> None:
    world = HostWorld(labelled("node10", "worker"))
    put_machine(world.simulation, "m1", WORKER)
    put_machine(world.simulation, "m2", WORKER)
    world.run()
    runs = _runs_of_machines(world)
    world.wait(600)
    beat = world.get("ByoHost", "node10")["status"]["lastHeartbeatTime"]
    assert beat > "2026-01-01T00:08:00Z"
    assert _runs_of_machines(world) == runs


def _runs_of_machines(world: HostWorld) -> str:
    found = world.simulation.metrics.text()
    return next(line for line in found.splitlines() if "reconcile_total" in line and '"byomachine"' in line)


def test_labels_and_taints_of_the_pool_reach_the_host_and_leave_with_the_claim() -> None:
    own = {"key": "mine", "effect": "NoSchedule"}
    host = labelled("node11", "gpu", gpu=1) | {}
    host["spec"] |= {"labels": {"rack": "r1", "tier": "theirs"}, "taints": [own]}
    world = HostWorld(host)
    put_machine(world.simulation, "g", GPU, labels={"purpose": "gpu", "tier": "pool"}, taints=(TAINT,))
    world.run()
    node = world.get("Node", "node11")
    assert node["metadata"]["labels"].items() >= {"purpose": "gpu", "rack": "r1", "tier": "theirs"}.items()
    assert [each["key"] for each in node["spec"]["taints"] if "node.kubernetes.io" not in each["key"]] == [
        "mine",
        "nvidia.com/gpu",
    ]
    world.delete("ByoMachine", "g")
    world.run()
    freed = world.get("ByoHost", "node11")
    assert freed["spec"] == {
        "capacity": host["spec"]["capacity"],
        "labels": {"rack": "r1", "tier": "theirs"},
        "taints": [own],
    }
    assert not {CLUSTER_NAME, BYOMACHINE_NAME} & freed["metadata"]["labels"].keys()
    assert "annotations" not in freed["metadata"]
    assert world.all("Node") == {}


def test_a_pause_reaches_the_host_and_goes_again() -> None:
    world = HostWorld(byo_host("a"))
    put_machine(world.simulation, "m")
    world.run()
    world.patch("Cluster", "my-cluster", {"spec": {"paused": True}})
    world.run()
    assert world.get("ByoHost", "a")["metadata"]["annotations"][PAUSED] == "m"
    assert world.condition("ByoMachine", "m")["reason"] == "ClusterOrResourcePaused"
    world.delete("ByoMachine", "m")
    world.run()
    assert world.claims() == {"a": "m"}, "a paused machine was released"
    world.patch("Cluster", "my-cluster", {"spec": {"paused": False}})
    world.run()
    assert world.claims() == {}
    assert "annotations" not in world.get("ByoHost", "a")["metadata"]


def test_a_host_that_somebody_paused_is_left_alone() -> None:
    world = HostWorld(byo_host("a", annotations={PAUSED: ""}))
    put_machine(world.simulation, "m")
    assert world.run().claims() == {}


def test_relabelling_a_host_in_use_moves_nothing_and_is_told() -> None:
    world = HostWorld(labelled("a", "worker"))
    put_machine(world.simulation, "m", WORKER)
    world.run()
    world.label("a", purpose="gpu")
    world.run()
    assert world.claims() == {"a": "m"}
    assert world.ready("m")
    assert world.condition("ByoMachine", "m", "SelectorMatchesHost")["reason"] == "LabelMismatch"


def test_a_kubelet_of_another_version_is_told() -> None:
    world = HostWorld(byo_host("a"))
    put_machine(world.simulation, "m", version="v1.34.1")
    world.run()
    info = world.get("Node", "a")["status"]["nodeInfo"]
    world.patch("Node", "a", {"status": {"nodeInfo": {**info, "kubeletVersion": "v1.33.0"}}}, "status")
    world.run()
    told = world.condition("ByoMachine", "m", "KubeletVersionMatches")
    assert told["status"] == "False"
    assert "is v1.33.0, and Machine m asks for v1.34.1" in told["message"]


@pytest.mark.parametrize(
    ("broken", "reason", "part"),
    [
        ("no cluster", "ClusterNotFound", "there is no Cluster my-cluster in namespace default"),
        ("unprovisioned", "WaitingForClusterInfrastructure", "Cluster my-cluster is not provisioned yet"),
        ("no secret", "WaitingForBootstrapDataSecret", "Machine m has no spec.bootstrap.dataSecretName yet"),
        ("no machine", "WaitingForMachine", "no Machine owns ByoMachine m yet"),
        ("no installer", "InstallerNotFound", "there is no K8sInstallerConfigTemplate gone in namespace default"),
        ("strange installer", "InstallerNotFound", "only a K8sInstallerConfigTemplate"),
        ("bad selector", "InvalidSelector", "spec.selector: "),
    ],
)
def test_whatever_is_missing_is_named(broken: str, reason: str, part: str) -> None:
    world = HostWorld(byo_host("a"))
    every: dict[str, dict[str, Any]] = {
        "no installer": {"installerRef": {"kind": "K8sInstallerConfigTemplate", "name": "gone"}},
        "strange installer": {"installerRef": {"apiGroup": "x.dev", "kind": "OtherTemplate", "name": "gone"}},
        "bad selector": {"selector": {"matchExpressions": [{"key": "a", "operator": "Near"}]}},
    }
    extra = every.get(broken, {})
    if broken == "no cluster":
        world.delete("Cluster", "my-cluster")
    if broken == "unprovisioned":
        world.patch("Cluster", "my-cluster", {"status": {"initialization": None}}, "status")
    put_machine(world.simulation, "m", secret=None if broken == "no secret" else "bootstrap", **extra)
    if broken == "no machine":
        world.delete("Machine", "m")
    world.run()
    told = world.condition("ByoMachine", "m")
    assert (told["status"], told["reason"]) == ("False", reason)
    assert part in told["message"]
    assert not world.ready("m")


def test_a_claim_waits_for_nothing_that_time_alone_would_bring() -> None:
    world = HostWorld(byo_host("a"))
    put_machine(world.simulation, "m")
    world.run()
    assert world.simulation.now - world.simulation.now.replace(second=0, microsecond=0) < timedelta(seconds=1)


def test_a_simulated_host_that_says_nothing_of_its_size_has_the_usual_one() -> None:
    plain = byo_host("plain")
    del plain["spec"]["capacity"]
    world = HostWorld(plain).run(60)
    found = world.get("ByoHost", "plain")
    assert found["spec"]["capacity"] == {"cpu": "8", "memory": "32Gi"}
    assert found["metadata"]["labels"] == {
        "byohost.infrastructure.cluster.x-k8s.io/host": "plain",
        "capacity.infrastructure.cluster.x-k8s.io/cpu": "8",
        "capacity.infrastructure.cluster.x-k8s.io/memory": "33554432Ki",
    }
