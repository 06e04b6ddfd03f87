"""Every conformance test is either run or has a reason why it is not, and no more of them get one."""

from __future__ import annotations

from mooring.testing.fixtures import missing
from mooring.testing.tools import ToolMissing, tool
from tests.conformance.e2e import lists

# How many are left out. It may only become less.
MOST_LEFT_OUT = 221


def test_the_tests_that_are_left_out_become_fewer() -> None:
    assert len(_left_out()) <= MOST_LEFT_OUT


def test_every_test_that_is_left_out_has_a_reason() -> None:
    assert all(len(reason) > 20 and names for reason, names in lists.left_out().items())
    assert len(set(_left_out())) == len(_left_out())


def test_the_tests_that_are_run_and_those_that_are_left_out_are_all_that_there_are() -> None:
    try:
        binary = tool("e2e.test")
    except ToolMissing as error:
        missing(error)
    assert sorted([*lists.run(), *_left_out()]) == sorted(lists.known_to(binary))


def test_the_quick_ones_are_some_of_those_that_are_run() -> None:
    assert set(lists.quick()) < set(lists.run())


def _left_out() -> list[str]:
    return [name for names in lists.left_out().values() for name in names]
