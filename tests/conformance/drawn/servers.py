"""The servers that are asked: a real one over keep-alive connections, and the embedded one's application in process."""

from __future__ import annotations

import asyncio
import http.client
import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from mooring.apiserver.app import Application
from mooring.apiserver.authentication.users import User
from mooring.apiserver.authorization.node import NodeAuthorizer
from mooring.net.asgi import Message
from mooring.registry import Registry
from mooring.registry.admission.stored_only import STORED_ONLY

NOW = datetime(2027, 3, 4, 5, 6, 7, tzinfo=UTC)
NODE = "system:node:drawn-node"
ADMINISTRATOR = ""
# By whom a request is sent; "" is an administrator.
USERS = {NODE: ("system:nodes",)}
# A real server does not know what else runs in its cluster, and says nothing.
_OURS = frozenset(each.warning for each in STORED_ONLY)


class Reply(NamedTuple):
    """What came back."""

    code: int
    body: Any
    warnings: list[str]


class Server(Protocol):
    def send(self, method: str, path: str, body: bytes | None, content: str, by: str = ADMINISTRATOR) -> Reply: ...


class RealServer:
    """One connection that stays, and a token for each of the users."""

    def __init__(self, url: str, ca: Path, tokens: dict[str, str]) -> None:
        host = url.removeprefix("https://")
        self._connection = http.client.HTTPSConnection(host, context=ssl.create_default_context(cafile=str(ca)))
        self._tokens = tokens

    def send(self, method: str, path: str, body: bytes | None, content: str, by: str = ADMINISTRATOR) -> Reply:
        headers = {"Authorization": f"Bearer {self._tokens[by]}", "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = content
        try:
            self._connection.request(method, path, body, headers)
            answer = self._connection.getresponse()
        except http.client.RemoteDisconnected:
            # So it does where it panics.
            self._connection.close()
            return Reply(0, "", [])
        text = answer.read()
        told = [_warning(each) for each in answer.headers.get_all("Warning", ())]
        return Reply(answer.status, json.loads(text) if text[:1] == b"{" else text.decode(), told)


class EmbeddedServer:
    """The application of the embedded server, without sockets and with a clock that stands."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self._runner = runner
        self.registry = Registry(now=NOW, seed=1)
        self.registry.bootstrap(now=NOW, host="10.1.2.3", port=6443)
        people = {
            "admin": User("kubernetes-admin", ("system:masters", "system:authenticated")),
            **{name: User(name, (*groups, "system:authenticated")) for name, groups in USERS.items()},
        }
        self._app = Application(
            self.registry,
            clock=lambda: NOW,
            authenticate=lambda token: people.get(token or ""),
            authorizers=[NodeAuthorizer(self.registry)],
        )

    def send(self, method: str, path: str, body: bytes | None, content: str, by: str = ADMINISTRATOR) -> Reply:
        target, _, query = path.partition("?")
        headers = [(b"authorization", b"Bearer " + (by or "admin").encode()), (b"accept", b"application/json")]
        if body is not None:
            headers.append((b"content-type", content.encode()))
        scope = {
            "type": "http",
            "method": method,
            "path": target,
            "query_string": query.encode(),
            "headers": headers,
            "client": ("127.0.0.1", 1),
        }
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": body or b"", "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        self._runner.run(self._app(scope, receive, send))
        text = b"".join(each.get("body", b"") for each in sent[1:])
        told = [value.decode() for name, value in sent[0]["headers"] if name.lower() == b"warning"]
        return Reply(
            sent[0]["status"],
            json.loads(text) if text[:1] == b"{" else text.decode(),
            [each for each in map(_warning, told) if each not in _OURS],
        )

    def stop(self) -> None:
        self._runner.run(self._stopped())

    async def _stopped(self) -> None:
        self._app.stop()
        self._app.group_commit.close()


def _warning(line: str) -> str:
    text = line.split(" ", 2)[2]
    return text.removeprefix('"').removesuffix('"').replace('\\"', '"').replace("\\\\", "\\")


@contextmanager
def embedded() -> Iterator[EmbeddedServer]:
    with asyncio.Runner() as runner:
        server = EmbeddedServer(runner)
        try:
            yield server
        finally:
            server.stop()
