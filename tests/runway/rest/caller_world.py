"""A server whose answers about its callers are set, and a clock that is set by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

import pytest

from mooring.client.access import Access
from mooring.client.rest_mapper import RestMapping
from mooring.client.transport import EVERYTHING, Batch, Page, Request, Scope
from mooring.kube.objects import Object
from mooring.kube.status import NotFoundError
from mooring.runway.rest import callers as module
from mooring.runway.rest.callers import Caller, Callers, digest_of

ADA = {"username": "ada", "groups": ["people", "cats"]}
REVIEW, ACCESS = "SelfSubjectReview", "SelfSubjectAccessReview"


class Server:
    """A transport that answers reviews as it is told, and follows empty lists until it is closed."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.user: Object | Exception = {"userInfo": ADA}
        self.allows: bool | Exception | None = True
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


def play(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(20):
            await story()

    asyncio.run(main())
