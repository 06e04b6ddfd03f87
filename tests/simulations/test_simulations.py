"""No feature is left out of the simulations, and their books are kept well."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from mooring.catalog import CATALOG
from mooring.runtime.drivers.faults import Faults
from tests.simulations.__main__ import CHUNK, Played, Tally, campaign, figures, play
from tests.simulations.extent import FULL, Extent, drawn
from tests.simulations.stories import STORIES

SEEDS = range(300)


def test_every_feature_has_a_seeded_story() -> None:
    # These take part in the stories of the others.
    everywhere = {"control-plane", "nodes", "simulated-node-claims"}
    assert {each.name for each in CATALOG.features} - everywhere == STORIES.keys() - {"builtin"}


@pytest.mark.parametrize("feature", STORIES)
def test_a_small_seed_of_every_story_ends_well(feature: str) -> None:
    small = (seed for seed in range(1000, 1100) if drawn(seed) == Extent(small=True, sparse=True))
    for story, seed in zip(STORIES[feature].values(), small, strict=False):
        story(seed)


def test_most_seeds_are_small_and_some_are_as_large_as_those_of_the_suite() -> None:
    extents = [drawn(seed) for seed in SEEDS]
    assert 15 < sum(not each.small for each in extents) < 50
    assert 15 < sum(not each.sparse for each in extents) < 50
    assert FULL in extents


def test_a_small_world_has_from_the_least_to_the_most_and_rather_few() -> None:
    draw = Random(1)
    counts = [Extent(small=True).of(5, draw, least=2) for _ in SEEDS]
    assert set(counts) == {2, 3, 4, 5}
    assert counts.count(2) > counts.count(3) > counts.count(4) > counts.count(5)
    before = draw.getstate()
    assert FULL.of(5, draw, least=2) == 5
    assert draw.getstate() == before


def test_few_faults_are_some_kinds_at_the_rate_of_all_and_seldom_crashes() -> None:
    every = Faults.everything(0.1)
    assert FULL.faults(0.1, 7) == every
    found = [Extent(sparse=True).faults(0.1, seed) for seed in SEEDS]
    kinds = [name for name in vars(every) if name not in ("crash", "idle")]
    for name in kinds:
        assert {getattr(each, name) for each in found} == {0.0, getattr(every, name)}, name
    assert sorted({each.crash for each in found}) == pytest.approx([0.0, 0.0125, 0.025])
    for each in found:
        assert each.idle == (every.idle if each.expire or each.repeat else 0.0)
        assert replace(each, crash=0.0, idle=0.0) != Faults(), "a seed without any fault"


def test_a_story_that_breaks_is_told_with_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    def story(seed: int) -> None:
        assert seed != 7, "seven is lost"

    monkeypatch.setattr("tests.simulations.__main__.STORIES", {"hosts": {"broken": story}})
    played = play("hosts", range(10))
    assert len(played.failures) == 1
    assert played.failures[0].startswith("hosts: broken, seed 7\n")
    assert "seven is lost" in played.failures[0]


def test_a_feature_with_two_stories_plays_every_seed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: dict[str, list[int]] = {"one": [], "two": []}
    monkeypatch.setattr(
        "tests.simulations.__main__.STORIES", {"hosts": {name: each.append for name, each in seeds.items()}}
    )
    play("hosts", range(3, 8))
    assert seeds == {"one": [4, 6], "two": [3, 5, 7]}


class Pool(Executor):
    """Carries pieces out when it is told to, the last one first."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, range]] = []
        self.most = 0
        self._open: list[Callable[[], None]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        feature, seeds = args
        future: Future[Any] = Future()
        self.begun.append((feature, seeds))
        self._open.append(lambda: future.set_result(Played(len(seeds), [f"{feature} {s}" for s in seeds if s == 23])))
        self.most = max(self.most, len(self._open))
        return future

    def end_one(self) -> None:
        self._open.pop()()


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Pool:
    made = Pool()

    def wait(futures: Any, return_when: str) -> Any:
        made.end_one()
        return type("Done", (), {"done": {each for each in futures if each.done()}})

    monkeypatch.setattr("tests.simulations.__main__.wait", wait)
    return made


def test_pieces_of_all_features_are_played_and_counted(pool: Pool, capsys: pytest.CaptureFixture[str]) -> None:
    tallies = [Tally("hosts", 5, 33), Tally("groups", 5, 12)]
    campaign(pool, tallies, jobs=3, seconds=60)
    assert pool.most == 3
    assert [(name, *seeds) for name, seeds in pool.begun] == [
        ("hosts", *range(5, 15)),
        ("hosts", *range(15, 25)),
        ("hosts", *range(25, 35)),
        ("hosts", *range(35, 38)),
        ("groups", *range(5, 15)),
        ("groups", *range(15, 17)),
    ]
    assert capsys.readouterr().out == "hosts 23\n"
    assert list(figures(tallies, 2.0)) == [
        "hosts: 33 simulations, 1 broken, 33 s of CPU, 1.000 s for each; go on with --first 38",
        "groups: 12 simulations, 0 broken, 12 s of CPU, 1.000 s for each; go on with --first 17",
        "all: 45 simulations, 1 broken, 45 s of CPU in 2 minutes",
    ]


def test_when_its_time_is_over_a_feature_makes_room_for_the_next(pool: Pool) -> None:
    now: Iterator[float] = iter(range(1000))
    tallies = [Tally("hosts", 0, 1000), Tally("groups", 0, 1000)]
    campaign(pool, tallies, jobs=1, seconds=5.0, clock=lambda: next(now))
    hosts, groups = tallies
    assert 0 < hosts.count < 1000
    assert 0 < groups.count < 1000
    # All that was begun was ended, so that nothing before the next seed is missing.
    assert (hosts.next, groups.next) == (hosts.count, groups.count)


def test_another_run_goes_on_where_every_seed_before_was_played() -> None:
    tally = Tally("hosts", 100, 1000)
    pieces = [tally.begin() for _ in range(3)]
    assert tally.next == 100
    for piece in (pieces[0], pieces[2]):
        assert piece is not None
        tally.end(piece, Played(1.0, []))
    assert tally.next == 100 + CHUNK
    assert pieces[1] is not None
    tally.end(pieces[1], Played(1.0, []))
    assert tally.next == 100 + 3 * CHUNK


def test_an_interrupt_ends_what_was_begun(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    noted = []

    def end(self: Tally, piece: range, played: Played) -> None:
        noted.append(piece.start)
        ended(self, piece, played)
        if len(noted) == 2:
            raise KeyboardInterrupt

    ended = Tally.end
    monkeypatch.setattr(Tally, "end", end)
    tally = Tally("hosts", 0, 1000)
    campaign(pool, [tally], jobs=3, seconds=60)
    assert len(noted) == len(pool.begun) == 4
    assert (tally.count, tally.next) == (40, 40)
