"""A set of many groups is not observed with every change of a pod, and a small one is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, cast

import msgspec

from mooring.api.kinds import Key
from mooring.features.groups.api import LeaderWorkerSet
from mooring.features.groups.controller import SetMemory, reconcile
from mooring.features.groups.kinds import LEADER_WORKER_SET
from mooring.runtime.decision import Decision
from mooring.runtime.view import View

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


class _Goes(Exception):
    """The set is observed."""


class _Looked:
    """What the controller asks before it observes anything."""

    def __init__(self, groups: int, observed_at: datetime | None) -> None:
        obj = {"metadata": {"name": "n", "namespace": "ml"}, "spec": {"replicas": groups}}
        self._set = msgspec.convert(obj, LeaderWorkerSet)
        self._memory = None if observed_at is None else SetMemory(observed_at)
        self.awaited: list[datetime] = []

    def get(self, kind: Any, *_: Any) -> LeaderWorkerSet:
        if kind is not LEADER_WORKER_SET:
            raise _Goes
        return self._set

    def memory(self, _: Any) -> SetMemory | None:
        return self._memory

    def reached(self, moment: datetime) -> bool:
        self.awaited.append(moment)
        return moment <= NOW


def waits(groups: int, milliseconds: int | None) -> list[datetime]:
    """The moments that are waited for before the set is observed; none where it is at once."""
    observed_at = None if milliseconds is None else NOW - timedelta(milliseconds=milliseconds)
    looked = _Looked(groups, observed_at)
    try:
        decision = reconcile(Key("ml", "n"), cast(View, looked), NOW)
    except _Goes:
        return []
    assert observed_at is not None
    assert decision == Decision(memory=SetMemory(observed_at))
    return looked.awaited


def test_a_large_set_is_observed_five_times_a_second() -> None:
    assert waits(51, 199) == [NOW + timedelta(milliseconds=1)]
    assert waits(51, 0) == [NOW + timedelta(milliseconds=200)]
    assert waits(51, 200) == []
    assert waits(51, None) == []


def test_a_set_of_fifty_groups_is_observed_at_every_change() -> None:
    assert waits(50, 0) == []
    assert waits(1, 0) == []
