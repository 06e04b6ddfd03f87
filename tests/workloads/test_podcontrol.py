"""What controllers of pods make: pods of a template, and writes of what differs in a status."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from mooring.api.core.types import View
from mooring.api.core.views import Pod
from mooring.api.kinds import Key
from mooring.api.meta import Condition
from mooring.runtime.decision import Patch, status
from mooring.testing.views import NOON, view_of
from mooring.workloads.kinds import REPLICA_SET
from mooring.workloads.podcontrol import annotated, child_suffix, is_available, pod_from_template, status_change
from tests.workloads.objects import bare


class Inner(View, frozen=True, omit_defaults=True):
    one_thing: int = 0
    names: tuple[str, ...] = ()
    deeper: Inner | None = None


class Status(View, frozen=True):
    replicas: int = 0
    phase: str = ""
    done: bool = False
    best: str | None = None
    conditions: tuple[Condition, ...] = ()
    part: Inner | None = None
    parts: tuple[Inner, ...] = ()
    counts: dict[str, int] = msgspec.field(default_factory=dict)


OWNER = bare("web")
REFERENCE = {
    "apiVersion": "apps/v1",
    "kind": "ReplicaSet",
    "name": "web",
    "uid": "uid-web",
    "controller": True,
    "blockOwnerDeletion": True,
}


def test_a_pod_has_what_its_template_stamps_on_it() -> None:
    spec = {"containers": [{"name": "main"}]}
    stamped = {"labels": {"app": "web"}, "annotations": {"note": "x"}, "finalizers": ["example.com/stay"]}
    metadata = {"name": "web-x", "generateName": "web-", "namespace": "team"}
    cases: list[tuple[dict[str, Any], dict[str, Any], Any]] = [
        ({}, {}, {}),
        ({"spec": spec}, {}, spec),
        ({"metadata": {"name": "other", "labels": {}, "annotations": None, "finalizers": []}, "spec": spec}, {}, spec),
        ({"metadata": stamped, "spec": spec}, stamped, spec),
    ]
    for template, more, expected in cases:
        found = pod_from_template(REPLICA_SET, OWNER, template, "web-x")
        assert found == {"metadata": {**metadata, **more, "ownerReferences": [REFERENCE]}, "spec": expected}, template
        # What is changed on the pod is not changed in the template.
        for field in more:
            assert found["metadata"][field] is not stamped[field]


def test_suffixes_are_five_letters_that_follow_from_owner_and_slot() -> None:
    assert [child_suffix("u", slot) for slot in range(3)] == ["gjm6h", "c2pzw", "2c486"]
    assert child_suffix("v", 0) != child_suffix("u", 0)


@pytest.mark.parametrize(
    ("conditions", "seconds", "expected", "again"),
    [
        ([], 0, False, None),
        ([("Ready", "False", 0)], 0, False, None),
        ([("Ready", "Unknown", 0)], 0, False, None),
        ([("Other", "True", 0)], 0, False, None),
        ([("Ready", "True", None)], 0, True, None),
        ([("Ready", "True", None)], -1, True, None),
        ([("Ready", "True", None)], 1, False, None),
        ([("Ready", "True", 10)], 10, True, None),
        ([("Ready", "True", 9)], 10, False, 1),
        ([("Ready", "True", 0)], 1, False, 1),
        ([("Ready", "True", 1)], 1, True, None),
    ],
)
def test_a_pod_is_available_when_it_was_ready_for_long_enough(
    conditions: list[tuple[str, str, int | None]], seconds: int, expected: bool, again: int | None
) -> None:
    made = [
        {"type": kind, "status": value}
        | ({} if since is None else {"lastTransitionTime": f"{NOON - timedelta(seconds=since):%Y-%m-%dT%H:%M:%SZ}"})
        for kind, value, since in conditions
    ]
    view = view_of([])
    assert is_available(view, msgspec.convert({"status": {"conditions": made}}, Pod), seconds) is expected
    assert view.timers == (set() if again is None else {NOON + timedelta(seconds=again)})


READY = Condition("Ready", "True", "Why", "text", "2026-11-15T12:00:00Z", 1)
STATUSES: dict[str, tuple[Status, Status, dict[str, Any] | None]] = {
    "nothing differs": (Status(replicas=1), Status(replicas=1), None),
    "a number": (Status(replicas=1), Status(replicas=2), {"replicas": 2}),
    "a number that is zero now": (Status(replicas=1), Status(), {"replicas": None}),
    "a text": (Status(phase="a"), Status(phase="b", replicas=0), {"phase": "b"}),
    "a text that is gone": (Status(phase="a"), Status(), {"phase": None}),
    "a sign that is off now": (Status(done=True), Status(), {"done": None}),
    "a thing that is gone": (Status(best="x"), Status(), {"best": None}),
    "a whole part": (Status(), Status(part=Inner(1, ("a",))), {"part": {"oneThing": 1, "names": ["a"]}}),
    "a field of a part": (
        Status(part=Inner(1, ("a",))),
        Status(part=Inner(2, ("a",))),
        {"part": {"oneThing": 2, "names": ["a"]}},
    ),
    "a field of a part that is zero now": (
        Status(part=Inner(1, ("a",))),
        Status(part=Inner(0, ("a",))),
        {"part": {"oneThing": None, "names": ["a"]}},
    ),
    "a list of a part that is empty now": (
        Status(part=Inner(1, ("a",))),
        Status(part=Inner(1)),
        {"part": {"oneThing": 1, "names": None}},
    ),
    "a part of a part": (
        Status(part=Inner(1, deeper=Inner(1))),
        Status(part=Inner(1, deeper=Inner(0, ("b",)))),
        {"part": {"oneThing": 1, "deeper": {"names": ["b"], "oneThing": None}}},
    ),
    "a part of a part that is empty now": (
        Status(part=Inner(1, deeper=Inner(1))),
        Status(part=Inner(1)),
        {"part": {"oneThing": 1, "deeper": None}},
    ),
    "a part that is gone": (Status(part=Inner(1)), Status(), {"part": None}),
    "a list of parts": (
        Status(parts=(Inner(1),)),
        Status(parts=(Inner(1), Inner(2))),
        {"parts": [{"oneThing": 1}, {"oneThing": 2}]},
    ),
    "a list of parts that is empty now": (Status(parts=(Inner(1),)), Status(), {"parts": None}),
    "one of many counts": (Status(counts={"a": 1, "b": 2}), Status(counts={"a": 1}), {"counts": {"a": 1, "b": None}}),
    "conditions": (
        Status(),
        Status(conditions=(READY,)),
        {
            "conditions": [
                {
                    "type": "Ready",
                    "status": "True",
                    "reason": "Why",
                    "message": "text",
                    "lastTransitionTime": "2026-11-15T12:00:00Z",
                    "observedGeneration": 1,
                }
            ]
        },
    ),
    "conditions that are gone": (Status(conditions=(READY,)), Status(), {"conditions": None}),
}


def test_a_status_is_written_as_far_as_it_differs() -> None:
    for case, (old, new, body) in STATUSES.items():
        expected = () if body is None else (status(REPLICA_SET, OWNER, body),)
        assert status_change(REPLICA_SET, OWNER, old, new) == expected, case


def test_some_fields_are_always_written_even_zeros() -> None:
    always = ("replicas", "phase")
    found = status_change(REPLICA_SET, OWNER, Status(phase="a"), Status(phase="a", done=True), always)
    assert found == (status(REPLICA_SET, OWNER, {"replicas": 0, "phase": "a", "done": True}),)
    assert status_change(REPLICA_SET, OWNER, Status(), Status(), always) == ()


def test_annotations_go_with_the_status_or_alone() -> None:
    written = status(REPLICA_SET, OWNER, {"replicas": 1})
    notes = {"example.com/note": "1"}
    assert annotated(REPLICA_SET, OWNER, (written,), {}) == (written,)
    assert annotated(REPLICA_SET, OWNER, (), {}) == ()
    body = {"metadata": {"annotations": notes}}
    assert annotated(REPLICA_SET, OWNER, (), notes) == (Patch(REPLICA_SET, Key("team", "web"), body),)
    (both,) = annotated(REPLICA_SET, OWNER, (written,), notes)
    assert both == written._replace(body={**body, **written.body})
