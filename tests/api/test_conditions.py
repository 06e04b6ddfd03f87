"""Conditions are set by one rule, whether they are typed or plain."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from mooring.api.conditions import (
    changed_conditions,
    condition_objects,
    find_condition,
    is_true,
    set_conditions,
    without_condition,
)
from mooring.api.core.views import Node
from mooring.api.meta import Condition
from mooring.kube import conditions as plain
from mooring.kube.objects import Object
from mooring.kube.times import timestamp

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(minutes=5)
BEGAN, NOW = timestamp(NOON), timestamp(LATER)
READY = {"type": "Ready", "status": "True", "reason": "AllReady", "message": "3 of 3", "lastTransitionTime": BEGAN}
OTHER = {"type": "Audited", "status": "True", "lastTransitionTime": BEGAN}

Set = Callable[[list[Object], list[Object]], list[Object] | None]


def typed_rule(known: list[Object], wanted: list[Object]) -> list[Object] | None:
    return changed_conditions(conditions(*known), conditions(*wanted), LATER)


def plain_rule(known: list[Object], wanted: list[Object]) -> list[Object] | None:
    return plain.set_conditions(known, wanted, NOW)


@pytest.fixture(params=[typed_rule, plain_rule])
def rule(request: pytest.FixtureRequest) -> Any:
    return request.param


def conditions(*objects: Object) -> tuple[Condition, ...]:
    return msgspec.convert(objects, tuple[Condition, ...])


def wanted(status: str, reason: str = "AllReady", message: str = "3 of 3") -> list[Object]:
    return [{"type": "Ready", "status": status, "reason": reason, "message": message}]


def test_a_new_condition_begins_now_and_stands_at_the_end(rule: Set) -> None:
    assert rule([OTHER], wanted("True")) == [OTHER, {**READY, "lastTransitionTime": NOW}]


def test_a_condition_that_says_the_same_is_no_change(rule: Set) -> None:
    assert rule([READY, OTHER], wanted("True")) is None


def test_a_status_that_moves_moves_the_time_and_leaves_the_others_alone(rule: Set) -> None:
    lost = {**READY, "status": "False", "reason": "Lost", "message": "gone", "lastTransitionTime": NOW}
    assert rule([READY, OTHER], wanted("False", "Lost", "gone")) == [lost, OTHER]


@pytest.mark.parametrize("words", [("AllReady", "4 of 4"), ("MoreReady", "3 of 3")])
def test_other_words_do_not_move_the_time(rule: Set, words: tuple[str, str]) -> None:
    reason, message = words
    assert rule([OTHER, READY], wanted("True", *words)) == [OTHER, {**READY, "reason": reason, "message": message}]


def test_a_time_that_nobody_wrote_is_filled_in_with_a_change(rule: Set) -> None:
    timeless = {name: value for name, value in READY.items() if name != "lastTransitionTime"}
    assert rule([timeless], wanted("True", "MoreReady")) == [
        {**READY, "reason": "MoreReady", "lastTransitionTime": NOW}
    ]


def test_conditions_are_found_and_asked_by_type() -> None:
    typed = conditions(READY, {**OTHER, "status": "Unknown"})
    objects = [READY, {**OTHER, "status": "Unknown"}]
    assert is_true(typed, "Ready")
    assert plain.is_true(objects, "Ready")
    assert not is_true(typed, "Audited")
    assert not plain.is_true(objects, "Audited")
    assert not is_true(typed, "Missing")
    assert not plain.is_true(objects, "Missing")
    assert find_condition(typed, "Ready") == typed[0]
    assert plain.find_condition(objects, "Ready") is READY
    assert find_condition(typed, "Missing") is None
    assert plain.find_condition(objects, "Missing") is None
    assert without_condition(typed, "Ready") == typed[1:]


def test_an_unchanged_list_is_the_very_same_one() -> None:
    known = conditions(READY, OTHER)
    assert set_conditions(known, conditions(*wanted("True")), LATER) is known


def test_a_condition_that_carries_its_generation_follows_every_one() -> None:
    known = conditions({**READY, "observedGeneration": 3})
    newer = Condition("Ready", "True", "AllReady", "3 of 3", observed_generation=4)
    (found,) = set_conditions(known, (newer,), LATER)
    assert (found.observed_generation, found.last_transition_time) == (4, BEGAN)


def test_a_generation_that_is_only_noted_is_no_reason_to_write() -> None:
    known = conditions({**READY, "observedGeneration": 3})
    same, other = (Condition("Ready", "True", "AllReady", message) for message in ("3 of 3", "4 of 4"))
    assert set_conditions(known, (same,), LATER, generation=4) is known
    assert set_conditions(known, (other,), LATER, generation=4)[0].observed_generation == 4


@pytest.mark.parametrize("field", ["last_update_time", "last_probe_time"])
def test_a_time_that_is_asked_for_is_renewed(field: str) -> None:
    known = conditions(READY)
    (found,) = set_conditions(known, (msgspec.structs.replace(known[0], **{field: NOW}),), LATER)
    assert (getattr(found, field), found.last_transition_time) == (NOW, BEGAN)


def test_empty_fields_are_left_out_unless_the_kind_requires_them() -> None:
    bare = (Condition("Ready", "True"),)
    assert condition_objects(bare) == [{"type": "Ready", "status": "True"}]
    assert condition_objects(bare, complete=True) == [{"type": "Ready", "status": "True", "reason": "", "message": ""}]


def test_a_heartbeat_is_written_and_never_seen() -> None:
    beating = {**READY, "lastHeartbeatTime": NOW}
    assert condition_objects(conditions(READY), heartbeat=NOW) == [beating]
    seen, before = (msgspec.convert({"status": {"conditions": [each]}}, Node) for each in (beating, READY))
    assert seen == before
    assert seen.ready
