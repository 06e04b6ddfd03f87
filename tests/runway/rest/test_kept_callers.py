"""Which callers are kept, who makes room, and who is looked after: on a clock of ours."""

from __future__ import annotations

import asyncio
import hashlib

import pytest

from mooring.client.access import Access
from mooring.kube.status import UnauthorizedError
from mooring.runway.rest import callers as module
from mooring.runway.rest.callers import Caller, digest_of
from mooring.runway.rest.errors import RestError
from mooring.runway.rest.mirror.sources import CallerMirror
from tests.runway.rest.caller_world import ADA, Server, World, play


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def test_a_token_is_kept_by_its_digest_alone(world: World) -> None:
    assert digest_of("ü") == hashlib.sha256("ü".encode()).hexdigest()

    async def story() -> None:
        own = Access("OWN")
        known = world.callers(own=own)
        first = await known.get("own")
        assert first.access is own
        second = await known.get("other")
        assert second.access.headers() == {"Authorization": "Bearer other"}
        assert second.access.server == "S"
        assert await known.get("other") is second
        assert list(known._callers) == [digest_of("own"), digest_of("other")]
        assert world.made == ["OWN", "Bearer other"]
        await known.close()
        assert [each.closed for each in world.servers.values()] == [1, 1]
        assert len(known) == 0

    play(story)


def test_one_token_at_the_same_moment_is_one_caller_and_what_was_too_much_is_closed(world: World) -> None:
    async def story() -> None:
        known = world.callers()
        found = await asyncio.gather(*(known.get("t") for _ in range(3)))
        assert len({id(each) for each in found}) == 1
        assert world.servers["t"].closed == 2
        await known.close()
        assert world.servers["t"].closed == 3

    play(story)


def test_a_token_that_is_not_accepted_is_closed_and_one_that_has_ended_is_forgotten(world: World) -> None:
    async def story() -> None:
        known = world.callers()
        server = world.servers["t"] = Server()
        server.user = UnauthorizedError("no")
        with pytest.raises(UnauthorizedError):
            await known.get("t")
        assert (server.closed, len(known)) == (1, 0)
        server.user = {"userInfo": ADA}
        await known.get("t")
        server.user, world.now = UnauthorizedError("over"), world.now + 10
        with pytest.raises(UnauthorizedError):
            await known.get("t")
        assert len(known) == 0
        await known.close()
        assert server.closed == 2

    play(story)


def test_who_asked_least_lately_makes_room_and_a_full_house_says_so(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_CALLERS", 3)

    async def story() -> None:
        known = world.callers()
        for token in "abc":
            world.now += 1
            await known.get(token)
        world.now += 1
        await known.get("a")
        await known.get("d")
        assert {*known._callers} == {digest_of(token) for token in "acd"}, "b asked least lately"
        for caller in known._callers.values():
            caller.uses = 1
        with pytest.raises(RestError, match=r"^3 callers are served at this time; try again later$") as refused:
            await known.get("e")
        assert refused.value.status == 503
        assert world.servers["e"].closed == 1
        await known.close()
        assert [world.servers[token].closed for token in "abcde"] == [1] * 5

    play(story)


def test_who_is_silent_is_forgotten_and_streams_are_told_and_checked(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds: list[float] = []
    go_on = asyncio.Event()

    async def sleep(seconds: float) -> None:
        rounds.append(seconds)
        go_on.clear()
        await go_on.wait()

    checked: list[CallerMirror] = []

    async def check(caller: Caller) -> None:
        checked.append(caller.mirror)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    monkeypatch.setattr(Caller, "check", check)

    async def next_round() -> None:
        before = len(rounds)
        go_on.set()
        waits = asyncio.get_running_loop()
        while len(rounds) == before:
            turn: asyncio.Future[None] = waits.create_future()
            waits.call_soon(turn.set_result, None)
            await turn

    async def story() -> None:
        known = world.callers()
        for token in "ab":
            world.servers[token] = Server()
        a, b = Caller(Access("A"), lambda: world.now), Caller(Access("B"), lambda: world.now)
        known._callers = {"a": a, "b": b}
        b.uses = 1
        looking = asyncio.create_task(known.look_after())
        world.now += 120
        await next_round()
        await next_round()
        assert {*known._callers} == {"a", "b"}, "two minutes are not yet too long"
        assert (a.mirror.heartbeats, b.mirror.heartbeats) == (1, 1)
        assert checked == [b.mirror]
        world.now += 0.1
        await next_round()
        assert {*known._callers} == {"b"}
        assert (a.mirror.heartbeats, b.mirror.heartbeats) == (1, 2)
        assert checked == [b.mirror] * 2
        assert rounds == [15.0] * len(rounds)
        looking.cancel()
        await known.close()
        assert [world.servers[name].closed for name in ("A", "B")] == [1, 1]

    play(story)
