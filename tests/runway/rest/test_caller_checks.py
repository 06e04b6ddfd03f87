"""What is asked about a caller again and when, and what follows from the answers: on a clock of ours."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mooring.client.transport import Request, UnknownOutcome, Unreachable
from mooring.kube.errors import MooringError
from mooring.kube.status import ForbiddenError, MethodNotAllowedError, NotFoundError, UnauthorizedError
from mooring.runway.rest.callers import CallerIdentity
from tests.runway.rest.caller_world import ACCESS, REVIEW, World, play


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def test_who_somebody_is_is_asked_again_after_a_while_and_once_for_many(world: World) -> None:
    async def story() -> None:
        caller, server = world.caller()
        assert (
            await asyncio.gather(*(caller.user() for _ in range(3))) == [CallerIdentity("ada", ("people", "cats"))] * 3
        )
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
def test_a_server_that_does_not_say_what_is_allowed_takes_nothing_away(world: World, allows: Any, serves: bool) -> None:
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
            with pytest.raises(ForbiddenError, match=r'^User "ada" cannot patch Installation objects$'):
                await caller.require("patch", "runway.mooring.dev/v1alpha1", "Installation")
        first = next(each for each in server.asked if each.kind == ACCESS)
        attributes = {"verb": "patch", "group": "runway.mooring.dev", "resource": "installations", "namespace": ""}
        assert first.body["spec"] == {"resourceAttributes": attributes}
        await caller.close()

    play(story)
