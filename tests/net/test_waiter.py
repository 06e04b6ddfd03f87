"""What a request waits for: it ends once, however often it is opened, and resumes the request at once."""

from __future__ import annotations

import asyncio

import pytest

from mooring.net.waiter import Waiter
from tests.client.stories import awaited


@awaited
async def test_what_was_opened_once_stays_as_it_is() -> None:
    resumed: list[str] = []
    waiter = Waiter()
    waiter.then = lambda: resumed.append("now")
    waiter.open()
    waiter.open(ValueError("too late"))
    assert resumed == ["now"]
    await waiter


@awaited
async def test_a_refusal_is_raised_where_it_is_waited_for() -> None:
    waiter = Waiter()
    waiter.open(ValueError("the disk is full"))
    with pytest.raises(ValueError, match="the disk is full"):
        await waiter


@awaited
async def test_nothing_resumes_a_request_whose_client_has_gone() -> None:
    resumed: list[str] = []
    waiter = Waiter()
    waiter.then = lambda: resumed.append("now")
    waiter.cancel()
    waiter.open()
    assert resumed == []
    with pytest.raises(asyncio.CancelledError):
        await waiter
