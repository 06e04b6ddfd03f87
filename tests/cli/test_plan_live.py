"""`mooring plan` on a live cluster: it starts from what is there, lets time pass in memory, and writes nothing."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from mooring.kube.objects import Object
from mooring.plan.planner import PlannedWorkload, make_plan
from mooring.plan.simulated_cluster import SimulatedCluster
from mooring.testing.groups import leader_worker_set
from tests.cli.live import TAINT, Live
from tests.cli.served import now
from tests.cli.world import requests

APPS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ControllerRevision")


def planned(live: Live, *arguments: str) -> Any:
    result = live.run("plan", *arguments, "-o", "json")
    assert result.exit_code in (0, 2, 3), result.output
    return json.loads(result.stdout)


def lived_in(live: Live, *workloads: Object) -> Live:
    """What the world holds, and workloads as they are some seconds after they were applied, go into the cluster."""
    start = SimulatedCluster(live.world.objects, live_at=now().replace(microsecond=0))
    live.world.objects.clear()
    plan = make_plan(start, [PlannedWorkload(each, None) for each in workloads], "default", timedelta(seconds=5))
    resources = {(each.api_version, each.kind) for each in plan.cluster.registry.resources}
    wanted = resources & {("v1", "Node"), ("v1", "Pod"), ("batch/v1", "Job"), *(("apps/v1", kind) for kind in APPS)}
    live.cluster.add(*(obj for kind in sorted(wanted) for obj in plan.cluster.objects(*kind)))
    return live


@pytest.fixture
def busy(live: Live) -> Live:
    """A node of 16 cpus with a Deployment, a StatefulSet, a DaemonSet and a Job at work, and a pod that waits."""
    world = live.world
    world.node("n1")
    lived_in(
        live,
        world.workload("Deployment", "web", requests(cpu=1), replicas=1),
        world.workload("StatefulSet", "db", requests(cpu=1), replicas=1, serviceName="db"),
        world.workload("DaemonSet", "agent", requests(cpu=1)),
        world.workload("Job", "train", requests(cpu=8)),
    )
    world.add(world.pod("waits", resources={"requests": {"cpu": "6"}}))
    live.settle()
    return live


def test_without_manifests_it_is_what_waits_now(busy: Live) -> None:
    """The Job at work holds its place: nobody knows when it ends."""
    plan = planned(busy)
    assert [(pod["pod"], pod["node"]) for pod in plan["pods"]] == [("default/waits", None)]
    assert plan["evicted"] == []
    assert plan["settled"]


def test_a_pod_that_finds_a_place_is_told_with_its_time(busy: Live) -> None:
    busy.world.node("n2")
    busy.settle()
    plan = planned(busy)
    places = {pod["pod"].partition("-")[0]: (pod["node"], pod["boundAfterSeconds"]) for pod in plan["pods"]}
    # The DaemonSet follows to the new node.
    assert places == {"default/waits": ("n2", 0), "default/agent": ("n2", 0)}


def test_a_job_that_says_how_long_it_runs_makes_room(live: Live) -> None:
    world = live.world
    train = world.workload("Job", "train", requests(cpu=12))
    train["spec"]["template"]["metadata"]["annotations"] = {"mooring.dev/duration": "20m"}
    world.node("n1")
    lived_in(live, train)
    world.add(world.pod("waits", resources={"requests": {"cpu": "6"}}))
    live.settle()
    (waits,) = (pod for pod in planned(live)["pods"] if pod["pod"] == "default/waits")
    assert waits["node"] == "n1"
    assert 19 * 60 < waits["boundAfterSeconds"] <= 20 * 60 + 5


def test_a_manifest_takes_over_what_is_there(busy: Live) -> None:
    """One pod more of a Deployment that runs: the one that is there stays."""
    busy.world.manifest(busy.world.workload("Deployment", "web", requests(cpu=1), replicas=2), name="web.yaml")
    plan = planned(busy, "-f", "web.yaml")
    assert [pod["pod"][:12] for pod in plan["pods"]] == ["default/wait", "default/web-"]
    assert plan["evicted"] == []


def test_a_new_template_replaces_pods_of_the_cluster(busy: Live) -> None:
    busy.world.manifest(busy.world.workload("Deployment", "web", requests(cpu=2), replicas=1), name="web.yaml")
    result = busy.run("plan", "-f", "web.yaml")
    assert "1 pod of the cluster is gone\n  default/web-" in result.stdout


def test_what_stays_pending_is_explained_with_a_command_for_its_owner(live: Live) -> None:
    world = live.world
    world.node("gpu-1", gpu=8, taint=TAINT)
    lived_in(live, world.workload("Deployment", "llm", requests(gpu=4), replicas=1))
    result = live.run("plan")
    assert result.exit_code == 2
    assert "stays pending" in result.stdout
    assert f"Tolerate taint {TAINT}" in result.stdout
    assert "kubectl patch deployment llm -n default" in result.stdout


def test_what_is_not_simulated_is_said(busy: Live) -> None:
    assert "Note: pods that run stay where they are" in busy.run("plan").stdout


def test_nothing_is_written_and_no_secret_is_read(busy: Live) -> None:
    busy.run("plan")
    assert busy.cluster.verbs == {"GET"}
    assert not [path for _, path in busy.cluster.front.asked if "secrets" in path]


def test_a_kind_that_may_not_be_listed_is_named(busy: Live) -> None:
    busy.cluster.front.forbidden = {"controllerrevisions", "persistentvolumes"}
    plan = planned(busy)
    assert plan["evicted"] == []
    assert (
        "you may not list ControllerRevision objects: StatefulSets and DaemonSets are taken to be up to date"
        in plan["notes"]
    )


def test_the_namespace_of_the_context_is_home(busy: Live) -> None:
    pod = busy.world.pod("extra")
    del pod["metadata"]["namespace"]
    busy.world.manifest(pod)
    kubeconfig = busy.cluster.kubeconfig(namespace="shop")
    plan = planned(busy, "-f", "pod.yaml", "--kubeconfig", kubeconfig)
    assert "shop/extra" in [each["pod"] for each in plan["pods"]]


def test_groups_of_the_cluster_stay(live: Live) -> None:
    """A LeaderWorkerSet that waits is carried on where the cluster serves the kind."""
    live.cluster.serve_features()
    live.world.node("n1").add(leader_worker_set("llm", size=2, replicas=1))
    live.settle()
    assert {pod["node"] for pod in planned(live)["pods"]} == {"n1"}


def test_a_snapshot_takes_the_place_of_a_cluster(busy: Live) -> None:
    assert busy.complaint("plan", "--snapshot", "x.yaml") == (
        "--snapshot takes the place of a cluster: give it, or --kubeconfig and --context"
    )
