"""Plans of DaemonSets, and plans on clusters that have some."""

from __future__ import annotations

from typing import Any

from mooring.kube.objects import Object
from mooring.plan.planner import PlannedWorkload, make_plan
from mooring.plan.simulated_cluster import SimulatedCluster
from mooring.runtime.drivers.simulation import HOUR
from mooring.testing import node, pod

LABELS = {"app": "agent"}


def daemon_set(cpu: str = "1", **metadata: Any) -> Object:
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}
    template = {"metadata": {"labels": LABELS}, "spec": {"containers": [container]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "default", **metadata},
        "spec": {"selector": {"matchLabels": LABELS}, "template": template},
    }


def test_every_node_gets_its_pod_and_a_full_one_leaves_it_waiting() -> None:
    cluster = SimulatedCluster([node("roomy", cpu="4"), node("full", cpu="4"), pod("hog", cpu="4", node="full")])
    plan = make_plan(cluster, [PlannedWorkload(daemon_set(), "agent.yaml")], "default", HOUR)
    assert [planned.node for planned in plan.pods if planned.lands] == ["roomy"]
    (waiting,) = plan.pending
    origin, workload = plan.origin(waiting)
    assert (origin["kind"], workload is not None and workload.file) == ("DaemonSet", "agent.yaml")


def test_the_pods_of_a_daemon_set_in_a_snapshot_are_left_alone() -> None:
    """A snapshot rarely holds revisions, and without them every pod would look outdated."""
    owner = daemon_set(uid="u", annotations={"deprecated.daemonset.template.generation": "3"})
    there = pod("agent-x", node="a", labels={**LABELS, "controller-revision-hash": "h", "pod-template-generation": "3"})
    there["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "u", "controller": True}
    ]
    plan = make_plan(SimulatedCluster([node("a"), node("b"), owner, there]), [], "default", HOUR)
    assert plan.evicted == []
    assert [planned.node for planned in plan.pods] == ["b"]


def test_a_snapshot_without_generations_leaves_the_pods_of_a_daemon_set_alone_too() -> None:
    """As `mooring snapshot` writes it: pods with the hash of their revision, no revisions and no uids."""
    born = {"creationTimestamp": "2026-01-01T00:00:00Z"}
    owner = daemon_set(**born)
    there = pod("agent-x", node="a", labels={**LABELS, "controller-revision-hash": "h"})
    there["metadata"] |= born
    there["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "controller": True}
    ]
    plan = make_plan(SimulatedCluster([node("a"), node("b"), owner, there]), [], "default", HOUR)
    assert plan.evicted == []
    assert [planned.node for planned in plan.pods] == ["b"]


def test_a_daemon_set_that_is_applied_again_waits_for_no_nodes() -> None:
    """Its pod runs, and a snapshot may say nothing of its readiness."""
    there = pod("agent-x", node="a", labels={**LABELS, "controller-revision-hash": "h"})
    there["status"] = {"phase": "Running"}
    there["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "u", "controller": True}
    ]
    cluster = SimulatedCluster([node("a"), daemon_set(uid="u"), there])
    plan = make_plan(cluster, [PlannedWorkload(daemon_set(), "agent.yaml")], "default", HOUR)
    assert (plan.pods, plan.waiting) == ([], [])
