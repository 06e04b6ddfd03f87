"""A server of things that a mirror follows, which tells what it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

import msgspec

from mooring.client.transport import EVERYTHING, Batch, Change, Page, Scope
from mooring.kube.objects import Object
from mooring.runway.rest.mirror.direct_topic import direct_topic
from mooring.runway.rest.mirror.follower import FollowedKind, Follower
from mooring.runway.rest.mirror.mirror import Mirror

ONE = frozenset({"things"})


def thing(name: str, value: int = 0, namespace: str = "") -> Object:
    return {"metadata": {"name": name, "namespace": namespace}, "value": value}


def value_of(raw: msgspec.Raw) -> int:
    found: int = msgspec.json.decode(raw)["value"]
    return found


THING = FollowedKind("v1", "Thing", value_of, Scope("x", "a=b"))


class Server:
    """Lists what it is given, and tells what is put into its watches."""

    def __init__(self, *things: Object, error: Exception | None = None) -> None:
        self.things = list(things)
        self.error = error
        self.asked: list[Any] = []
        self.news: asyncio.Queue[list[Change] | Exception] = asyncio.Queue()
        self.go_on = asyncio.Event()
        self.go_on.set()

    async def list(self, api_version: str, kind: str, scope: Scope = EVERYTHING) -> AsyncGenerator[Page]:
        self.asked.append(("list", api_version, kind, scope))
        await self.go_on.wait()
        if self.error is not None:
            raise self.error
        yield Page(self.things[:1], "5")
        yield Page([msgspec.Raw(msgspec.json.encode(each)) for each in self.things[1:]], "5")

    async def watch(
        self, api_version: str, kind: str, resource_version: str, scope: Scope = EVERYTHING
    ) -> AsyncGenerator[Batch]:
        self.asked.append(("watch", api_version, kind, resource_version, scope))
        yield Batch((), resource_version)
        while True:
            found = await self.news.get()
            if isinstance(found, Exception):
                raise found
            yield Batch(found, "6")

    async def tell(self, *changes: tuple[str, Object]) -> None:
        self.news.put_nowait([Change(*each) for each in changes])
        await settle()


async def settle() -> None:
    """Let all that can go on do so."""
    for _ in range(20):
        await asyncio.sleep(0)


def is_refused(follower: Follower) -> bool:
    return follower.is_refused


def error_of(follower: Follower) -> str:
    return str(follower.error or "")


def play(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(20):
            await story()

    asyncio.run(main())


def mirror(server: Any, *kinds: FollowedKind, **roles: tuple[FollowedKind, ...]) -> Mirror:
    source, told = direct_topic("things", kinds[0])
    given: Any = {"custom": (), **roles} if roles else {}
    return Mirror(server, [source._replace(**given)], lambda followed: told)


def is_due(found: Mirror) -> bool:
    return found._flush_due is not None
