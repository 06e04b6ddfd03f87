"""Pools become node groups: their bounds, their next node, and the hosts that they can have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from mooring.features.autoscaler.cluster_state.memory import Memory
from mooring.features.autoscaler.discovery import FreeHost, PoolObjects, discover
from mooring.features.autoscaler.observation import look
from mooring.features.autoscaler.scale_up.orchestrator import scale_up
from mooring.features.autoscaler.settings import UPSTREAM, AutoscalerSettings
from mooring.kube.quantities import parse_quantity
from tests.features.autoscaler.clusters import NOON, cluster, machine_deployment, nodes_of, pods, pool

SETTINGS = AutoscalerSettings()


def host(name: str, cpu: str = "8", memory: str = "32Gi") -> FreeHost:
    return FreeHost(name, {"cpu": parse_quantity(cpu), "memory": parse_quantity(memory)})


def written(**annotations: str) -> dict[str, Any]:
    return machine_deployment("pool-a", replicas=0, cpu="4", memory="16Gi", **annotations)


def test_a_malformed_pool_hides_no_other() -> None:
    pools = [
        PoolObjects(written(max_size="many")),
        PoolObjects(machine_deployment("b", max_size="3", cpu="1", memory="1Gi")),
    ]
    found = discover(pools, SETTINGS)
    assert [(group.name, group.min, group.max) for group in found.groups] == [("MachineDeployment/default/b", 0, 3)]
    (problem,) = found.problems.values()
    assert problem.startswith("MachineDeployment/default/pool-a is not scaled: error validating min/max annotations: ")
    assert problem.endswith('"many": invalid syntax; write whole numbers, and no minimum above the maximum')
    assert discover(pools, UPSTREAM).groups == []


def test_a_pool_that_is_paused_or_has_no_maximum_says_so() -> None:
    paused = written(max_size="3")
    paused["metadata"]["annotations"]["cluster.x-k8s.io/paused"] = "true"
    (problem,) = discover([PoolObjects(paused)], SETTINGS).problems.values()
    assert "it is paused" in problem
    (problem,) = discover([PoolObjects(written())], SETTINGS).problems.values()
    assert "its maximum is 0" in problem


def test_labels_and_taints_of_the_machines_reach_the_next_node() -> None:
    scalable = written(max_size="3", labels="tier=b", taints="gpu=yes:NoSchedule")
    template = scalable["spec"]["template"]
    template["metadata"]["labels"] = {"cluster.x-k8s.io/cluster-name": "c", "purpose": "gpu", "tier": "a"}
    template["spec"]["taints"] = [
        {"key": "gpu", "value": "no", "effect": "NoSchedule"},
        {"key": "slow", "effect": "NoExecute"},
    ]
    (group,) = discover([PoolObjects(scalable)], SETTINGS).groups
    assert group.template is not None
    labels = group.template.metadata.labels or {}
    assert (labels["purpose"], labels["tier"], "cluster.x-k8s.io/cluster-name" in labels) == ("gpu", "b", False)
    assert [(each.key, each.value) for each in group.template.spec.taints or ()] == [("slow", ""), ("gpu", "yes")]
    (upstream,) = discover([PoolObjects(scalable)], UPSTREAM).groups
    assert upstream.template is not None
    assert "purpose" not in (upstream.template.metadata.labels or {})


def test_a_pool_at_zero_is_as_large_as_its_smallest_free_host() -> None:
    scalable = machine_deployment("pool-a", max_size="3", memory="1Gi")
    hosts = [host("large", "16"), host("small", "2")]
    (group,) = discover([PoolObjects(scalable, hosts=hosts)], SETTINGS).groups
    assert group.template is not None
    assert group.template.status.allocatable == {"cpu": "2", "memory": "1Gi", "pods": "110"}
    (problem,) = discover([PoolObjects(scalable, hosts=hosts)], UPSTREAM).problems.values()
    assert "nothing tells the cpu and memory of its next node" in problem


def test_a_pool_grows_no_further_than_its_free_hosts() -> None:
    scalable = written(max_size="9")
    (group,) = discover([PoolObjects(scalable, hosts=[host("one"), host("two")])], SETTINGS).groups
    decision = scale_up(look(cluster([group]), Memory(), NOON, SETTINGS), pods(20, cpu="2"))
    assert [(each.size, each.new_size) for each in decision.plan] == [(0, 2)]
    (unlimited,) = discover([PoolObjects(scalable, hosts=[host("one"), host("two")])], UPSTREAM).groups
    decision = scale_up(look(cluster([unlimited]), Memory(), NOON, UPSTREAM), pods(20, cpu="2"))
    assert [(each.size, each.new_size) for each in decision.plan] == [(0, 9)]


def test_a_pool_without_a_free_host_is_skipped_and_says_so() -> None:
    full = msgspec.structs.replace(pool("web", cpu="4"), hosts=frozenset[str]())
    decision = scale_up(look(cluster([full]), Memory(), NOON, SETTINGS), pods(1, cpu="2"))
    (group,) = decision.unschedulable
    assert decision.message(group) == "pod didn't trigger scale-up: 1 no free host for another node"


def test_a_host_that_fits_two_pools_is_counted_once() -> None:
    hosts = {"one": {"h1", "h2"}, "two": {"h2"}}
    groups = [msgspec.structs.replace(pool(name, cpu="4"), hosts=frozenset(free)) for name, free in hosts.items()]
    balanced = SETTINGS._replace(balance_similar_node_groups=True)
    decision = scale_up(look(cluster(groups), Memory(), NOON, balanced), pods(20, cpu="2"))
    assert sorted((each.group, each.new_size) for each in decision.plan) == [("one", 1), ("two", 1)]


def test_a_node_that_is_awaited_has_its_host_already() -> None:
    group = msgspec.structs.replace(pool("web", 1, cpu="4"), target=2, hosts=frozenset({"last"}))
    objects = cluster([group], nodes_of(group, cpu="4"))
    decision = scale_up(look(objects, Memory(), NOON, SETTINGS), pods(20, cpu="2"))
    assert (decision.result, decision.skipped) == ("NoOptionsAvailable", {"web": "no free host for another node"})


def test_every_difference_from_upstream_is_in_the_documentation() -> None:
    page = (Path(__file__).parents[3] / "docs" / "autoscaler.md").read_text(encoding="utf-8")
    ours, upstream = SETTINGS._asdict(), UPSTREAM._asdict()
    different = [name for name, value in ours.items() if value != upstream[name]]
    assert len(different) == 6
    assert not [name for name in different if f"| `{name}` |" not in page]
