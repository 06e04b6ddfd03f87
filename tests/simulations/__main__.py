"""`make simulations`: every feature under faults, with as many seeds as asked for, and which of them broke what.

`python -m tests.simulations --seeds 10000 hosts groups` plays these two. Each seed of a feature is one simulation: a
feature with several stories plays them in turns, seed after seed. A seed that fails is named with its story, and
`--first SEED --seeds 1` plays it again. From which seed another run goes on is said now and then, after Ctrl-C, and in
the end, when every seed before it was played.
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from typing import NamedTuple

from tests.simulations.stories import STORIES

# So many seeds are one piece of work.
CHUNK = 10
# Between two words about how far it has come.
TOLD_SECONDS = 60.0


class Played(NamedTuple):
    """What came of some seeds of one feature: the seconds that they took, and what failed."""

    seconds: float
    failures: list[str]


def play(feature: str, seeds: range) -> Played:
    stories, failures = list(STORIES[feature].items()), []
    began = time.process_time()
    for seed in seeds:
        name, story = stories[seed % len(stories)]
        try:
            story(seed)
        except Exception:
            failures.append(f"{feature}: {name}, seed {seed}\n{traceback.format_exc(limit=-3)}")
    return Played(time.process_time() - began, failures)


class Tally:
    """What was played of one feature. Pieces end in any order; those that are begun are all ended."""

    def __init__(self, feature: str, first: int, count: int) -> None:
        self.feature = feature
        self.count = self.broken = 0
        self.seconds = 0.0
        self._left = range(first, first + count)
        self._begun: dict[int, range] = {}

    def begin(self) -> range | None:
        """The next piece, if there is one."""
        piece, self._left = self._left[:CHUNK], self._left[CHUNK:]
        if not piece:
            return None
        self._begun[piece.start] = piece
        return piece

    def end(self, piece: range, played: Played) -> None:
        del self._begun[piece.start]
        self.count += len(piece)
        self.broken += len(played.failures)
        self.seconds += played.seconds

    def stop(self) -> None:
        """Begin nothing more."""
        self._left = self._left[:0]

    @property
    def next(self) -> int:
        """Every seed before this one was played."""
        return min(self._begun, default=self._left.start)

    def __str__(self) -> str:
        each = f", {self.seconds / self.count:.3f} s for each" if self.count else ""
        return (
            f"{self.feature}: {self.count} simulations, {self.broken} broken, {self.seconds:.0f} s of CPU{each}; "
            f"go on with --first {self.next}"
        )


def campaign(
    pool: Executor, tallies: Iterable[Tally], *, jobs: int, seconds: float, clock: Callable[[], float] = time.monotonic
) -> None:
    """Play them in their order with so many pieces at a time, each feature for so long; another begins when none is
    left of the one before, and nobody waits for its last."""
    running: dict[Future[Played], tuple[Tally, range]] = {}
    told = clock()
    waiting = deque(tallies)
    end: float | None = None
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                end = clock() + seconds if end is None else end
                piece = waiting[0].begin() if clock() < end else None
                if piece is None:
                    waiting.popleft().stop()
                    end = None
                else:
                    running[pool.submit(play, waiting[0].feature, piece)] = waiting[0], piece
            done = _ended(running) if running else []
            for tally, piece, played in done:
                _note(tally, piece, played)
            if clock() > told + TOLD_SECONDS:
                told = clock()
                for tally in dict.fromkeys(tally for tally, _, _ in done):
                    print(tally, file=sys.stderr)
    except KeyboardInterrupt:
        print("ending what was begun", file=sys.stderr)
        while running:
            for tally, piece, played in _ended(running):
                _note(tally, piece, played)


def _ended(running: dict[Future[Played], tuple[Tally, range]]) -> list[tuple[Tally, range, Played]]:
    done = wait(running, return_when=FIRST_COMPLETED).done
    return [(*running.pop(each), each.result()) for each in [future for future in running if future in done]]


def _note(tally: Tally, piece: range, played: Played) -> None:
    tally.end(piece, played)
    for failure in played.failures:
        print(failure, flush=True)


def figures(tallies: Iterable[Tally], minutes: float) -> Iterator[str]:
    """A line for each feature, and one for all of them."""
    played = [each for each in tallies if each.count]
    yield from map(str, played)
    count, broken = sum(each.count for each in played), sum(each.broken for each in played)
    cpu = sum(each.seconds for each in played)
    yield f"all: {count} simulations, {broken} broken, {cpu:.0f} s of CPU in {minutes:.0f} minutes"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulations", description=__doc__)
    parser.add_argument("features", nargs="*", help=f"which of {', '.join(STORIES)}; all of them")
    parser.add_argument(
        "--seeds", type=int, default=10_000, help="how many seeds of each feature, its stories in turns (10,000)"
    )
    parser.add_argument("--first", type=int, default=0, help="the first of them (0)")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin none after this long, all together")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    given = parser.parse_args()
    features = given.features or list(STORIES)
    if unknown := [name for name in features if name not in STORIES]:
        parser.error(f"there is no feature {unknown[0]}; there are {', '.join(STORIES)}")
    tallies = [Tally(feature, given.first, given.seeds) for feature in features]
    began = time.monotonic()
    # What is imported by now stays: it need not be looked through for garbage, seed after seed.
    gc.freeze()
    # Ctrl-C is for this process alone.
    with ProcessPoolExecutor(given.jobs, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN)) as pool:
        campaign(pool, tallies, jobs=given.jobs, seconds=60 * given.minutes / len(features))
    for line in figures(tallies, (time.monotonic() - began) / 60):
        print(line, flush=True)
    return 1 if any(each.broken for each in tallies) else 0


if __name__ == "__main__":
    sys.exit(main())
