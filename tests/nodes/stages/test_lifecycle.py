"""Stages: which one applies to an object, and when."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mooring.kube.objects import Object
from mooring.nodes.stages.lifecycle import CompiledStage, StageError, choose
from mooring.testing.views import NOON
from tests.nodes.stages.objects import EVERYTHING, EXISTS, PENDING, READINESS, compiled, one, setting, stage


@pytest.mark.parametrize(
    ("why", "selected", "expected"),
    [
        ("a value that is there", stage("s", PENDING), True),
        ("a value that is another", stage("s", (".status.phase", "In", ["Running"])), False),
        ("none of these", stage("s", (".status.phase", "NotIn", ["Running"])), True),
        ("what is not there is none of them", stage("s", (".status.podIP", "NotIn", ["x"])), True),
        ("what is not there does not exist", stage("s", (".status.podIP", "DoesNotExist", [])), True),
        ("what is there exists", stage("s", (".spec.containers", "Exists", [])), True),
        ("a label by its name", stage("s", ('.metadata.labels["a/b"]', "In", ["c"])), True),
        ("one of a list", stage("s", (READINESS, "In", ["False"])), True),
        ("a number", stage("s", (".spec.priority", "In", ["7"])), True),
        ("a truth", stage("s", (".spec.hostNetwork", "In", ["true"])), True),
        ("all must hold", stage("s", PENDING, (".status.podIP", "Exists", [])), False),
        ("labels", stage(selector={"matchLabels": {"a/b": "c"}}), True),
        ("other labels", stage(selector={"matchLabels": {"a/b": "d"}}), False),
        ("annotations", stage(selector={"matchAnnotations": {"x": "y"}}), False),
        ("everything", stage(selector=EVERYTHING), True),
        ("the newer form", stage(selector={"matchExpressions": [{"jq": {"key": ".spec", "operator": EXISTS}}]}), True),
    ],
)  # fmt: skip
def test_what_is_selected(why: str, selected: Object, expected: bool) -> None:
    found = one(labels={"a/b": "c"})
    found["spec"] |= {"priority": 7, "hostNetwork": True}
    assert compiled(selected).matches(found) == expected, why


@pytest.mark.parametrize(
    ("why", "refused", "sentence"),
    [
        ("another kind", stage(kind="Job"), "spec.resourceRef: v1 Job is not driven here; v1 Pod and v1 Node are"),
        ("no selector", stage(selector=None), "spec.selector is missing, so it selects nothing; {} selects everything"),
        (
            "CEL",
            stage(selector={"matchExpressions": [{"cel": {"expression": "true"}}]}),
            "spec.selector.matchExpressions[0].cel is not understood here; write it as key, operator and values",
        ),
        (
            "an operator",
            stage("s", (".a", "Like", ["b"])),
            'spec.selector.matchExpressions[0].operator: "Like" must be one of In, NotIn, Exists, DoesNotExist',
        ),
        ("values", stage("s", (".a", "In", [])), "spec.selector.matchExpressions[0]: In needs values"),
        (
            "a query",
            stage("s", (".a | length", "Exists", [])),
            'spec.selector.matchExpressions[0].key: ".a | length" is not understood from "length" on; '
            "paths and select() are",
        ),
        (
            "a function",
            stage(next=setting("a: {{ frobnicate . }}")),
            'spec.next.statusTemplate: line 1: the function "frobnicate" is not known here',
        ),
        (
            "an action",
            stage(next=setting("a: 1\n{{ if .a }}")),
            "spec.next.statusTemplate: an if, with or range is not closed with end",
        ),
        (
            "a patch",
            stage(next={"patches": [{"type": "apply", "template": ""}]}),
            'spec.next.patches[0].type: "apply" must be one of strategic, merge, json',
        ),
        (
            "a subresource",
            stage(next={"patches": [{"subresource": "scale", "template": ""}]}),
            'spec.next.patches[0].subresource: "scale" is not patched here; status is, and the object itself',
        ),
        (
            "another object",
            stage(steps=[{"apply": {"template": "x"}}]),
            "spec.steps[0].apply is not understood here; a Stage changes only the object it selects",
        ),
    ],
)
def test_what_is_not_understood_is_refused_with_a_sentence(why: str, refused: Object, sentence: str) -> None:
    with pytest.raises(StageError) as error:
        compiled(refused)
    assert str(error.value) == sentence, why


def weighted(*weights: int) -> list[CompiledStage]:
    return [compiled(stage(f"s{n}", selector=EVERYTHING, weight=weight)) for n, weight in enumerate(weights)]


def test_of_several_one_is_drawn_by_weight_and_always_the_same_for_one_object() -> None:
    stages = weighted(1, 3, 0)
    drawn = [choose(stages, one(f"uid-{n}")) for n in range(400)]
    names = [each.name for each in drawn if each is not None]
    assert drawn == [choose(stages, one(f"uid-{n}")) for n in range(400)]
    assert 60 < names.count("s0") < 140
    assert names.count("s2") == 0


def test_without_weights_all_are_alike_and_the_object_may_say_otherwise() -> None:
    names = {found.name for n in range(50) if (found := choose(weighted(0, 0), one(f"uid-{n}"))) is not None}
    assert names == {"s0", "s1"}
    said = stage("said", selector=EVERYTHING, weightFrom={"expressionFrom": '.metadata.annotations["w"]'})
    found = choose([*weighted(0), compiled(said)], one(annotations={"w": "9"}))
    assert found is not None
    assert found.name == "said"


@pytest.mark.parametrize(
    ("why", "delay", "seconds"),
    [
        ("at once", {}, (0, 0)),
        ("after a while", {"durationMilliseconds": 1500}, (1.5, 1.5)),
        ("somewhere in between", {"durationMilliseconds": 1000, "jitterDurationMilliseconds": 5000}, (1, 5)),
        ("the shorter one", {"durationMilliseconds": 5000, "jitterDurationMilliseconds": 1000}, (1, 1)),
        ("as the object says", {"durationFrom": {"expressionFrom": '.metadata.annotations["delay"]'}}, (90, 90)),
        (
            "as nobody says",
            {"durationMilliseconds": 7000, "durationFrom": {"expressionFrom": ".metadata.annotations.none"}},
            (7, 7),
        ),
        ("up to a moment", {"durationFrom": {"jq": {"expression": ".metadata.deletionTimestamp"}}}, (30, 30)),
    ],
)
def test_when_it_is_due(why: str, delay: Object, seconds: tuple[float, float]) -> None:
    deleted = "2026-01-01T12:00:30Z"
    played = compiled(stage(selector=EVERYTHING, delay=delay))
    waits = [
        (played.due(one(f"uid-{n}", annotations={"delay": "1m30s"}, deletionTimestamp=deleted), NOON) - NOON)
        for n in range(30)
    ]
    assert min(waits) >= timedelta(seconds=seconds[0]), why
    assert max(waits) <= timedelta(seconds=seconds[1]), why
    assert (len(set(waits)) > 10) == (seconds[0] != seconds[1]), why
