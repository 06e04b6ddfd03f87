"""The event loop of a process tells what goes wrong, and nothing about connections that were given up."""

from __future__ import annotations

import asyncio
import logging

import pytest

from mooring.runtime.drivers.eventloop import run


async def _trouble(why: str) -> None:
    context = {"message": "Fatal error on SSL protocol", "exception": RuntimeError(why)}
    asyncio.get_running_loop().call_exception_handler(context)


@pytest.mark.parametrize(
    ("why", "told"),
    [("unable to perform operation on <TCPTransport>; the handler is closed", False), ("something else", True)],
)
def test_a_connection_that_was_given_up_is_not_told_of(why: str, told: bool, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        run(_trouble(why))
    assert ("Fatal error on SSL protocol" in caplog.text) is told


def test_what_a_coroutine_gives_is_given_on() -> None:
    async def answer() -> int:
        return 7

    assert run(answer()) == 7
