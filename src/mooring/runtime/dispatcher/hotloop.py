"""Finds keys in a hot loop: they write the same objects again and again, woken by nothing but their own writes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final, Generic, TypeVar

from mooring.api.kinds import Key
from mooring.client.transport import Request

K = TypeVar("K", bound=Hashable)
Written = tuple[str, str, str, str]

# A key that its own writes have woken this often in a row, and that wrote each time, is in a hot loop.
HOT_LOOP_RUNS: Final = 25


class HotLoops(Generic[K]):
    def __init__(self) -> None:
        # Keys in a hot loop, by what they were about to do.
        self.found: dict[K, str] = {}
        # What a key wrote last, and how often in a row it wrote some of that again for its own sake.
        self._runs: dict[K, tuple[set[Written], int]] = {}

    def forget(self, key: K) -> None:
        """A change that the key did not make itself gave it a reason to run, or its object is gone."""
        self._runs.pop(key, None)

    def wrote(self, key: K, stages: Sequence[Sequence[Request]]) -> None:
        """What a run is about to write."""
        if not stages:
            self._runs.pop(key, None)
            return
        written: set[Written] = {(r.verb, r.kind, r.namespace, r.name) for stage in stages for r in stage}
        before, times = self._runs.get(key, (set(), 0))
        if not written & before:
            # Nothing, or other objects than before: that is progress.
            times = 0
        self._runs[key] = written, times + 1
        if times >= HOT_LOOP_RUNS:
            first = next(request for stage in stages for request in stage)
            self.found[key] = f"{first.verb} {first.kind} {Key(first.namespace, first.name)} again and again"
