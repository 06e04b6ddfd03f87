"""Followers: what is told of each change of a kind, and what an error leaves."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from mooring.client.transport import Unreachable
from mooring.kube.objects import Object
from mooring.kube.status import ForbiddenError
from mooring.runway.rest.mirror import follower as following
from mooring.runway.rest.mirror.follower import FirstListOverdue, FollowedKind, Follower
from tests.runway.rest.mirror.things import (
    THING,
    Server,
    error_of,
    is_refused,
    play,
    settle,
    thing,
)


def test_a_follower_tells_of_each_record_that_becomes_another() -> None:
    async def story() -> None:
        server, told = Server(thing("a", 1), thing("b", 2, "n")), []
        follower = Follower(server, THING, lambda *change: told.append(change))
        await follower.ready()
        await settle()
        assert told == [("a", None, 1), ("n/b", None, 2)]
        assert server.asked == [("list", "v1", "Thing", THING.scope), ("watch", "v1", "Thing", "5", THING.scope)]
        await server.tell(("MODIFIED", thing("a", 1)), ("MODIFIED", thing("a", 3)), ("BOOKMARK", thing("c", 0)))
        await server.tell(("ADDED", thing("c", 4)), ("DELETED", thing("b", 2, "n")), ("DELETED", thing("z")))
        assert told[2:] == [("a", 1, 3), ("c", None, 4), ("n/b", 2, None)]
        assert follower.records == {"a": 3, "c": 4}
        await follower.close()
        assert follower._task.done()
        await asyncio.wait_for(follower.ready(), 1)

    play(story)


def test_what_is_not_in_the_next_list_is_gone() -> None:
    async def story() -> None:
        told: list[Any] = []
        follower = Follower(Server(), THING, lambda *change: told.append(change))
        await follower.ready()
        lists: list[list[list[Object]]] = [[[thing("a", 1)], [thing("b", 1)]], [[thing("b", 2)]], [[]]]
        for pages in lists:
            told.clear()
            follower.begin()
            for page in pages:
                follower.page(page)
            follower.listed("9")
        assert told == [("b", 2, None)]
        follower.begin()
        follower.page([thing("c", 1)])
        follower.begin()
        follower.listed("10")
        assert follower.records == {}, "what an unfinished list had is not in the next one"
        await follower.close()

    play(story)


def test_a_refusal_is_remembered_as_it_was_said_until_it_is_taken_back() -> None:
    async def story() -> None:
        server = Server(thing("a", 1), error=ForbiddenError("never"))
        told: list[Any] = []
        follower = Follower(server, THING, lambda *change: told.append(change))
        with pytest.raises(ForbiddenError, match="never"):
            await follower.ready()
        assert is_refused(follower)
        follower.begin()
        follower.page([thing("a", 1)])
        follower.listed("7")
        await follower.ready()
        assert not is_refused(follower)
        follower.refuse(ForbiddenError("any more"))
        assert (follower.records, told) == ({}, [("a", None, 1), ("a", 1, None)])
        with pytest.raises(ForbiddenError, match="any more"):
            await follower.ready()
        await follower.close()

    play(story)


def test_a_server_that_is_away_takes_no_records_along() -> None:
    async def story() -> None:
        server = Server(thing("a", 1))
        follower = Follower(server, THING, lambda *change: None)
        await follower.ready()
        await settle()
        server.news.put_nowait(Unreachable("gone"))
        await settle()
        assert isinstance(follower.error, Unreachable)
        await follower.ready()
        assert follower.records == {"a": 1}
        follower.troubled("it is away")
        assert error_of(follower) == "gone"
        follower.troubled("")
        assert error_of(follower) == ""
        await follower.close()

    play(story)


def test_a_mistake_of_ours_does_not_look_like_an_empty_list() -> None:
    def wrong(raw: msgspec.Raw) -> int:
        raise ValueError("of ours")

    async def story() -> None:
        follower = Follower(Server(thing("a")), FollowedKind("v1", "Thing", wrong), lambda *change: None)
        with pytest.raises(ValueError, match="of ours"):
            await follower.ready()
        follower = Follower(Server(), THING, lambda *change: None)
        await follower.ready()
        await follower.close()
        assert follower.error is None, "an end that was asked for is no mistake"

    play(story)


def test_a_first_list_is_waited_for_only_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "FIRST_LIST_SECONDS", 0.0)

    async def story() -> None:
        server = Server()
        server.go_on.clear()
        follower = Follower(server, THING, lambda *change: None)
        text = "^the API server has not listed Thing objects within 0 s; try again$"
        with pytest.raises(FirstListOverdue, match=text):
            await follower.ready()
        await follower.close()

    play(story)
