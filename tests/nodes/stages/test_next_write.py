"""Stages: what one writes to an object next."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.kube.objects import Object
from mooring.kube.times import moment
from mooring.nodes.stages.kinds import WHOLE_POD
from mooring.nodes.stages.next_write import StageFailure, is_heartbeat, last_moment, next_write
from mooring.runtime.decision import Delete, Patch
from tests.nodes.stages.objects import compiled, one, setting, stage

ENVIRONMENT: dict[str, Any] = {"Now": lambda: "2026-01-01T12:00:00Z"}


def write(obj: Object, found: Object) -> Any:
    following = next_write(compiled(obj), found, WHOLE_POD, ENVIRONMENT)
    return None if following is None else following.write


def test_conditions_are_merged_by_type_and_other_lists_replaced() -> None:
    found = one()
    found["status"]["containerStatuses"] = [{"name": "old"}]
    template = """
conditions:
- {type: Ready, status: "True"}
- {type: Initialized, status: "True"}
containerStatuses:
- {name: new}
"""
    patch = write(stage(next=setting(template)), found)
    assert isinstance(patch, Patch)
    assert patch.subresource == "status"
    assert patch.body["status"] == {
        "conditions": [{"type": "Ready", "status": "True"}, {"type": "Initialized", "status": "True"}],
        "containerStatuses": [{"name": "new"}],
    }


def test_a_key_without_a_value_is_taken_away() -> None:
    found = one()
    found["status"]["reason"] = "Evicted"
    assert write(stage(next=setting("reason:\nphase: Pending")), found).body == {"status": {"reason": None}}


@pytest.mark.parametrize(
    ("patch", "body"),
    [
        ({"root": "metadata", "template": "labels: {x: z}"}, {"metadata": {"labels": {"x": "z"}}}),
        ({"type": "merge", "template": "metadata: {labels: {x: z}}"}, {"metadata": {"labels": {"x": "z"}}}),
        (
            {"type": "json", "root": "metadata", "template": "[{op: add, path: /labels, value: {x: z}}]"},
            {"metadata": {"labels": {"x": "z"}}},
        ),
    ],
)
def test_the_object_itself_can_be_changed_in_three_ways(patch: Object, body: Object) -> None:
    assert write(stage(next={"patches": [patch]}), one()).body == body


def test_what_is_not_status_comes_first_and_the_status_when_that_is_done() -> None:
    both = stage(
        next={
            "event": {"type": "Warning", "reason": "R", "message": "m"},
            "finalizers": {"add": [{"value": "f/x"}]},
            "patches": [{"subresource": "status", "root": "status", "template": "phase: Running"}],
        }
    )
    first = next_write(compiled(both), one(), WHOLE_POD, ENVIRONMENT)
    assert first is not None
    assert isinstance(first.write, Patch)
    assert (first.write.body, first.events) == ({"metadata": {"finalizers": ["f/x"]}}, ())
    second = next_write(compiled(both), one(finalizers=["f/x"]), WHOLE_POD, ENVIRONMENT)
    assert second is not None
    assert isinstance(second.write, Patch)
    assert second.write.body == {"status": {"phase": "Running"}}
    assert [(event.type, event.reason) for event in second.events] == [("Warning", "R")]


@pytest.mark.parametrize(
    ("change", "after"),
    [
        ({"empty": True}, None),
        ({"remove": [{"value": "a"}]}, ["b"]),
        ({"add": [{"value": "c"}], "remove": [{"value": "b"}]}, ["a", "c"]),
    ],
)
def test_finalizers_come_and_go(change: Object, after: list[str] | None) -> None:
    patch = write(stage(next={"finalizers": change}), one(finalizers=["a", "b"]))
    assert patch.body == {"metadata": {"finalizers": after}}


def test_an_object_is_deleted_once_its_finalizers_are_gone() -> None:
    doomed = stage(next={"finalizers": {"empty": True}, "delete": True})
    assert isinstance(write(doomed, one(finalizers=["a"])), Patch)
    assert write(doomed, one()) == Delete(WHOLE_POD, write(doomed, one()).key, grace=0)


def test_an_object_that_is_as_it_should_be_is_left_alone() -> None:
    assert write(stage(next=setting("phase: Pending")), one()) is None


def test_steps_are_the_newer_form_of_next() -> None:
    newer = stage(steps=[{"patch": {"subresource": "status", "root": "status", "template": "phase: Running"}}])
    assert write(newer, one()).body == {"status": {"phase": "Running"}}


@pytest.mark.parametrize(
    ("template", "part"),
    [
        ("a: {{ index .spec.containers 5 }}", "line 1: index 5 is out of range of 1 items"),
        ("- a\nb: c", "not YAML"),
        ("just text", "its template makes no object"),
    ],
)
def test_a_template_that_fails_on_an_object_says_so(template: str, part: str) -> None:
    with pytest.raises(StageFailure, match="Stage s cannot be applied") as error:
        write(stage(next=setting(template)), one())
    assert part in str(error.value)


def test_a_heartbeat_changes_nothing_but_moments() -> None:
    found = one()
    found["status"]["conditions"][0]["lastHeartbeatTime"] = "2026-01-01T11:00:00Z"
    beat = 'conditions: [{type: Ready, status: "False", lastHeartbeatTime: {{ Now | Quote }}}]'
    assert is_heartbeat(compiled(stage(next=setting(beat))), found, ENVIRONMENT)
    assert not is_heartbeat(compiled(stage(next=setting("phase: Running"))), found, ENVIRONMENT)


def test_an_object_tells_since_when_it_is_as_it_is() -> None:
    found = one(creationTimestamp="2026-01-01T10:00:00Z")
    found["status"]["conditions"][0]["lastTransitionTime"] = "2026-01-01T11:00:00Z"
    assert last_moment(found) == moment("2026-01-01T11:00:00Z")
    found["metadata"] |= {"deletionTimestamp": "2026-01-01T12:00:30Z", "deletionGracePeriodSeconds": 30}
    assert last_moment(found) == moment("2026-01-01T12:00:00Z")
