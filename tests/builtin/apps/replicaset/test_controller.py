"""ReplicaSet: how many pods, which ones go, whose they are, and what status says."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from mooring.api.kinds import Key
from mooring.builtin.apps.replicaset.controller import CONTROLLER, REPLICATION
from mooring.kube.objects import Object
from mooring.kube.status import ForbiddenError
from mooring.kube.times import timestamp
from mooring.registry import AdmissionRequest, ClusterView, Registry
from mooring.runtime.decision import Create, Decision, Delete, Patch
from mooring.runtime.view import ListQuestion
from mooring.testing.simulations import checked_simulation
from mooring.testing.views import NOON, view_of
from mooring.workloads.incarnations import suffix
from mooring.workloads.podcontrol import MAX_WRITES_PER_PASS
from tests.builtin.fixpoint import World, never_starts, same_end_after_any_crash

KEY = Key("default", "web")
UID = "ReplicaSet/default/web"
OLDER_UID = "ReplicationController/default/web"
LABELS = {"app": "web"}


def replica_set(replicas: int = 3, status: Object | None = None, **spec: Any) -> Object:
    template = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "main", "image": "web:1"}]}}
    body = {"replicas": replicas, "selector": {"matchLabels": LABELS}, "template": template, **spec}
    metadata = {"name": "web", "namespace": "default", "generation": 1}
    return {
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": body, "status": status or {},
    }  # fmt: skip


def pod(
    name: str,
    *,
    owner: str | None = UID,
    labels: Object | None = None,
    node: str = "n1",
    phase: str = "Running",
    ready: int | None = 60,
    age: int = 60,
    cost: str | None = None,
    restarts: int = 0,
    deleting: bool = False,
) -> Object:
    """A pod that was created `age` and became ready `ready` seconds ago."""
    metadata: Object = {"name": name, "namespace": "default", "labels": LABELS if labels is None else labels}
    metadata["creationTimestamp"] = timestamp(NOON - timedelta(seconds=age))
    if owner is not None:
        metadata["ownerReferences"] = [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": owner, "controller": True}
        ]
    if cost is not None:
        metadata["annotations"] = {"controller.kubernetes.io/pod-deletion-cost": cost}
    if deleting:
        metadata["deletionTimestamp"] = timestamp(NOON)
    status: Object = {"phase": phase, "containerStatuses": [{"name": "main", "restartCount": restarts}]}
    if ready is not None:
        since = timestamp(NOON - timedelta(seconds=ready))
        status["conditions"] = [{"type": "Ready", "status": "True", "lastTransitionTime": since}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"nodeName": node}, "status": status}


def decide(*objects: Object) -> Decision:
    return CONTROLLER.reconcile(KEY, view_of(objects), NOON)


def created(decision: Decision) -> list[str]:
    return [write.key.name for write in decision.children if isinstance(write, Create)]


def deleted(decision: Decision) -> list[str]:
    return [write.key.name for write in decision.children if isinstance(write, Delete)]


def said(decision: Decision) -> Object:
    (write,) = decision.status
    assert isinstance(write, Patch)
    status: Object = write.body["status"]
    return status


def test_a_set_that_is_gone_decides_nothing() -> None:
    assert decide() == Decision()


def test_missing_pods_are_created_under_names_that_follow_from_the_set() -> None:
    decision = decide(replica_set(3))
    assert created(decision) == [f"web-{suffix(UID, slot)}" for slot in range(3)]
    assert created(decision) == created(decide(replica_set(3)))
    assert decision.events[0].message == f"Created pod: {created(decision)[0]}"
    assert decision.events[0].reason == "SuccessfulCreate"


def test_a_created_pod_is_owned_and_labelled() -> None:
    write = decide(replica_set(1)).children[0]
    assert isinstance(write, Create)
    meta = write.object["metadata"]
    assert meta["labels"] == LABELS
    assert meta["ownerReferences"] == [
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "name": "web",
            "uid": UID,
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]


@pytest.mark.parametrize(
    ("taker", "why"),
    [
        (pod(f"web-{suffix(UID, 0)}", owner="somebody else"), "another owner's pod"),
        (pod(f"web-{suffix(UID, 0)}", deleting=True), "a pod of ours that is on its way out"),
        (pod(f"web-{suffix(UID, 0)}", phase="Failed"), "a pod of ours that has failed"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_name_that_is_taken_moves_on_to_the_next(taker: Object, why: str) -> None:
    assert created(decide(replica_set(1), taker)) == [f"web-{suffix(UID, 1)}"]


def test_many_pods_come_in_bursts() -> None:
    assert len(set(created(decide(replica_set(1200))))) == MAX_WRITES_PER_PASS


OLD = pod("old", age=3600, ready=3600)
RANKING: dict[str, tuple[list[Object], str]] = {
    "a pod without a node goes before one with": ([OLD, pod("loose", node="", age=9999)], "loose"),
    "a pending pod goes before a running one": ([OLD, pod("pending", phase="Pending", age=9999)], "pending"),
    "a pod that is not ready goes before one that is": ([OLD, pod("unready", ready=None, age=9999)], "unready"),
    "a cheaper pod goes first": ([pod("dear", cost="10"), pod("cheap", cost="-5", age=9999, ready=9999)], "cheap"),
    "a cost that is no number counts as nothing": ([pod("odd", cost="much"), pod("cheap", cost="-1")], "cheap"),
    "a pod that became ready later goes first": ([OLD, pod("late", age=3600, ready=5)], "late"),
    "a pod that restarted more goes first": ([pod("calm"), pod("restless", restarts=3)], "restless"),
    "a younger pod goes first": ([pod("old", age=3600), pod("young", age=61)], "young"),
    "pods of about one age are chosen among by uid": ([pod("b", age=3599), pod("a", age=3600)], "a"),
}


@pytest.mark.parametrize(("pods", "victim"), RANKING.values(), ids=RANKING.keys())
def test_shrinking_takes_the_least_valuable(pods: list[Object], victim: str) -> None:
    for order in (pods, pods[::-1]):
        decision = decide(replica_set(1), *order)
        assert deleted(decision) == [victim]
        assert [event.message for event in decision.events] == [f"Deleted pod: {victim}"]


def test_a_pod_beside_relatives_of_the_same_deployment_goes_first() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d", "controller": True}
    ours, sibling = replica_set(1), replica_set(1)
    ours["metadata"]["ownerReferences"] = [owner]
    sibling["metadata"] |= {"name": "web-old", "ownerReferences": [owner]}
    crowd = pod("crowd", owner="ReplicaSet/default/web-old", node="shared")
    pods = [pod("alone", node="quiet", ready=5, age=5), pod("beside", node="shared", ready=9999, age=9999)]
    assert deleted(decide(ours, sibling, crowd, *pods)) == ["beside"]


def test_an_orphan_that_matches_is_adopted_before_pods_are_made() -> None:
    decision = decide(replica_set(1), pod("stray", owner=None))
    (write,) = decision.intent
    assert isinstance(write, Patch)
    assert write.key.name == "stray"
    assert [owner["uid"] for owner in write.body["metadata"]["ownerReferences"]] == [UID]
    assert not decision.children


def test_an_orphan_that_is_over_is_left_alone() -> None:
    assert not decide(replica_set(0), pod("done", owner=None, phase="Succeeded")).intent


def test_a_pod_that_does_not_match_any_more_is_released() -> None:
    (write,) = decide(replica_set(1), pod("moved", labels={"app": "debug"})).intent
    assert isinstance(write, Patch)
    assert write.body == {"metadata": {"ownerReferences": None}}


def test_a_set_that_is_being_deleted_claims_makes_and_deletes_nothing() -> None:
    dying = replica_set(3)
    dying["metadata"]["deletionTimestamp"] = timestamp(NOON)
    decision = decide(dying, pod("stray", owner=None), pod("moved", labels={"app": "debug"}))
    assert not decision.intent
    assert not decision.children


def test_status_says_what_is_seen() -> None:
    pods = [
        pod("ready"),
        pod("more-labels", labels={**LABELS, "extra": "yes"}),
        pod("starting", phase="Pending", ready=None),
        pod("going", deleting=True),
        pod("failed", phase="Failed", ready=None),
    ]
    assert said(decide(replica_set(3), *pods)) == {
        "replicas": 3,
        "fullyLabeledReplicas": 3,
        "readyReplicas": 2,
        "availableReplicas": 2,
        "terminatingReplicas": 1,
        "observedGeneration": 1,
    }


def test_a_status_that_is_right_is_not_written() -> None:
    status = {
        "replicas": 1,
        "fullyLabeledReplicas": 1,
        "readyReplicas": 1,
        "availableReplicas": 1,
        "terminatingReplicas": 0,
        "observedGeneration": 1,
    }
    assert decide(replica_set(1, status), pod("one")) == Decision()


def test_a_pod_is_available_once_it_was_ready_for_long_enough() -> None:
    view = view_of([replica_set(2, minReadySeconds=30), pod("long", ready=31), pod("short", ready=10)])
    status = said(CONTROLLER.reconcile(KEY, view, NOON))
    assert (status["readyReplicas"], status["availableReplicas"]) == (2, 1)
    assert view.timers == {NOON + timedelta(seconds=20)}


def test_a_failure_is_over_when_the_pods_are_there() -> None:
    failure = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "no"}
    assert said(decide(replica_set(1, {"conditions": [failure]}), pod("one")))["conditions"] is None


def test_a_set_whose_pods_are_alike_is_not_listed() -> None:
    view = view_of([replica_set(2), pod("a"), pod("b")])
    CONTROLLER.reconcile(KEY, view, NOON)
    lists = [q for q in view.questions if isinstance(q, ListQuestion) and not q.counter]
    assert [(q.by, q.value) for q in lists] == [("orphan", "default")]


STORIES: dict[str, list[Object]] = {
    "from nothing": [replica_set(4)],
    "with an orphan to adopt": [replica_set(3), pod("stray", owner=None)],
    "with one to release": [replica_set(2), pod("moved", labels={"app": "x"}), pod("stays")],
    "with too many": [replica_set(1), *(pod(f"p{i}", age=i * 100) for i in range(5))],
    "with failed ones": [replica_set(2), pod("bad", phase="Failed"), pod("good")],
    "with a taken name": [replica_set(2), pod(f"web-{suffix(UID, 1)}", owner="other", labels={})],
}


@pytest.mark.parametrize("objects", STORIES.values(), ids=STORIES.keys())
def test_any_crash_ends_the_same(objects: list[Object]) -> None:
    def make() -> World:
        fixed = [{**o, "metadata": {"uid": UID, **o["metadata"]}} if o["kind"] == "ReplicaSet" else o for o in objects]
        return World([CONTROLLER], fixed)

    world = same_end_after_any_crash(make)
    status = world.get("ReplicaSet", "web")["status"]
    wanted = world.get("ReplicaSet", "web")["spec"]["replicas"]
    assert (status["replicas"], status["readyReplicas"], status["availableReplicas"]) == (wanted, wanted, wanted)


def test_pods_that_never_start_are_counted_but_not_ready() -> None:
    world = World([CONTROLLER], [replica_set(2)], never_starts)
    world.run()
    status = world.get("ReplicaSet", "web")["status"]
    assert status["replicas"] == 2
    assert "readyReplicas" not in status


def test_what_the_api_refuses_is_told_in_a_condition_until_it_goes_through() -> None:
    refusing = True

    def quota(request: AdmissionRequest, view: ClusterView) -> Object | None:
        if refusing and request.resource.kind == "Pod" and request.operation == "CREATE":
            raise ForbiddenError("exceeded quota: compute")
        return None

    simulation = checked_simulation([CONTROLLER])
    registry = simulation.registry
    registry.admission.validating.append(quota)
    sets = registry.resource("apps/v1", "ReplicaSet")
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    registry.create(sets, {"metadata": {"name": "web", "namespace": "default"}, "spec": spec}, now=simulation.now)
    simulation.run()
    (condition,) = registry.get(sets, "default", "web")["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == ("ReplicaFailure", "True", "FailedCreate")
    assert "exceeded quota: compute" in condition["message"]
    assert reasons(registry) == {"FailedCreate"}

    refusing = False
    registry.patch(sets, "default", "web", "merge", {"spec": {"replicas": 3}}, now=simulation.now)
    simulation.run()
    assert not registry.get(sets, "default", "web")["status"].get("conditions")
    assert registry.get(sets, "default", "web")["status"]["replicas"] == 3
    assert reasons(registry) == {"FailedCreate", "SuccessfulCreate"}


def older(obj: Object) -> Object:
    """A ReplicaSet, or a pod of one, as it is with a ReplicationController."""
    if obj["kind"] == "Pod":
        owners = [
            {**owner, "apiVersion": "v1", "kind": "ReplicationController", "uid": OLDER_UID}
            for owner in obj["metadata"].get("ownerReferences", ())
        ]
        return {**obj, "metadata": {**obj["metadata"], "ownerReferences": owners}}
    spec = {**obj["spec"], "selector": obj["spec"]["selector"]["matchLabels"]}
    return {**obj, "apiVersion": "v1", "kind": "ReplicationController", "spec": spec}


def test_a_replication_controller_decides_as_a_replica_set_does() -> None:
    objects = [replica_set(3), pod("here"), pod("stray", owner=None)]
    adopted = REPLICATION.reconcile(KEY, view_of([older(each) for each in objects]), NOON)
    (claim,) = adopted.intent
    assert isinstance(claim, Patch)
    assert claim.body["metadata"]["ownerReferences"][0]["kind"] == "ReplicationController"
    decision = REPLICATION.reconcile(KEY, view_of([older(each) for each in objects[:2]]), NOON)
    assert len(created(decision)) == 2
    first = decision.children[0]
    assert isinstance(first, Create)
    assert first.object["metadata"]["ownerReferences"][0] == {
        "apiVersion": "v1", "kind": "ReplicationController", "name": "web", "uid": OLDER_UID,
        "controller": True, "blockOwnerDeletion": True,
    }  # fmt: skip


def test_the_status_of_a_replication_controller_tells_nothing_of_pods_on_their_way_out() -> None:
    view = view_of([older(replica_set(1)), older(pod("one"))])
    assert said(REPLICATION.reconcile(KEY, view, NOON)) == {
        "replicas": 1,
        "fullyLabeledReplicas": 1,
        "readyReplicas": 1,
        "availableReplicas": 1,
        "observedGeneration": 1,
    }


def test_any_crash_of_a_replication_controller_ends_the_same() -> None:
    def make() -> World:
        owner = older(replica_set(3))
        owner = {**owner, "metadata": {"uid": OLDER_UID, **owner["metadata"]}}
        return World([REPLICATION], [owner, older(pod("bad", phase="Failed")), older(pod("good"))])

    world = same_end_after_any_crash(make)
    status = world.get("ReplicationController", "web")["status"]
    assert (status["replicas"], status["readyReplicas"]) == (3, 3)


def test_what_is_there_is_counted_while_the_rest_is_refused() -> None:
    failure = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "no"}
    view = view_of([replica_set(2, {"conditions": [failure]}), pod("one")], problem="no")
    decision = CONTROLLER.reconcile(KEY, view, NOON)
    (first,) = decision.intent
    assert isinstance(first, Patch)
    assert first.body["status"]["readyReplicas"] == 1
    assert (len(created(decision)), decision.status) == (1, ())


def reasons(registry: Registry) -> set[str]:
    return {event["reason"] for event in registry.list(registry.resource("v1", "Event")).items}
