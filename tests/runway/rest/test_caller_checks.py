"""What is asked about a caller again and when, what follows from the answers, and who is looked after: on a clock of ours."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

import pytest

from mooring.client.access import Access
from mooring.client.rest_mapper import RestMapping
from mooring.client.transport import EVERYTHING, Batch, Page, Request, Scope, UnknownOutcome, Unreachable
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.status import ForbiddenError, MethodNotAllowedError, NotFoundError, UnauthorizedError
from mooring.runway.rest import callers as module
from mooring.runway.rest.callers import Caller, CallerIdentity, Callers, digest_of
from mooring.runway.rest.errors import RestError
from mooring.runway.rest.mirror.sources import CallerMirror

ADA = {"username": "ada", "groups": ["people", "cats"]}
REVIEW, ACCESS = "SelfSubjectReview", "SelfSubjectAccessReview"


class Server:
    """A transport that answers reviews as it is told, and follows empty lists until it is closed."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.user: Object | Exception = {"userInfo": ADA}
        self.allows: bool | None | Exception = True
        self.serves = True
        self.closed = 0

    def count(self, kind: str) -> int:
        return len([each for each in self.asked if each.kind == kind])

    async def write(self, request: Request) -> Object:
        self.asked.append(request)
        await asyncio.sleep(0)
        found = self.user if request.kind == REVIEW else self.allows
        if isinstance(found, Exception):
            raise found
        if request.kind == REVIEW:
            return {"status": found}
        return {"status": {"allowed": found}} if found is not None else {}

    async def mapping(self, api_version: str, kind: str) -> RestMapping:
        if not self.serves:
            raise NotFoundError(f"no {kind}")
        return RestMapping(api_version, f"{kind.lower()}s", True)

    async def list(self, api_version: str, kind: str, scope: Scope = EVERYTHING) -> AsyncGenerator[Page]:
        yield Page((), "1")

    async def watch(
        self, api_version: str, kind: str, resource_version: str, scope: Scope = EVERYTHING
    ) -> AsyncGenerator[Batch]:
        yield Batch((), "1")
        await asyncio.Event().wait()

    async def close(self) -> None:
        self.closed += 1


class World:
    """One server, callers of it as they come, and a clock that is set by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self.servers: dict[str, Server] = {}
        self.made: list[str] = []
        monkeypatch.setattr(module, "HttpTransport", self._transport)

    def _transport(self, access: Access, agent: str) -> Server:
        assert agent == "mooring-ui"
        token = str(access.headers().get("Authorization", access.server))
        self.made.append(token)
        return self.servers.setdefault(token.removeprefix("Bearer "), Server())

    def caller(self) -> tuple[Caller, Server]:
        server = self.servers["S"] = Server()
        return Caller(Access("S"), lambda: self.now), server

    def callers(self, **own: Access) -> Callers:
        return Callers(Access("S"), {digest_of(token): access for token, access in own.items()}, lambda: self.now)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def play(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(20):
            await story()

    asyncio.run(main())


def test_who_somebody_is_is_asked_again_after_a_while_and_once_for_many(world: World) -> None:
    async def story() -> None:
        caller, server = world.caller()
        assert await asyncio.gather(*(caller.user() for _ in range(3))) == [
            CallerIdentity("ada", ("people", "cats"))
        ] * 3
        assert server.count(REVIEW) == 1
        assert server.asked[0] == Request("create", "authentication.k8s.io/v1", REVIEW, "", "", server.asked[0].body)
        assert server.asked[0].body == {"apiVersion": "authentication.k8s.io/v1", "kind": REVIEW, "spec": {}}
        for later, times in ((9.9, 1), (0.1, 2), (9.9, 2), (0.2, 3)):
            world.now += later
            await caller.user()
            assert server.count(REVIEW) == times, later
        await caller.close()
        assert server.closed == 1

    play(story)


@pytest.mark.parametrize("status", [None, {}, {"userInfo": None}, {"userInfo": {"username": "", "groups": None}}])
def test_a_server_that_says_little_of_who_asks_has_a_caller_without_a_name(world: World, status: Any) -> None:
    async def story() -> None:
        caller, server = world.caller()
        server.user = status
        assert await caller.user() == CallerIdentity("", ())
        await caller.close()

    play(story)


@pytest.mark.parametrize("error", [ForbiddenError("no"), NotFoundError("old"), MethodNotAllowedError("old")])
def test_a_server_that_tells_nobody_who_they_are_has_accepted_them(world: World, error: Exception) -> None:
    async def story() -> None:
        caller, server = world.caller()
        await caller.user()
        server.user, world.now = error, world.now + 10
        assert await caller.user() == CallerIdentity("ada", ("people", "cats")), "as it was before"
        assert caller.mirror.ended is None
        await caller.user()
        assert server.count(REVIEW) == 2, "and is not asked every time"
        await caller.close()

    play(story)


def test_credentials_that_have_ended_end_the_streams_and_are_asked_about_each_time(world: World) -> None:
    async def story() -> None:
        caller, server = world.caller()
        server.user = UnauthorizedError("over")
        for times in (1, 2):
            with pytest.raises(UnauthorizedError, match="over"):
                await caller.user()
            assert server.count(REVIEW) == times
        assert caller.mirror.ended is server.user
        await caller.close()

    play(story)


def test_a_kind_is_asked_about_again_after_a_while_with_its_names(world: World) -> None:
    async def story() -> None:
        caller, server = world.caller()
        await caller.topic("events")
        assert server.count(ACCESS) == 0, "it was just listed"
        await caller.topic("events")
        world.now += 9.9
        await caller.topic("events")
        assert server.count(ACCESS) == 0
        world.now += 0.1
        await asyncio.gather(*(caller.topic("events") for _ in range(3)))
        (asked,) = [each for each in server.asked if each.kind == ACCESS]
        attributes = {"verb": "list", "group": "", "resource": "events", "namespace": ""}
        spec = {"resourceAttributes": attributes}
        body = {"apiVersion": "authorization.k8s.io/v1", "kind": ACCESS, "spec": spec}
        assert asked == Request("create", "authorization.k8s.io/v1", ACCESS, "", "", body)
        world.now += 10
        await caller.topic("events")
        assert server.count(ACCESS) == 2
        assert caller.mirror.names == {"events"}
        await caller.close()

    play(story)


def test_a_group_and_a_namespace_are_asked_about_by_name(world: World) -> None:
    async def story() -> None:
        caller, server = world.caller()
        await caller.topic("pools")
        await caller.check()
        world.now += 10
        await caller.check()
        asked = {
            (each["resource"], each["group"], each["namespace"])
            for each in (one.body["spec"]["resourceAttributes"] for one in server.asked if one.kind == ACCESS)
        }
        assert ("configmaps", "", "kube-system") in asked
        assert ("machinedeployments", "cluster.x-k8s.io", "") in asked
        await caller.close()

    play(story)


def test_what_may_not_be_read_any_more_is_refused_by_name_and_the_mirror_is_another(world: World) -> None:
    async def story() -> None:
        caller, server = world.caller()
        await caller.topic("events")
        before = caller.mirror
        await caller.check()
        server.allows, world.now = False, world.now + 10
        await caller.check()
        assert str(before.ended) == 'User "ada" cannot list Event objects any more'
        assert caller.mirror is not before
        assert caller.mirror.ended is None
        assert not caller.mirror.names
        assert all(each._task.done() for each in before.followers.values()), "the old one is closed"
        server.allows = True
        await caller.topic("events")
        assert server.count(ACCESS) == 1, "what is followed anew is asked about anew"
        await caller.close()

    play(story)


def test_a_mirror_that_has_ended_is_another_before_a_topic_is_given(world: World) -> None:
    async def story() -> None:
        caller, _ = world.caller()
        await caller.topic("events")
        before = caller.mirror
        before.end(ForbiddenError("over"))
        await caller.topic("events")
        assert caller.mirror is not before
        await caller.close()

    play(story)


@pytest.mark.parametrize(
    ("allows", "serves"), [(ForbiddenError("no"), True), (MethodNotAllowedError("old"), True), (True, False)]
)
def test_a_server_that_does_not_say_what_is_allowed_takes_nothing_away(
    world: World, allows: Any, serves: bool
) -> None:
    async def story() -> None:
        caller, server = world.caller()
        await caller.topic("events")
        await caller.check()
        server.allows, server.serves, world.now = allows, serves, world.now + 10
        await caller.check_topics(("events",))
        assert caller.mirror.ended is None
        assert caller.mirror.names == {"events"}
        await caller.close()

    play(story)


@pytest.mark.parametrize("error", [UnknownOutcome("cut"), Unreachable("away"), UnauthorizedError("over")])
def test_a_check_that_is_not_answered_decides_nothing_for_streams(world: World, error: MooringError) -> None:
    async def story() -> None:
        caller, server = world.caller()
        await caller.topic("events")
        server.user, world.now = error, world.now + 10
        await caller.check()
        assert (caller.mirror.ended is not None) is isinstance(error, UnauthorizedError)
        if not isinstance(error, UnauthorizedError):
            with pytest.raises(type(error)):
                await caller.check_topics(("events",))
        await caller.close()

    play(story)


def test_what_nobody_may_do_is_refused_in_a_sentence(world: World) -> None:
    async def story() -> None:
        caller, server = world.caller()
        await caller.require("patch", "runway.mooring.dev/v1alpha1", "Installation")
        for answer in (False, None):
            server.allows = answer
            with pytest.raises(ForbiddenError, match='^User "ada" cannot patch Installation objects$'):
                await caller.require("patch", "runway.mooring.dev/v1alpha1", "Installation")
        first = next(each for each in server.asked if each.kind == ACCESS)
        attributes = {"verb": "patch", "group": "runway.mooring.dev", "resource": "installations", "namespace": ""}
        assert first.body["spec"] == {"resourceAttributes": attributes}
        await caller.close()

    play(story)


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
        with pytest.raises(RestError, match="^3 callers are served at this time; try again later$") as refused:
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

    monkeypatch.setattr(module.asyncio, "sleep", sleep)
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
