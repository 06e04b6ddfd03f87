"""What the controller of StatefulSets decides: revisions, pods one step at a time, status."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mooring.builtin.apps.statefulset.controller import reconcile
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Create, Decision, Patch
from mooring.testing.views import NOON, view_of
from mooring.workloads.revisions import content_hash
from tests.builtin.apps.statefulset.objects import (
    KEY,
    LABELS,
    NEW,
    OLD,
    PARALLEL,
    created,
    decide,
    deleted,
    name_of,
    owner,
    pod,
    revision,
    rolling,
    said,
    stateful_set,
    template,
)

# Revisions


def test_the_first_template_becomes_a_revision_before_any_pod_is_made() -> None:
    decision = decide(stateful_set())
    (write,) = decision.intent
    assert isinstance(write, Create)
    assert write.key.name == OLD
    assert write.object["revision"] == 1
    assert write.object["data"] == {"spec": {"template": {**template(), "$patch": "replace"}}}
    assert not decision.children


def test_an_earlier_template_becomes_the_newest_revision_again() -> None:
    (write,) = decide(stateful_set(), revision("web:1", 1), revision("web:2", 2)).intent
    assert isinstance(write, Patch)
    assert (write.key.name, write.body) == (OLD, {"revision": 3})


def test_a_revision_name_that_is_taken_counts_as_a_collision() -> None:
    taken = revision("web:1")
    taken["metadata"] |= {"labels": {}, "ownerReferences": [owner("other")]}
    decision = decide(stateful_set(), taken)
    assert said(decision)["collisionCount"] == 1
    assert not decision.intent
    again = decide(stateful_set(status={"collisionCount": 1}), taken)
    assert created(again) == [f"web-{content_hash(template(), 1)}"]


def test_revisions_that_nobody_runs_fall_out_of_the_history() -> None:
    revisions = [revision(f"web:{n}", n) for n in range(1, 6)]
    subject = stateful_set(2, "web:5", {"currentRevision": name_of("web:4")}, revisionHistoryLimit=1)
    decision = decide(subject, *revisions, pod(0, name_of("web:1")), pod(1, name_of("web:5")))
    gone = [write.key.name for write in decision.release]
    assert gone == [name_of("web:2")]


def test_orphans_of_the_set_are_adopted() -> None:
    stray = pod(0)
    del stray["metadata"]["ownerReferences"]
    stranger = pod(1)
    del stranger["metadata"]["ownerReferences"]
    stranger["metadata"]["name"] = "db-1"
    decision = decide(stateful_set(), revision(owned=False), stray, stranger)
    assert [write.key.name for write in decision.intent] == [OLD, "web-0"]
    assert not decision.children


def test_a_pod_that_does_not_match_any_more_is_released() -> None:
    lost = pod(0)
    lost["metadata"]["labels"] = {"app": "debug"}
    (write,) = decide(stateful_set(), revision(), lost).intent
    assert isinstance(write, Patch)
    assert write.body == {"metadata": {"ownerReferences": None}}


# Pods


def test_a_pod_has_an_identity_that_stays() -> None:
    decision = decide(stateful_set(ordinals={"start": 5}), revision())
    (write,) = decision.children
    assert isinstance(write, Create)
    assert write.object["metadata"]["name"] == "web-5"
    assert write.object["metadata"]["labels"] == {
        **LABELS,
        "statefulset.kubernetes.io/pod-name": "web-5",
        "apps.kubernetes.io/pod-index": "5",
        "controller-revision-hash": OLD,
    }
    assert (write.object["spec"]["hostname"], write.object["spec"]["subdomain"]) == ("web-5", "web")
    assert [event.message for event in decision.events] == ["Create Pod web-5 in StatefulSet web successful"]


Case = tuple[Object, list[Object], list[str], list[str]]
STEPS: dict[str, Case] = {
    "in order, one pod at a time": (stateful_set(3), [], ["web-0"], []),
    "in parallel, all at once": (stateful_set(3, **PARALLEL), [], ["web-0", "web-1", "web-2"], []),
    "in order, the next waits for the one before": (stateful_set(3), [pod(0, phase="Pending")], [], []),
    "in order, running is not enough": (stateful_set(3), [pod(0, ready=None)], [], []),
    "in order, a pod that goes is waited for": (stateful_set(3), [pod(0, deleting=True), pod(2)], [], []),
    "in order, the next comes when the one before is ready": (stateful_set(3), [pod(0)], ["web-1"], []),
    "in order, a gap is filled first": (stateful_set(4), [pod(0), pod(2)], ["web-1"], []),
    "in parallel, a gap does not wait": (
        stateful_set(4, **PARALLEL),
        [pod(0, phase="Pending"), pod(2)],
        ["web-1", "web-3"],
        [],
    ),
    "ready for too short a time is waited for": (stateful_set(2, minReadySeconds=90), [pod(0)], [], []),
    "a failed pod is replaced": (stateful_set(2), [pod(0, phase="Failed"), pod(1)], [], ["web-0"]),
    "a pod that succeeded is replaced": (stateful_set(2), [pod(0, phase="Succeeded"), pod(1)], [], ["web-0"]),
    "a failed pod that goes already is waited for": (
        stateful_set(1),
        [pod(0, phase="Failed", deleting=True)],
        [],
        [],
    ),
    "in order, the top goes first": (stateful_set(1), [pod(0), pod(1), pod(2)], [], ["web-2"]),
    "in order, one goes at a time": (stateful_set(1), [pod(0), pod(1), pod(2, deleting=True)], [], []),
    "in order, a broken one below is waited for": (
        stateful_set(1),
        [pod(0), pod(1, ready=None), pod(2)],
        [],
        ["web-2"],
    ),
    "in order, a broken top waits for a broken one below": (
        stateful_set(1),
        [pod(0), pod(1, ready=None), pod(2, ready=None)],
        [],
        [],
    ),
    "in order, the only broken one goes": (stateful_set(1), [pod(0), pod(1), pod(2, ready=None)], [], ["web-2"]),
    "in order, nothing goes while a member is broken": (stateful_set(1), [pod(0, ready=None), pod(1)], [], []),
    "in parallel, all go at once": (stateful_set(1, **PARALLEL), [pod(0), pod(1), pod(2)], [], ["web-2", "web-1"]),
    "a pod below the first ordinal goes": (
        stateful_set(2, ordinals={"start": 1}),
        [pod(0), pod(1), pod(2)],
        [],
        ["web-0"],
    ),
}


@pytest.mark.parametrize(("subject", "pods", "comes", "goes"), STEPS.values(), ids=STEPS.keys())
def test_one_step(subject: Object, pods: list[Object], comes: list[str], goes: list[str]) -> None:
    decision = decide(subject, revision(), *pods)
    assert created(decision) == comes
    assert deleted(decision) == goes


THREE_OLD = [pod(0), pod(1), pod(2)]
UPDATES: dict[str, Case] = {
    "the top is replaced first": (stateful_set(3, "web:2"), THREE_OLD, [], ["web-2"]),
    "the next waits for the one above": (stateful_set(3, "web:2"), [pod(0), pod(1), pod(2, NEW, ready=None)], [], []),
    "the next follows": (stateful_set(3, "web:2"), [pod(0), pod(1), pod(2, NEW)], [], ["web-1"]),
    "what was replaced comes back as what it should be": (stateful_set(3, "web:2"), [pod(0), pod(1)], ["web-2"], []),
    "nothing below the partition is replaced": (
        stateful_set(3, "web:2", **rolling(partition=2)),
        [pod(0), pod(1), pod(2, NEW)],
        [],
        [],
    ),
    "OnDelete replaces nothing": (stateful_set(3, "web:2", updateStrategy={"type": "OnDelete"}), THREE_OLD, [], []),
    "several may be away at once": (
        stateful_set(3, "web:2", **rolling(maxUnavailable=2)),
        THREE_OLD,
        [],
        ["web-2", "web-1"],
    ),
    "a percentage is rounded down but lets one go": (
        stateful_set(3, "web:2", **rolling(maxUnavailable="10%")),
        THREE_OLD,
        [],
        ["web-2"],
    ),
    "those that are away count": (
        stateful_set(3, "web:2", **PARALLEL, **rolling(maxUnavailable=2)),
        [pod(0), pod(1), pod(2, NEW, ready=None)],
        [],
        ["web-1"],
    ),
    "shrinking comes before updating": (stateful_set(2, "web:2"), THREE_OLD, [], ["web-2"]),
}


def test_a_closed_gate_lets_one_go_at_a_time_whatever_the_set_says() -> None:
    subject = stateful_set(3, "web:2", status={"currentRevision": OLD}, **rolling(maxUnavailable=2))
    objects = (subject, revision("web:1", 1), revision("web:2", 2), *THREE_OLD)
    assert deleted(decide(*objects)) == ["web-2", "web-1"]
    assert deleted(decide(*objects, gates={"MaxUnavailableStatefulSet": False})) == ["web-2"]


@pytest.mark.parametrize(("subject", "pods", "comes", "goes"), UPDATES.values(), ids=UPDATES.keys())
def test_one_step_of_an_update(subject: Object, pods: list[Object], comes: list[str], goes: list[str]) -> None:
    subject["status"] = {"currentRevision": OLD}
    decision = decide(subject, revision("web:1", 1), revision("web:2", 2), *pods)
    assert created(decision) == comes
    assert deleted(decision) == goes


@pytest.mark.parametrize(
    ("strategy", "present", "ordinal", "wanted"),
    [
        ({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}, [0, 2], 1, OLD),
        ({"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}, [0, 2], 1, NEW),
        ({"type": "RollingUpdate"}, [0, 1], 2, NEW),
        ({"type": "RollingUpdate"}, [1, 2], 0, OLD),
        ({"type": "OnDelete"}, [0, 2], 1, NEW),
    ],
)
def test_a_new_pod_is_of_the_revision_that_its_ordinal_is_at(
    strategy: Object, present: list[int], ordinal: int, wanted: str
) -> None:
    subject = stateful_set(3, "web:2", {"currentRevision": OLD, "currentReplicas": 3}, updateStrategy=strategy)
    decision = decide(subject, revision("web:1", 1), revision("web:2", 2), *(pod(i) for i in present))
    (write,) = decision.children
    assert isinstance(write, Create)
    assert write.key.name == f"web-{ordinal}"
    assert write.object["metadata"]["labels"]["controller-revision-hash"] == wanted
    image = write.object["spec"]["containers"][0]["image"]
    assert image == ("web:1" if wanted == OLD else "web:2")


def test_a_pod_of_somebody_else_under_a_members_name_is_told_of() -> None:
    squatter = pod(0)
    squatter["metadata"] |= {"ownerReferences": [owner("other")], "labels": {}}
    decision = decide(stateful_set(2), revision(), squatter)
    assert not decision.children
    (event,) = decision.events
    assert (event.type, event.reason) == ("Warning", "FailedCreate")
    assert event.message == 'Create Pod web-0 in StatefulSet web failed error: pods "web-0" already exists'


# Status


def test_status_says_what_is_seen() -> None:
    subject = stateful_set(4, "web:2", {"currentRevision": OLD}, **PARALLEL)
    pods = [pod(0), pod(1, phase="Pending"), pod(2, NEW), pod(3, NEW, deleting=True)]
    assert said(decide(subject, revision("web:1", 1), revision("web:2", 2), *pods)) == {
        "observedGeneration": 1,
        "replicas": 4,
        "readyReplicas": 3,
        "availableReplicas": 3,
        "currentReplicas": 2,
        "updatedReplicas": 1,
        "updateRevision": NEW,
        "collisionCount": 0,
    }


def test_an_update_is_over_when_all_pods_are_new_and_ready() -> None:
    subject = stateful_set(2, "web:2", {"currentRevision": OLD})
    status = said(decide(subject, revision("web:1", 1), revision("web:2", 2), pod(0, NEW), pod(1, NEW)))
    assert (status["currentRevision"], status["currentReplicas"]) == (NEW, 2)


def test_a_status_is_final_unless_it_moves_what_is_decided_on() -> None:
    # The first word on the current revision is read again, all later ones are only told.
    first = decide(stateful_set(1), revision(), pod(0))
    assert (bool(first.status), first.final) == (True, False)
    told = {**said(first), "readyReplicas": 0}
    second = decide(stateful_set(1, status=told), revision(), pod(0))
    assert (bool(second.status), second.final) == (True, True)
    third = decide(stateful_set(1, status=said(first)), revision(), pod(0))
    assert third == Decision()


def test_a_decision_that_makes_a_pod_is_not_final() -> None:
    told = {**said(decide(stateful_set(2), revision(), pod(0), pod(1)))}
    assert not decide(stateful_set(2, status=told), revision(), pod(0)).final


def test_a_set_that_is_as_it_should_be_decides_nothing() -> None:
    status = {
        "observedGeneration": 1,
        "replicas": 1,
        "readyReplicas": 1,
        "availableReplicas": 1,
        "currentReplicas": 1,
        "updatedReplicas": 1,
        "currentRevision": OLD,
        "updateRevision": OLD,
        "collisionCount": 0,
    }
    assert decide(stateful_set(1, status=status), revision(), pod(0)) == Decision()


def test_availability_is_a_timer() -> None:
    view = view_of([stateful_set(2, minReadySeconds=90), revision(), pod(0, ready=60)])
    assert said(reconcile(KEY, view, NOON))["availableReplicas"] == 0
    assert view.timers == {NOON + timedelta(seconds=30)}


def test_a_set_that_is_being_deleted_is_only_described() -> None:
    dying = stateful_set(3)
    dying["metadata"]["deletionTimestamp"] = timestamp(NOON)
    decision = decide(dying, revision(), pod(0))
    assert not decision.children
    assert said(decision)["replicas"] == 1
