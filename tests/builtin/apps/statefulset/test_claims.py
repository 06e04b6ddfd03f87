"""Claims of a StatefulSet: made before their pods, owned as its retention policy says."""

from __future__ import annotations

import pytest

from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Create, Patch
from mooring.testing.views import NOON
from tests.builtin.apps.statefulset.objects import (
    CLAIMS,
    LABELS,
    UID,
    created,
    decide,
    deleted,
    owner,
    pod,
    retention,
    revision,
    stateful_set,
)


def claim(ordinal: int, *owners: Object, deleting: bool = False) -> Object:
    metadata: Object = {"name": f"data-web-{ordinal}", "namespace": "default", "ownerReferences": list(owners)}
    if deleting:
        metadata["deletionTimestamp"] = timestamp(NOON)
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata}


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
