"""Revisions of DaemonSets, and whose pods and revisions are adopted."""

from __future__ import annotations

from mooring.builtin.apps.daemonset.controller import reconcile
from mooring.builtin.apps.daemonset.history import TWIN_DELAY
from mooring.builtin.apps.daemonset.nodes import NODES
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Create, Decision, Patch
from mooring.testing.views import NOON, view_of
from mooring.workloads.kinds import CONTROLLER_REVISION
from tests.builtin.apps.daemonset.objects import (
    KEY,
    LABELS,
    daemon_set,
    decide,
    deleted,
    hash_of,
    nodes,
    owner_reference,
    pod,
    revision_of,
    said,
    template,
)

# History and ownership


def test_the_template_becomes_a_revision_before_any_pod_is_made() -> None:
    owner = daemon_set()
    owner["metadata"]["annotations"] = {"kubernetes.io/change-cause": "first"}
    decision = reconcile(KEY, view_of([owner, *nodes(1)], folds=(NODES,)), NOON)
    (create,) = decision.intent
    assert isinstance(create, Create)
    word = create.object["metadata"]["labels"]["controller-revision-hash"]
    assert create.key.name == f"agent-{word}"
    assert create.object["revision"] == 1
    assert create.object["metadata"]["annotations"] == {"kubernetes.io/change-cause": "first"}
    assert create.object["data"] == {"spec": {"template": {**template(), "$patch": "replace"}}}
    assert decision.children == ()


def past_revision(name: str, number: int, image: str = "agent:0", **labels: str) -> Object:
    metadata = {
        "name": name,
        "namespace": "default",
        "labels": {**LABELS, "controller-revision-hash": name, **labels},
        "ownerReferences": [owner_reference()],
    }
    data = {"spec": {"template": {**template(image), "$patch": "replace"}}}
    return {
        "apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": metadata, "data": data, "revision": number,
    }  # fmt: skip


def test_a_word_that_another_revision_has_is_counted_as_a_collision() -> None:
    taken = {**past_revision("x", 1), "data": {}}
    taken["metadata"] = {**taken["metadata"], "name": revision_of(daemon_set())["metadata"]["name"]}
    decision = reconcile(KEY, view_of([daemon_set(), taken], folds=(NODES,)), NOON)
    assert said(decision)["collisionCount"] == 1
    counted = daemon_set(status={"collisionCount": 1})
    (create,) = reconcile(KEY, view_of([counted, taken], folds=(NODES,)), NOON).intent
    assert create.key.name != taken["metadata"]["name"]


def test_going_back_gives_the_old_revision_the_newest_number() -> None:
    decision = decide(daemon_set(), past_revision("later", 5), *nodes(1))
    (patch,) = decision.intent
    assert isinstance(patch, Patch)
    assert (patch.key.name, patch.body) == (revision_of(daemon_set())["metadata"]["name"], {"revision": 6})


def test_two_revisions_of_one_template_become_one_and_pods_follow() -> None:
    owner = daemon_set()
    twin = past_revision("twin", 7, image="agent:1")
    mine, other = pod("mine", "n0", hash_of(owner)), pod("other", "n1", "outdated")
    decision = decide(owner, twin, *nodes(2), mine, other)
    (patch,) = decision.intent
    assert isinstance(patch, Patch)
    assert (patch.key.name, patch.body["metadata"]["labels"]) == ("mine", {"controller-revision-hash": "twin"})
    assert deleted(decision) == [revision_of(owner)["metadata"]["name"]]


def test_a_second_revision_of_one_template_is_left_alone_for_a_while() -> None:
    owner = daemon_set()
    twin = past_revision("twin", 7, image="agent:1")
    twin["metadata"]["creationTimestamp"] = timestamp(NOON)
    mine = pod("mine", "n0", hash_of(owner))
    assert deleted(decide(owner, twin, *nodes(1), mine, now=NOON + TWIN_DELAY / 2)) == []
    assert deleted(decide(owner, twin, *nodes(1), mine, now=NOON + TWIN_DELAY)) == [
        revision_of(owner)["metadata"]["name"]
    ]


def test_history_is_cut_at_its_limit_but_not_what_pods_still_run() -> None:
    owner = daemon_set(revisionHistoryLimit=1, strategy="OnDelete")
    old = [past_revision(f"r{number}", -3 + number, image=f"agent:-{number}") for number in range(3)]
    decision = decide(owner, *old, *nodes(1), pod("a", "n0", "r0"))
    assert [write.key.name for write in decision.release] == ["r1", "r2"]


def test_pods_and_revisions_without_an_owner_are_adopted_and_strangers_let_go() -> None:
    owner = daemon_set()
    orphan = pod("orphan", "n0", "x", owned=False)
    stranger = pod("stranger", "n0", "x", labels={"app": "other"})
    revision = past_revision("r", 1)
    del revision["metadata"]["ownerReferences"]
    decision = decide(owner, orphan, stranger, revision, *nodes(1))
    assert {(w.kind, w.key.name) for w in decision.intent} >= {(CONTROLLER_REVISION, "r")}
    assert {w.key.name for w in decision.intent} == {"r", "orphan", "stranger"}


def test_a_set_on_its_way_out_makes_and_says_nothing() -> None:
    leaving = daemon_set()
    leaving["metadata"] |= {"deletionTimestamp": timestamp(NOON), "finalizers": ["foregroundDeletion"]}
    assert decide(leaving, *nodes(2), pod("orphan", "n0", "x", owned=False)) == Decision()
