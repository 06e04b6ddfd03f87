"""What a scheduler did with a pod, told from two sightings of it, and whether that is what was predicted."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mooring.kube.objects import Object
from mooring.placement.shadow.outcomes import Bound, Failed, Outcome, WatchedPod, assumed, outcome_of, waits
from mooring.placement.shadow.predictions import Prediction, predict
from mooring.placement.shadow.world import MAX_CHANGES, Place, World, place_of
from mooring.testing import cluster, node, pod


def seen(
    node_name: str = "",
    *,
    said: str = "",
    nominated: str = "",
    reason: str = "Unschedulable",
    holds: str = "False",
    kind: str = "PodScheduled",
    **more: Any,
) -> WatchedPod:
    made = pod("p", node=node_name or None)
    condition = {"type": kind, "status": holds, "reason": reason, "message": said}
    made["status"] = {"phase": "Pending", "nominatedNodeName": nominated, "conditions": [condition] if said else None}
    for section, fields in more.items():
        made[section] |= fields
    return msgspec.convert(made, WatchedPod)


@pytest.mark.parametrize(
    ("fields", "does"),
    [
        ({}, True),
        ({"spec": {"schedulerName": ""}}, True),
        ({"spec": {"schedulerName": "default-scheduler"}}, True),
        ({"status": {"phase": ""}}, True),
        ({"node_name": "a"}, False),
        ({"status": {"phase": "Failed"}}, False),
        ({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, False),
        ({"spec": {"schedulingGates": [{"name": "g"}]}}, False),
        ({"spec": {"schedulerName": "other"}}, False),
    ],
)
def test_a_pod_waits_for_the_default_scheduler(fields: Object, does: bool) -> None:
    assert waits(seen(**fields)) is does


@pytest.mark.parametrize(
    ("old", "new", "outcome"),
    [
        ({}, {}, None),
        ({}, {"node_name": "a"}, Bound("a")),
        ({"nominated": "a"}, {"node_name": "a", "nominated": "a"}, Bound("a")),
        ({"node_name": "a"}, {"node_name": "a", "said": "no"}, None),
        ({}, {"said": "no"}, Failed("no")),
        ({}, {"said": "no", "reason": "SchedulerError"}, Failed("no")),
        ({}, {"said": "no", "reason": "SchedulingGated"}, None),
        ({}, {"said": "no", "holds": "True"}, None),
        ({}, {"said": "no", "kind": "Ready"}, None),
        ({}, {"said": "no", "nominated": "a"}, Failed("no", "a")),
        ({"said": "no"}, {"said": "no"}, None),
        ({"said": "no"}, {"said": "not yet"}, Failed("not yet")),
        ({"said": "no", "nominated": "a"}, {"said": "no"}, None),
        ({"said": "no", "nominated": "a"}, {"said": "no", "nominated": "a"}, None),
        ({"said": "no", "nominated": "a"}, {"said": "no", "nominated": "b"}, Failed("no", "b")),
        # A nomination in the words from before, or without words, tells where the pod is about to be bound.
        ({"said": "no"}, {"said": "no", "nominated": "a"}, Bound("a", is_expected=True)),
        ({}, {"nominated": "a"}, Bound("a", is_expected=True)),
        ({"nominated": "a"}, {"nominated": "b"}, Bound("b", is_expected=True)),
        ({"nominated": "a"}, {"nominated": "a"}, None),
    ],
)
def test_two_sightings_tell_what_was_done_between(old: Object, new: Object, outcome: Outcome | None) -> None:
    assert outcome_of(seen(**old), seen(**new)) == outcome


def test_outcomes_are_told_in_words() -> None:
    assert str(Bound("a")) == "bound to a"
    assert str(Failed("no room")) == "left pending: no room"
    assert str(Failed("no room", "a")) == "left pending, nominated to a: no room"
    held = assumed(seen(said="no"), "a")
    assert (held.spec.node_name, held.status) == ("a", seen(said="no").status)


def prediction(
    best: str = "", feasible: str = "", message: str = "", nominated: str = "", *, sampled: bool = False
) -> Prediction:
    return Prediction(frozenset(best), frozenset(feasible), message, frozenset(nominated), sampled)


@pytest.mark.parametrize(
    ("found", "outcome", "exactly", "allowed"),
    [
        (prediction("ab", "abc"), Bound("b"), True, False),
        (prediction("ab", "abc"), Bound("c"), False, False),
        (prediction("ab", "abc", sampled=True), Bound("c"), False, True),
        (prediction("ab", "abc", sampled=True), Bound("d"), False, False),
        (prediction("ab", "abc", "no", sampled=True), Failed("no"), False, False),
        (prediction(message="no"), Failed("no"), True, False),
        (prediction(message="no"), Failed("other"), False, False),
        (prediction(message="no"), Failed("no", "a"), False, False),
        (prediction(message="no", nominated="ab"), Failed("no", "b"), True, False),
        (prediction(message="no", nominated="ab"), Failed("no", "c"), False, False),
        (prediction(message="no", nominated="ab"), Failed("no"), False, False),
        (prediction(message="no"), Bound("a"), False, False),
    ],
)
def test_a_prediction_holds_exactly_or_allows_what_was_done(
    found: Prediction, outcome: Outcome, exactly: bool, allowed: bool
) -> None:
    assert (found.is_exactly(outcome), found.allows(outcome)) == (exactly, allowed)


def test_predictions_are_told_with_three_nodes_at_most() -> None:
    assert str(prediction("ba")) == "bound to a or b"
    assert str(prediction("abc")) == "bound to a or b or c"
    assert str(prediction("edcba", message="no")) == "bound to a or b or c or 2 more"
    assert str(prediction(message="no")) == "left pending: no"
    assert str(prediction(message="no", nominated="b")) == "left pending, nominated to b: no"


def test_a_prediction_is_what_the_engine_says_of_the_pod() -> None:
    scene = cluster(node("a", cpu="2"), node("b", cpu="2"), node("c", cpu="1"))
    tied = predict(scene.engine, scene.explain(pod("p", cpu="2")).pod)
    assert (tied.best, tied.feasible, tied.nominated, tied.sampled) == (
        frozenset("ab"),
        frozenset("ab"),
        frozenset(),
        False,
    )
    only = predict(scene.engine, scene.explain(pod("p", cpu="2", nodeSelector={"kubernetes.io/hostname": "b"})).pod)
    assert (only.best, only.feasible, only.message) == (frozenset("b"), frozenset("b"), "")
    full = cluster(node("a", cpu="2"), pod("low", cpu="2", node="a", priority=-1))
    waiting = pod("p", cpu="2")
    evicting = predict(full.engine, full.explain(waiting).pod)
    assert (evicting.best, evicting.nominated) == (frozenset(), frozenset("a"))
    assert evicting.message == full.explain(waiting).message != ""
    nobody = predict(full.engine, full.explain(pod("p", cpu="2", priority=-1)).pod)
    assert nobody.nominated == frozenset()
    many = cluster(*(node(f"n{number}") for number in range(100)))
    assert predict(many.engine, many.explain(pod("p")).pod).sampled
    many.cluster.remove_node("n99")
    assert not predict(many.engine, many.explain(pod("p")).pod).sampled


def test_the_world_remembers_its_last_changes() -> None:
    world = World()
    pods = [seen(f"n{number}") for number in range(MAX_CHANGES + 3)]
    place = place_of("Pod", pods[0])
    assert place == Place("Pod", "default/p")
    assert place_of("Node", msgspec.convert(node("n"), type(pods[0]))) == Place("Node", "n")
    for view in pods[:3]:
        world.change(place, view)
    assert world.position == 3
    assert [(each.old, each.new) for each in world.between(0, 3)] == [
        (None, pods[0]),
        (pods[0], pods[1]),
        (pods[1], pods[2]),
    ]
    assert [each.new for each in world.between(1, 2)] == [pods[1]]
    assert [each.new for each in world.between(2, 99)] == [pods[2]]
    assert world.between(2, 2) == world.between(3, 1) == []
    assert world.before(1) == {place: pods[0]}
    assert world.before(3) == {}
    for view in pods[3:]:
        world.change(place, view)
    assert [each.new for each in world.between(-5, 4)] == [pods[3]]
    assert world.between(0, 3) == []
    with world.pretending({place: pods[1], Place("Pod", "default/none"): None}):
        assert world.get(place) == pods[1]
        assert world.snapshot.cluster.pods["default/p"].node_name == "n1"
    assert world.get(place) == pods[-1]
    with world.pretending({place: None}):
        assert world.get(place) is None
        assert world.objects() == []
        assert "default/p" not in world.snapshot.cluster.pods
    assert world.objects() == [("Pod", pods[-1])]
    world.change(place, None)
    assert (world.get(place), world.objects()) == (None, [])
