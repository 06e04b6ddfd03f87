"""Asks the application within this process, without a socket, and notes all that an answer has."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple, cast
from urllib.parse import unquote

from starlette.types import ASGIApp

from mooring.runway.rest.app import rest_app
from mooring.runway.rest.callers import Caller
from mooring.runway.rest.route import Route
from mooring.runway.rest.route_table import ROUTES
from mooring.runway.rest.service import RestService, ServiceFacts
from mooring.runway.settings import DEFAULT_SETTINGS

FACTS = ServiceFacts("https://cluster:6443", "1.2.3", "mooring", settings=DEFAULT_SETTINGS)
# What a server says when a body ends too early.
GONE: Mapping[str, Any] = {"type": "http.disconnect"}


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    data: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.data)


class OneCaller:
    """In the place of all callers: whoever has a token is this one."""

    def __init__(self, transport: Any = None, **more: Any) -> None:
        self.tokens: list[str] = []
        self.caller = cast(Caller, SimpleNamespace(transport=transport, uses=0, **more))

    async def get(self, token: str) -> Caller:
        self.tokens.append(token)
        return self.caller


def service(callers: Any, facts: ServiceFacts = FACTS) -> RestService:
    return RestService(callers, facts)


def application(callers: Any, routes: Sequence[Route] = ROUTES, names: Sequence[str] = ()) -> ASGIApp:
    return rest_app(service(callers), names, routes)


async def asked(
    app: ASGIApp,
    method: str,
    target: str,
    body: Any = None,
    headers: Mapping[str, str] = {"Authorization": "Bearer t"},
    receive: Callable[[], Awaitable[Any]] | None = None,
) -> Answer:
    """`body` is JSON, or bytes as they are; `receive` brings it otherwise."""
    path, _, query = target.partition("?")
    data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    pairs = [(name.lower().encode(), value.encode()) for name, value in {"Host": "127.0.0.1", **headers}.items()]
    scope = {
        "type": "http",
        "method": method,
        "path": unquote(path),
        "query_string": query.encode(),
        "headers": pairs,
        "scheme": "http",
        "server": ("127.0.0.1", 80),
    }
    sent: list[Any] = []

    async def whole() -> Any:
        return {"type": "http.request", "body": data, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive or whole, send)
    start = sent[0]
    told = {name.decode(): value.decode() for name, value in start["headers"]}
    return Answer(start["status"], told, b"".join(each.get("body", b"") for each in sent[1:]))


def ask(app: ASGIApp, method: str, target: str, body: Any = None, **more: Any) -> Answer:
    return asyncio.run(asked(app, method, target, body, **more))
