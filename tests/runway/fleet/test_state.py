"""The fold behind nodes and workloads: which answers a change touches, and what the answers are."""

from __future__ import annotations

import random
from typing import Any

import msgspec

from mooring.runway.fleet.records import FleetPod, NodeRecord, node_record, pod_record
from mooring.runway.fleet.state import FleetState
from mooring.runway.workloads.records import WorkloadRecord
from tests.runway.fleet.objects import node, pod, raw, workload


def state(*records: Any) -> FleetState:
    found = FleetState()
    for record in records:
        change(found, None, record)
    return found


def change(found: FleetState, old: Any, new: Any) -> None:
    match old or new:
        case NodeRecord():
            found.node_changed(old, new)
        case FleetPod():
            found.pod_changed(old, new)
        case _:
            found.workload_changed(old, new)


def take(found: FleetState) -> tuple[set[str], set[str]]:
    """The answers that may have changed."""
    changed = found.changed_nodes, found.changed_workloads
    found.changed_nodes, found.changed_workloads = set(), set()
    return changed


def test_a_node_tells_what_is_free_and_who_holds_its_gpus() -> None:
    found = state(node(), pod("a", "n1", gpus=2, cpu="4"), pod("b", "n1", gpus=1), pod("c")).node("n1")
    assert found is not None
    assert (found.gpu.total, found.gpu.free, found.cpu.free, found.pods) == (8, 5, 11.0, 2)
    assert [slot.pod for slot in found.gpu.slots] == ["a", "a", "b", *[None] * 5]


def test_a_pod_that_has_ended_holds_nothing() -> None:
    done = pod("done", "n1", gpus=8, status={"phase": "Succeeded"})
    found = state(node(), done).node("n1")
    assert found is not None
    assert (found.gpu.free, found.pods) == (8, 0)


def test_a_heartbeat_makes_no_other_record() -> None:
    def seen(at: str) -> NodeRecord:
        conditions = [{"type": "Ready", "status": "True", "lastHeartbeatTime": at, "reason": "KubeletReady"}]
        return node_record(
            raw({"metadata": {"name": "n", "resourceVersion": at}, "status": {"conditions": conditions}})
        )

    assert seen("2026-01-01T00:00:00Z") == seen("2026-01-01T00:00:10Z")


def test_a_pod_touches_its_node_and_its_workload_and_nothing_else() -> None:
    web = workload("Deployment", "web", spec={"replicas": 2})
    hashed = workload("ReplicaSet", "web-1", web, spec={"replicas": 2})
    found = state(node("n1"), node("n2"), web, hashed, pod("other", "n2"))
    take(found)
    change(found, None, pod("web-1-a", "n1", owner=hashed))
    nodes, workloads = take(found)
    assert nodes == {"n1"}
    assert web.uid in workloads
    assert "uid-other" not in workloads


def test_a_deployment_is_told_without_its_replica_sets() -> None:
    web = workload("Deployment", "web", spec={"replicas": 2})
    hashed = workload("ReplicaSet", "web-1", web, spec={"replicas": 2})
    found = state(web, hashed, pod("web-1-a", "n1", owner=hashed), pod("web-1-b", owner=hashed))
    summary = found.workload(web.uid)
    assert summary is not None
    assert (summary.pods.wanted, summary.pods.ready, summary.pods.pending, summary.nodes) == (2, 1, 1, ("n1",))
    assert summary.state == "Pending"
    assert found.workload(hashed.uid) is None


def test_pods_of_groups_belong_to_what_made_their_leaders() -> None:
    """Workers belong to a set that belongs to their leader, which is a pod."""
    groups = workload("LeaderWorkerSet", "big", api_version="leaderworkerset.x-k8s.io/v1", spec={"replicas": 1})
    leaders = workload("StatefulSet", "big", groups, spec={"replicas": 1})
    group = {"leaderworkerset.sigs.k8s.io/group-index": "0"}
    leader = pod("big-0", "n1", gpus=8, owner=leaders, labels=group)
    workers = workload("StatefulSet", "big-0", leader, spec={"replicas": 3})
    members = [pod(f"big-0-{i}", "n2", owner=workers, labels=group) for i in (1, 2)]
    found = state(groups, leaders, leader, workers, *members, pod("big-0-3", "n2", owner=workers))
    summary = found.workload(groups.uid)
    assert summary is not None
    assert (summary.kind, summary.pods.wanted, summary.pods.ready, summary.gpus) == ("LeaderWorkerSet", 4, 4, 8)
    assert summary.groups is not None
    assert [(each.name, each.pods.ready, each.nodes) for each in summary.groups] == [("0", 3, ("n1", "n2"))]
    assert found.workload_of(pod("big-0-1", "n2", owner=workers)).kind == "LeaderWorkerSet"


def test_an_owner_that_arrives_late_takes_its_pods_in() -> None:
    hashed = workload("ReplicaSet", "web-1", workload("Deployment", "web"), spec={"replicas": 1})
    orphan = pod("web-1-a", "n1", gpus=1, owner=hashed)
    found = state(node("n1"), orphan)
    assert found.workload(orphan.uid) is not None
    take(found)
    change(found, None, hashed)
    nodes, workloads = take(found)
    assert {orphan.uid, hashed.uid} <= workloads
    assert nodes == {"n1"}, "the node tells by whom its GPU is held"
    assert found.workload(orphan.uid) is None
    assert found.workload(hashed.uid) is not None


def test_a_name_that_is_used_again_is_another_object() -> None:
    first = pod("a", "n1")
    second = msgspec.structs.replace(first, uid="another", node="n2")
    found = state(node("n1"), node("n2"), first)
    change(found, first, second)
    assert [len(found.pods_on(name)) for name in ("n1", "n2")] == [0, 1]
    assert list(found.pods) == ["another"]


def test_changes_in_any_order_end_alike() -> None:
    """What is told of the changed answers alone is the same as all answers computed anew."""
    draw = random.Random(7)
    web = workload("Deployment", "web", spec={"replicas": 3})
    hashed = workload("ReplicaSet", "web-1", web, spec={"replicas": 3})
    pods = [pod(f"web-1-{i}", draw.choice(["", "n1", "n2"]), gpus=i, owner=hashed) for i in range(3)]
    bare = pod("bare", "n1", gpus=1)
    everything: list[Any] = [node("n1"), node("n2"), web, hashed, *pods, bare]
    for _ in range(200):
        found, present = FleetState(), dict[int, Any]()
        nodes: dict[str, Any] = {}
        workloads: dict[str, Any] = {}
        for _ in range(30):
            number = draw.randrange(len(everything))
            record = None if number in present and draw.random() < 0.5 else everything[number]
            change(found, present.get(number), record)
            if record is None:
                del present[number]
            else:
                present[number] = record
            changed = take(found)
            nodes.update({name: found.node(name) for name in changed[0]})
            workloads.update({uid: found.workload(uid) for uid in changed[1]})
        anew = state(*present.values())
        assert {key: value for key, value in nodes.items() if value} == {name: anew.node(name) for name in anew.nodes}
        uids = [*anew.workloads, *anew.pods]
        expected = {uid: anew.workload(uid) for uid in uids if anew.workload(uid)}
        assert {key: value for key, value in workloads.items() if value} == expected


def test_trouble_is_told_in_the_words_of_who_has_it() -> None:
    def reason(**status: Any) -> tuple[str, str]:
        found = pod_record(raw({"metadata": {"name": "p", "uid": "p"}, "status": {"phase": "Pending", **status}}))
        return found.reason, found.message

    unscheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes"}
    waiting = {"state": {"waiting": {"reason": "ImagePullBackOff", "message": "not found"}}}
    creating = {"state": {"waiting": {"reason": "ContainerCreating"}}}
    assert reason(conditions=[unscheduled]) == ("Unschedulable", "0/1 nodes")
    assert reason(containerStatuses=[waiting]) == ("ImagePullBackOff", "not found")
    assert reason(containerStatuses=[creating]) == ("", "")
    assert reason(reason="Evicted", message="memory") == ("Evicted", "memory")


def test_null_counts_as_absent() -> None:
    found = pod_record(raw({"metadata": {"name": "p", "uid": "p", "labels": None}, "spec": {"nodeName": None}}))
    assert (found.node, found.labels) == ("", {})
    assert node_record(raw({"metadata": {"name": "n"}, "spec": {"unschedulable": None}})).cordoned is False


def _finished(record: WorkloadRecord) -> str:
    found = state(record).workload(record.uid)
    assert found is not None
    return found.state


def test_jobs_end() -> None:
    def job(condition: str = "", **status: Any) -> WorkloadRecord:
        conditions = [{"type": condition, "status": "True", "message": "why"}] if condition else []
        status = {**status, "conditions": conditions}
        return workload("Job", "once", api_version="batch/v1", spec={"completions": 3}, status=status)

    assert _finished(job("Complete", succeeded=3)) == "Succeeded"
    assert _finished(job("Failed")) == "Failed"
    assert _finished(job()) == "Progressing"
