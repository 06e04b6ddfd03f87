"""`make simulations`: every feature under faults, with as many seeds as asked for, and which of them broke what.

`python -m tests.simulations --seeds 10000 hosts groups` plays these two. A seed that fails is named with its story;
`--first SEED --seeds 1` plays it again. How far it has come is said now and then, so that another run can go on there.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import islice
from typing import NamedTuple

from tests.simulations.stories import STORIES

# So many seeds are one piece of work.
CHUNK = 10
# Between two words about how far it has come.
TOLD_SECONDS = 60.0


class Played(NamedTuple):
    """What came of some seeds of one story: the seconds that it took, and what failed."""

    seconds: float
    failures: list[str]


def play(feature: str, name: str, seeds: range) -> Played:
    story, failures = STORIES[feature][name], []
    began = time.process_time()
    for seed in seeds:
        try:
            story(seed)
        except Exception:
            failures.append(f"{feature}: {name}, seed {seed}\n{traceback.format_exc(limit=-3)}")
    return Played(time.process_time() - began, failures)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulations", description=__doc__)
    parser.add_argument("features", nargs="*", help=f"which of {', '.join(STORIES)}; all of them")
    parser.add_argument("--seeds", type=int, default=10_000, help="how many seeds of each feature (10,000)")
    parser.add_argument("--first", type=int, default=0, help="the first of them (0)")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin none after this long, all together")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    given = parser.parse_args()
    features = given.features or list(STORIES)
    if unknown := [name for name in features if name not in STORIES]:
        parser.error(f"there is no feature {unknown[0]}; there are {', '.join(STORIES)}")
    broken = 0
    # What is imported by now stays: it need not be looked through for garbage, seed after seed.
    gc.freeze()
    with ProcessPoolExecutor(given.jobs) as pool:
        for feature in features:
            end = time.monotonic() + 60 * given.minutes / len(features)
            count, cpu, failures, told = 0, 0.0, list[str](), time.monotonic()
            # A few pieces at a time, so that the clock is looked at between them.
            for batch in batched(pieces(feature, given.first, given.seeds), given.jobs):
                if time.monotonic() > end:
                    break
                for piece, played in zip(batch, pool.map(partial(_star, feature), batch), strict=True):
                    count, cpu = count + len(piece[1]), cpu + played.seconds
                    failures += played.failures
                    for failure in played.failures:
                        print(failure, flush=True)
                if time.monotonic() > told + TOLD_SECONDS:
                    told = time.monotonic()
                    print(f"{feature}: {count} simulations, go on from seed {batch[0][1].start}", file=sys.stderr)
            print(f"{feature}: {count} simulations, {len(failures)} broken, {cpu:.0f} s of CPU", flush=True)
            broken += len(failures)
    return 1 if broken else 0


def pieces(feature: str, first: int, count: int) -> Iterator[tuple[str, range]]:
    """The seeds of a feature, shared between its stories."""
    stories = STORIES[feature]
    stop = first + -(-count // len(stories))
    for start in range(first, stop, CHUNK):
        for name in stories:
            yield name, range(start, min(start + CHUNK, stop))


def batched(pieces: Iterator[tuple[str, range]], size: int) -> Iterator[list[tuple[str, range]]]:
    while batch := list(islice(pieces, size)):
        yield batch


def _star(feature: str, piece: tuple[str, range]) -> Played:
    return play(feature, *piece)


if __name__ == "__main__":
    sys.exit(main())
