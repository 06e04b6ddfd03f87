"""Moments at which keys run again: the latest wish of a key counts, and polling is no reason to go on."""

from __future__ import annotations

from datetime import timedelta

from mooring.runtime.dispatcher.timers import Timers
from mooring.runtime.drivers.simulation import START

SOON, LATER = START + timedelta(seconds=1), START + timedelta(seconds=2)


def test_a_key_is_due_once_however_many_of_its_moments_have_come() -> None:
    timers: Timers[str] = Timers()
    timers.replace("a", {SOON, LATER}, set())
    assert timers.next() == SOON
    assert timers.due(LATER) == ["a"]
    assert timers.due(LATER) == []
    assert "a" not in timers


def test_moments_that_a_key_no_longer_asks_for_are_skipped() -> None:
    timers: Timers[str] = Timers()
    timers.replace("a", {SOON}, set())
    timers.replace("a", {LATER}, set())
    assert timers.next() == LATER
    assert timers.due(SOON) == []
    assert timers.all() == [(LATER, "a")]


def test_a_moment_that_is_more_than_a_poll_counts_as_one() -> None:
    timers: Timers[str] = Timers()
    timers.replace("a", set(), {SOON})
    assert timers.only_polls()
    timers.add_poll(LATER, "a")
    assert timers.only_polls()
    timers.add(SOON, "a")
    assert not timers.only_polls()
    timers.add_poll(SOON, "a")
    assert not timers.only_polls(), "a poll at the same moment takes nothing away"
