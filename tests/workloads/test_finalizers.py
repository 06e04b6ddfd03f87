"""Finalizers are put on once, taken off once, and never take those of others along."""

from __future__ import annotations

from mooring.api.kinds import Key
from mooring.runtime.decision import Patch
from mooring.workloads.finalizers import (
    add_finalizer,
    has_finalizer,
    remove_finalizer,
    with_finalizer,
    without_finalizer,
)
from mooring.workloads.kinds import JOB
from tests.workloads.objects import bare

OURS, THEIRS = "example.com/ours", "example.com/theirs"
NOON = "2026-01-01T12:00:00Z"


def written(*names: str) -> tuple[Patch, ...]:
    return (Patch(JOB, Key("team", "train"), {"metadata": {"finalizers": list(names) or None}}),)


def test_a_finalizer_is_added_behind_those_of_others() -> None:
    assert add_finalizer(JOB, bare("train", finalizers=(THEIRS,)), OURS) == written(THEIRS, OURS)
    assert with_finalizer((THEIRS,), OURS) == [THEIRS, OURS]


def test_a_finalizer_that_is_on_is_not_written_again() -> None:
    held = bare("train", finalizers=(OURS, THEIRS))
    assert has_finalizer(held, OURS)
    assert add_finalizer(JOB, held, OURS) == ()
    assert with_finalizer((OURS, THEIRS), OURS) == [OURS, THEIRS]


def test_an_object_that_is_being_deleted_takes_no_finalizer() -> None:
    assert add_finalizer(JOB, bare("train", deletion_timestamp=NOON), OURS) == ()


def test_a_finalizer_is_removed_alone_and_the_last_one_with_the_field() -> None:
    assert remove_finalizer(JOB, bare("train", finalizers=(OURS, THEIRS)), OURS) == written(THEIRS)
    assert remove_finalizer(JOB, bare("train", finalizers=(OURS,)), OURS) == written()
    assert without_finalizer((OURS,), OURS) is None


def test_a_finalizer_that_is_off_is_not_removed_again() -> None:
    assert remove_finalizer(JOB, bare("train", finalizers=(THEIRS,)), OURS) == ()
