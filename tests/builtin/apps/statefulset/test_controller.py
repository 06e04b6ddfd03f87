"""StatefulSet: order, identity, revisions, claims, and what status says."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from mooring.api.kinds import Key
from mooring.builtin.apps.statefulset.controller import CONTROLLER, reconcile
from mooring.builtin.apps.statefulset.ordinals import BLOCK, BLOCKS
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Create, Decision, Delete, Patch
from mooring.runtime.view import ListQuestion
from mooring.testing.views import NOON, view_of
from mooring.workloads.revisions import content_hash
from tests.builtin.fixpoint import World, never_starts, same_end_after_any_crash

KEY = Key("default", "web")
UID = "StatefulSet/default/web"
LABELS = {"app": "web"}


def template(image: str = "web:1") -> Object:
    return {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "main", "image": image}]}}


def name_of(image: str) -> str:
    return f"web-{content_hash(template(image), 0)}"


OLD, NEW = name_of("web:1"), name_of("web:2")


def stateful_set(replicas: int = 3, image: str = "web:1", status: Object | None = None, **spec: Any) -> Object:
    body = {
        "replicas": replicas,
        "serviceName": "web",
        "selector": {"matchLabels": LABELS},
        "template": template(image),
        "podManagementPolicy": "OrderedReady",
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        "revisionHistoryLimit": 10,
        **spec,
    }
    metadata = {"name": "web", "namespace": "default", "generation": 1, "uid": UID}
    return {
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata, "spec": body, "status": status or {},
    }  # fmt: skip


def owner(uid: str = UID) -> Object:
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": uid, "controller": True}


def revision(image: str = "web:1", number: int = 1, *, owned: bool = True) -> Object:
    metadata: Object = {"name": name_of(image), "namespace": "default", "labels": LABELS}
    if owned:
        metadata["ownerReferences"] = [owner()]
    data = {"spec": {"template": {**template(image), "$patch": "replace"}}}
    return {
        "apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": metadata, "data": data, "revision": number,
    }  # fmt: skip


def pod(
    ordinal: int, revision: str = OLD, *, phase: str = "Running", ready: int | None = 60, deleting: bool = False
) -> Object:
    name = f"web-{ordinal}"
    metadata: Object = {
        "name": name,
        "namespace": "default",
        "ownerReferences": [owner()],
        "labels": {
            **LABELS,
            "statefulset.kubernetes.io/pod-name": name,
            "apps.kubernetes.io/pod-index": str(ordinal),
            "controller-revision-hash": revision,
        },
    }
    if deleting:
        metadata["deletionTimestamp"] = timestamp(NOON)
    status: Object = {"phase": phase}
    if ready is not None and phase == "Running":
        since = timestamp(NOON - timedelta(seconds=ready))
        status["conditions"] = [{"type": "Ready", "status": "True", "lastTransitionTime": since}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {}, "status": status}


def claim_template(name: str = "data") -> Object:
    return {"metadata": {"name": name}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}


def claim(ordinal: int, *owners: Object, deleting: bool = False) -> Object:
    metadata: Object = {"name": f"data-web-{ordinal}", "namespace": "default", "ownerReferences": list(owners)}
    if deleting:
        metadata["deletionTimestamp"] = timestamp(NOON)
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata}


def decide(*objects: Object) -> Decision:
    return reconcile(KEY, view_of(objects), NOON)


def created(decision: Decision) -> list[str]:
    return [write.key.name for stage in decision.stages for write in stage if isinstance(write, Create)]


def deleted(decision: Decision) -> list[str]:
    return [write.key.name for write in decision.children if isinstance(write, Delete)]


def said(decision: Decision) -> Object:
    (write,) = decision.status
    assert isinstance(write, Patch)
    status: Object = write.body["status"]
    return status


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


PARALLEL: Object = {"podManagementPolicy": "Parallel"}
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


def rolling(**fields: Any) -> Object:
    return {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0, **fields}}}


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


# Claims

CLAIMS: Object = {"volumeClaimTemplates": [claim_template()]}


def retention(deleted: str, scaled: str) -> Object:
    return {**CLAIMS, "persistentVolumeClaimRetentionPolicy": {"whenDeleted": deleted, "whenScaled": scaled}}


def test_a_claim_is_made_a_stage_before_its_pod() -> None:
    decision = decide(stateful_set(1, **CLAIMS), revision())
    (write,) = decision.intent
    assert isinstance(write, Create)
    assert write.object["metadata"] == {"name": "data-web-0", "namespace": "default", "labels": LABELS}
    (made,) = decision.children
    assert isinstance(made, Create)
    assert made.object["spec"]["volumes"] == [{"name": "data", "persistentVolumeClaim": {"claimName": "data-web-0"}}]
    assert decision.events[0].message == "Create Claim data-web-0 Pod web-0 in StatefulSet web success"


def test_a_claim_that_is_there_is_used() -> None:
    assert created(decide(stateful_set(1, **CLAIMS), revision(), claim(0))) == ["web-0"]


@pytest.mark.parametrize(
    ("found", "policy"),
    [
        (claim(0, deleting=True), CLAIMS),
        (claim(0, {"apiVersion": "v1", "kind": "Pod", "name": "web-0", "uid": "gone"}), retention("Retain", "Delete")),
    ],
    ids=["on its way out", "of an earlier pod"],
)
def test_a_pod_waits_for_a_claim_that_must_go_first(found: Object, policy: Object) -> None:
    assert created(decide(stateful_set(1, **policy), revision(), found)) == []


def test_a_pending_pod_gets_a_claim_that_it_lacks() -> None:
    assert created(decide(stateful_set(1, **CLAIMS), revision(), pod(0, phase="Pending"))) == ["data-web-0"]


POD_1 = "Pod/default/web-1"
BY_POD = {"apiVersion": "v1", "kind": "Pod", "name": "web-1", "uid": POD_1, "controller": True}
FOREIGN = owner("x") | {"name": "x"}
OWNERS: dict[str, tuple[Object, int, list[Object], list[str] | None]] = {
    "nobody owns a claim that is kept": (retention("Retain", "Retain"), 2, [], None),
    "a claim that goes with its set is the set's": (retention("Delete", "Retain"), 2, [], [UID]),
    "also when its pod is condemned": (retention("Delete", "Retain"), 1, [], [UID]),
    "a claim that goes with its pod is nobody's while the pod stays": (retention("Retain", "Delete"), 2, [], None),
    "and the pod's once it is condemned": (retention("Retain", "Delete"), 1, [], [POD_1]),
    "with both, the set's while the pod stays": (retention("Delete", "Delete"), 2, [], [UID]),
    "with both, the pod's once it is condemned": (retention("Delete", "Delete"), 1, [owner()], [POD_1]),
    "a condemned pod that is wanted again gives it back": (retention("Retain", "Delete"), 2, [BY_POD], []),
    "a policy that keeps again lets go": (retention("Retain", "Retain"), 2, [owner()], []),
    "a claim with another controller is left alone": (retention("Delete", "Retain"), 2, [FOREIGN], None),
    "a claim of an earlier set is left alone": (retention("Delete", "Retain"), 2, [owner("earlier")], None),
}  # fmt: skip


@pytest.mark.parametrize(("policy", "replicas", "owners", "wanted"), OWNERS.values(), ids=OWNERS.keys())
def test_owners_of_claims(policy: Object, replicas: int, owners: list[Object], wanted: list[str] | None) -> None:
    first = claim(0, *([owner()] if policy["persistentVolumeClaimRetentionPolicy"]["whenDeleted"] == "Delete" else []))
    decision = decide(stateful_set(replicas, **policy), revision(), pod(0), pod(1), first, claim(1, *owners))
    patches = {w.key.name: w.body["metadata"]["ownerReferences"] for w in decision.intent if isinstance(w, Patch)}
    if wanted is None:
        assert patches == {}
    else:
        assert [one["uid"] for one in patches["data-web-1"] or []] == wanted
    assert deleted(decision) == (["web-1"] if replicas == 1 else [])


# Large sets


def test_a_large_set_is_counted_in_blocks() -> None:
    count = 3 * BLOCK + 1
    members = [pod(i) for i in range(count)]
    view = view_of([stateful_set(4 * BLOCK), revision(), *members])
    assert created(reconcile(KEY, view, NOON)) == [f"web-{count}"]
    decision = decide(stateful_set(4 * BLOCK), revision(), *members, pod(count, phase="Pending"))
    assert (said(decision)["replicas"], said(decision)["readyReplicas"]) == (count + 1, count)
    lists = {q.value for q in view.questions if isinstance(q, ListQuestion) and q.by == "block" and not q.counter}
    assert lists == {f"{UID}/3"}
    assert not any(isinstance(q, ListQuestion) and (q.by, q.counter) == ("owner", "") and "Pod" in str(q.kind)
                   for q in view.questions)  # fmt: skip


@pytest.mark.parametrize("broken", [0, BLOCK - 1, BLOCK, 2 * BLOCK + 3])
def test_one_broken_pod_in_a_large_set_is_found(broken: int) -> None:
    pods = [pod(i, phase="Failed") if i == broken else pod(i) for i in range(3 * BLOCK)]
    assert deleted(decide(stateful_set(3 * BLOCK), revision(), *pods)) == [f"web-{broken}"]


@pytest.mark.parametrize("start", [0, 7])
def test_a_very_large_set_is_counted_in_large_blocks(start: int) -> None:
    count = BLOCKS[1] + 3 * BLOCK + 1
    pods = [pod(i) for i in range(start, start + count)]
    web = stateful_set(2 * BLOCKS[1], ordinals={"start": start})
    view = view_of([web, revision(), *pods])
    assert created(reconcile(KEY, view, NOON)) == [f"web-{start + count}"]
    assert len(view.questions) < 120
    decision = decide(web, revision(), *pods, pod(start + count, phase="Pending"))
    assert (said(decision)["replicas"], said(decision)["readyReplicas"]) == (count + 1, count)


def test_in_order_the_pod_that_comes_and_the_one_before_are_told_in_one_write() -> None:
    first = decide(stateful_set(2), revision(), pod(0))
    assert created(first) == ["web-1"]
    assert not first.status
    second = decide(stateful_set(2), revision(), pod(0), pod(1, phase="Pending"))
    assert (said(second)["replicas"], said(second)["readyReplicas"]) == (2, 1)


def test_a_pod_that_the_api_refuses_does_not_keep_the_others_from_being_told() -> None:
    view = view_of([stateful_set(2), revision(), pod(0)], problem="exceeded quota")
    decision = reconcile(KEY, view, NOON)
    (write,) = decision.intent
    assert isinstance(write, Patch)
    assert write.body["status"]["readyReplicas"] == 1
    assert ("FailedCreate", "Create Pod web-1 in StatefulSet web failed error: exceeded quota") in {
        (event.reason, event.message) for event in decision.events
    }


def test_one_missing_pod_in_a_large_set_comes_back() -> None:
    pods = [pod(i) for i in range(3 * BLOCK) if i != BLOCK + 1]
    assert created(decide(stateful_set(3 * BLOCK), revision(), *pods)) == [f"web-{BLOCK + 1}"]


def test_a_large_set_shrinks_from_the_top() -> None:
    pods = [pod(i) for i in range(3 * BLOCK)]
    assert deleted(decide(stateful_set(2 * BLOCK), revision(), *pods)) == [f"web-{3 * BLOCK - 1}"]


def test_an_update_of_a_large_set_goes_on_where_it_is() -> None:
    revisions = [revision("web:1", 1), revision("web:2", 2)]
    pods = [pod(i, OLD if i < BLOCK else NEW) for i in range(2 * BLOCK)]
    decision = decide(stateful_set(2 * BLOCK, "web:2", {"currentRevision": OLD}), *revisions, *pods)
    assert deleted(decision) == [f"web-{BLOCK - 1}"]
    assert (said(decision)["currentReplicas"], said(decision)["updatedReplicas"]) == (BLOCK, BLOCK)


# Whole stories

STORIES: dict[str, Object] = {
    "in order": stateful_set(3),
    "in parallel": stateful_set(3, **PARALLEL),
    "from another ordinal": stateful_set(2, ordinals={"start": 7}),
    "with claims": stateful_set(2, **CLAIMS),
    "with claims that go with the set": stateful_set(2, **retention("Delete", "Retain")),
    "ready for a while": stateful_set(2, minReadySeconds=20),
    "of nothing": stateful_set(0),
}


@pytest.mark.parametrize("subject", STORIES.values(), ids=STORIES.keys())
def test_coming_up_ends_the_same_after_any_crash(subject: Object) -> None:
    end = same_end_after_any_crash(lambda: World([CONTROLLER], [subject]))
    spec = subject["spec"]
    start = spec.get("ordinals", {}).get("start", 0)
    assert end.names("Pod") == [f"web-{i}" for i in range(start, start + spec["replicas"])]
    assert end.get("StatefulSet", "web")["status"].get("readyReplicas", 0) == spec["replicas"]
    assert len(end.of("PersistentVolumeClaim")) == len(spec.get("volumeClaimTemplates", ())) * spec["replicas"]


def updated(subject: Object, patch: Object, graceful: bool = True) -> World:
    world = World([CONTROLLER], [subject], graceful=graceful)
    world.run()
    world.edit("StatefulSet", "web", {"spec": patch})
    return world


CHANGES: dict[str, tuple[Object, Object]] = {
    "an update in order": (stateful_set(3), {"template": template("web:2")}),
    "an update in parallel": (stateful_set(3, **PARALLEL), {"template": template("web:2")}),
    "an update without a partition": (
        stateful_set(3, updateStrategy={"type": "RollingUpdate"}),
        {"template": template("web:2")},
    ),
    "an update with two away": (stateful_set(3, **rolling(maxUnavailable=2)), {"template": template("web:2")}),
    "an update without history": (stateful_set(2, revisionHistoryLimit=0), {"template": template("web:2")}),
    "an update that shrinks": (stateful_set(3), {"template": template("web:2"), "replicas": 2}),
    "an update that grows": (stateful_set(2), {"template": template("web:2"), "replicas": 3}),
    "shrinking with claims that go with their pods": (
        stateful_set(3, **retention("Retain", "Delete")),
        {"replicas": 1},
    ),
    "moving the first ordinal": (stateful_set(2), {"ordinals": {"start": 2}}),
}


@pytest.mark.parametrize("graceful", [True, False], ids=["with grace", "at once"])
@pytest.mark.parametrize(("subject", "patch"), CHANGES.values(), ids=CHANGES.keys())
def test_a_change_ends_the_same_after_any_crash(subject: Object, patch: Object, graceful: bool) -> None:
    end = same_end_after_any_crash(lambda: updated(subject, patch, graceful))
    found = end.get("StatefulSet", "web")
    replicas = found["spec"]["replicas"]
    image = found["spec"]["template"]["spec"]["containers"][0]["image"]
    assert [p["spec"]["containers"][0]["image"] for p in end.of("Pod")] == [image] * replicas
    assert found["status"]["currentRevision"] == found["status"]["updateRevision"] == name_of(image)
    assert found["status"]["updatedReplicas"] == found["status"]["currentReplicas"] == replicas
    if "persistentVolumeClaimRetentionPolicy" in found["spec"]:
        assert len(end.of("PersistentVolumeClaim")) == replicas


def test_a_partition_leaves_the_lower_ordinals_as_they_were() -> None:
    end = updated(stateful_set(3, **rolling(partition=2)), {"template": template("web:2")})
    end.run()
    assert [p["metadata"]["labels"]["controller-revision-hash"] for p in end.of("Pod")] == [OLD, OLD, NEW]
    status = end.get("StatefulSet", "web")["status"]
    assert (status["currentRevision"], status["currentReplicas"]) == (OLD, 2)
    assert (status["updateRevision"], status["updatedReplicas"]) == (NEW, 1)


def test_a_rollback_goes_back_to_the_earlier_revision() -> None:
    end = updated(stateful_set(2), {"template": template("web:2")})
    end.run()
    end.edit("StatefulSet", "web", {"spec": {"template": template("web:1")}})
    end.run()
    assert {one["metadata"]["name"]: one["revision"] for one in end.of("ControllerRevision")} == {OLD: 3, NEW: 2}


def test_pods_that_never_start_hold_up_the_rest() -> None:
    end = World([CONTROLLER], [stateful_set(3)], never_starts)
    end.run()
    assert end.names("Pod") == ["web-0"]
