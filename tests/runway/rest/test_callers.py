"""Callers: as many as there is room for, forgotten when nobody asks any more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from mooring.client.access import Access
from mooring.kube.status import UnauthorizedError
from mooring.net.tls import client_context
from mooring.runway.rest import callers
from mooring.runway.rest.callers import Callers
from mooring.runway.rest.errors import RestError
from mooring.testing.homes import Home
from tests.runway.rest.serving import READER


def run(home: Home, story: Callable[[Callers], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        known = Callers(Access(home.url, client_context(authority=home.ca.read_bytes())))
        try:
            await story(known)
        finally:
            await known.close()

    asyncio.run(main())


def test_requests_with_one_token_share_one_mirror(embedded_home: Home) -> None:
    async def story(known: Callers) -> None:
        found = await asyncio.gather(*(known.get(embedded_home.token) for _ in range(5)))
        assert len(set(map(id, found))) == 1
        assert len(known) == 1

    run(embedded_home, story)


def test_tokens_that_are_not_accepted_take_no_room(embedded_home: Home) -> None:
    async def story(known: Callers) -> None:
        for number in range(5):
            with pytest.raises(UnauthorizedError):
                await known.get(f"nonsense-{number}")
        assert len(known) == 0

    run(embedded_home, story)


def test_the_one_who_asked_least_lately_makes_room(embedded_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callers, "MAX_CALLERS", 1)

    async def story(known: Callers) -> None:
        admin = await known.get(embedded_home.token)
        reader = await known.get(embedded_home.tokens[READER])
        assert len(known) == 1
        reader.uses += 1
        with pytest.raises(RestError, match="1 callers are served at this time"):
            await known.get(embedded_home.token)
        reader.uses -= 1
        assert await known.get(embedded_home.token) is not admin

    run(embedded_home, story)


def test_who_is_silent_for_long_is_forgotten(embedded_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callers, "HEARTBEAT_SECONDS", 0.01)
    monkeypatch.setattr(callers, "IDLE_SECONDS", 0.05)

    async def story(known: Callers) -> None:
        looking = asyncio.create_task(known.look_after())
        busy = await known.get(embedded_home.token)
        busy.uses += 1
        await known.get(embedded_home.tokens[READER])
        assert len(known) == 2
        async with asyncio.timeout(10):
            while len(known) > 1:
                await asyncio.sleep(0.01)
        assert await known.get(embedded_home.token) is busy
        looking.cancel()

    run(embedded_home, story)
