"""Why the writes of keys were refused, for the keys that want to say so in a condition."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

from mooring.runtime.dispatcher.outcome import Outcome

K = TypeVar("K", bound=Hashable)


class Problems(Generic[K]):
    def __init__(self) -> None:
        self._problems: dict[K, str] = {}
        # The keys that asked for theirs.
        self._asking: set[K] = set()

    def get(self, key: K) -> str:
        return self._problems.get(key, "")

    def asked(self, key: K, asks: bool) -> None:
        """Whether a key asked for its problem in its last run."""
        (self._asking.add if asks else self._asking.discard)(key)

    def record(self, key: K, outcome: Outcome) -> bool:
        """Take in what came of a run; whether the key asked about that and its answer is another one now."""
        problem = outcome.terminal or ("" if outcome.stale else outcome.failed) or outcome.postponed
        if problem == self._problems.get(key, ""):
            return False
        if problem:
            self._problems[key] = problem
        else:
            del self._problems[key]
        return key in self._asking

    def forget(self, key: K) -> None:
        self._problems.pop(key, None)
        self._asking.discard(key)
