"""The work queue keeps keys apart and lets failures wait."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from random import Random

from mooring.runtime.dispatcher.queue import MAX_BACKOFF, WorkQueue


def test_a_key_in_line_is_in_line_once() -> None:
    queue: WorkQueue[str] = WorkQueue(Random(0))
    for _ in range(3):
        queue.add("a")
    assert queue.take() == "a"
    assert queue.take() is None


def test_a_key_never_runs_twice_at_once_and_many_changes_give_one_more_pass() -> None:
    queue: WorkQueue[str] = WorkQueue(Random(0))
    queue.add("a")
    queue.take()
    for _ in range(5):
        queue.add("a")
    assert queue.take() is None
    queue.done("a")
    assert queue.take() == "a"
    queue.done("a")
    assert queue.take() is None


def test_failures_wait_longer_each_time_with_jitter_and_a_success_starts_over() -> None:
    queue: WorkQueue[str] = WorkQueue(Random(0))
    delays = [queue.backoff("a") for _ in range(30)]
    assert timedelta(milliseconds=5) <= delays[0] <= timedelta(milliseconds=5.5)
    assert all(1.8 < later / sooner < 2.3 for sooner, later in pairwise(delays[:16]))
    assert max(delays) <= MAX_BACKOFF * 1.1
    assert len({delay / MAX_BACKOFF for delay in delays[-5:]}) == 5
    queue.forget("a")
    assert queue.backoff("a") < timedelta(milliseconds=6)
