"""The work queue: which keys run next.

A key never runs twice at once. A change while it runs gives exactly one more pass, however many changes there were. A
key that failed waits longer each time, with jitter, and starts over after a success.
"""

from __future__ import annotations

import random
from collections import deque
from datetime import timedelta
from typing import Generic, TypeVar

K = TypeVar("K")

INITIAL_BACKOFF = timedelta(milliseconds=5)
MAX_BACKOFF = timedelta(seconds=1000)


class WorkQueue(Generic[K]):
    def __init__(self, jitter: random.Random) -> None:
        self._jitter = jitter
        # Keys that may run, first in first out, and the same keys as a set.
        self._ready: deque[K] = deque()
        self._waiting: set[K] = set()
        # Keys that were taken and are not done. None of them is ready.
        self._running: set[K] = set()
        # Those running keys that get one more pass.
        self._again: set[K] = set()
        # How often each key failed since its last success.
        self._failures: dict[K, int] = {}

    def __len__(self) -> int:
        return len(self._ready)

    @property
    def running(self) -> int:
        return len(self._running)

    def add(self, key: K) -> None:
        if key in self._running:
            self._again.add(key)
        elif key not in self._waiting:
            self._waiting.add(key)
            self._ready.append(key)

    def take(self) -> K | None:
        if not self._ready:
            return None
        key = self._ready.popleft()
        self._waiting.discard(key)
        self._running.add(key)
        return key

    def done(self, key: K, *, held: bool = False) -> bool:
        """The run of a key has ended; returns whether there was a change meanwhile.

        That puts the key back into the queue, unless it is held: then it is for the caller to add it when it may run.
        """
        self._running.discard(key)
        changed = key in self._again
        self._again.discard(key)
        if changed and not held:
            self.add(key)
        return changed

    @property
    def ready(self) -> tuple[K, ...]:
        return tuple(self._ready)

    def validate(self) -> None:
        """Raise AssertionError unless every key is in one place only."""
        assert len(self._ready) == len(self._waiting), "a key is ready twice"
        assert set(self._ready) == self._waiting, "the set of ready keys is another one than the queue"
        assert not self._waiting & self._running, "a key is ready while it runs"
        assert self._again <= self._running, "a key is to run once more and does not run"

    def forget(self, key: K) -> None:
        """A success: the next failure waits the shortest time again."""
        self._failures.pop(key, None)

    def backoff(self, key: K) -> timedelta:
        """How long to wait after one more failure."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        delay: timedelta = min(INITIAL_BACKOFF * (1 << min(failures, 30)), MAX_BACKOFF)
        return delay * (1 + self._jitter.random() / 10)
