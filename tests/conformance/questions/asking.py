"""Two servers to ask: a real one over the network, and the embedded one as a function in this process."""

from __future__ import annotations

import asyncio
import http.client
import json
import ssl
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple, Protocol
from urllib.parse import unquote, urlsplit

from mooring.apiserver.app import Application
from mooring.apiserver.audit.audited import AuditedApplication
from mooring.apiserver.authentication.service_account_tokens import ServiceAccountTokens
from mooring.apiserver.authentication.signing_key import SigningKey
from mooring.apiserver.authentication.users import User
from mooring.apiserver.authorization.bootstrap import bootstrap_rbac
from mooring.apiserver.authorization.node import NodeAuthorizer
from mooring.kube.objects import Object
from mooring.net.asgi import Message, Scope
from mooring.registry import CheckedStorage, Registry
from mooring.testing.homes import Home
from tests.conformance.questions.people import ADMINISTRATOR, ANONYMOUS, PEOPLE

Headers = list[tuple[str, str]]
# A real server sends what happened well within this time.
SILENCE_SECONDS = 0.6
BOOKMARK_SECONDS = 5.0
# The embedded one does so while the loop goes round so often.
ROUNDS = 40
MOMENT_SECONDS = 0.001


class Reply(NamedTuple):
    code: int
    headers: Headers
    body: bytes


class Stream(Protocol):
    """An answer that goes on."""

    def settle(self) -> None:
        """Wait for the bookmark that ends what there was at the beginning."""

    def ended(self) -> Reply:
        """Everything that came until nothing more did."""


class Server(Protocol):
    def ask(self, method: str, target: str, headers: Headers, body: bytes, by: str) -> Reply: ...

    def watch(self, target: str, headers: Headers, by: str) -> Stream: ...

    def audited(self, audit_id: str) -> list[Object]:
        """The events of one request in the audit log."""

    def patience(self, seconds: float) -> None:
        """Let the server notice what was written."""


class RealServer:
    def __init__(self, home: Home) -> None:
        self._home = home
        parts = urlsplit(home.url)
        self._address = parts.hostname or "", parts.port or 443
        self._tls = ssl.create_default_context(cafile=str(home.ca))
        self._kept: http.client.HTTPConnection | None = None
        self._seen: dict[str, list[Object]] = {}
        self._read = 0

    @property
    def now(self) -> datetime:
        return datetime.now(UTC)

    def _connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPSConnection(*self._address, context=self._tls, timeout=30)

    def _token(self, by: str) -> Headers:
        if by == ANONYMOUS:
            return []
        token = self._home.token if by == ADMINISTRATOR else self._home.tokens[by]
        return [("Authorization", f"Bearer {token}")]

    def ask(self, method: str, target: str, headers: Headers, body: bytes, by: str) -> Reply:
        connection, self._kept = self._kept, None
        # What was kept may be closed by now; a new one that is closed without a word is all the answer there is.
        for each in (connection, None, None):
            try:
                return self._asked(each or self._connection(), method, target, [*self._token(by), *headers], body)
            except (ConnectionError, http.client.HTTPException):
                continue
        return Reply(0, [], b"")

    def _asked(
        self, connection: http.client.HTTPConnection, method: str, target: str, headers: Headers, body: bytes
    ) -> Reply:
        _send(connection, method, target, headers, body)
        answer = connection.getresponse()
        reply = Reply(answer.status, answer.getheaders(), answer.read())
        if answer.will_close:
            connection.close()
        else:
            self._kept = connection
        return reply

    def watch(self, target: str, headers: Headers, by: str) -> Stream:
        connection = self._connection()
        _send(connection, "GET", target, [*self._token(by), *headers], b"")
        return _RealStream(connection)

    def audited(self, audit_id: str) -> list[Object]:
        give_up = time.monotonic() + 2
        while time.monotonic() < give_up:
            events = self._home.audited()
            for event in events[self._read :]:
                self._seen.setdefault(event["auditID"], []).append(event)
            self._read = len(events)
            if any(event["stage"] == "ResponseComplete" for event in self._seen.get(audit_id, ())):
                break
            time.sleep(0.05)
        return self._seen.get(audit_id, [])

    def patience(self, seconds: float) -> None:
        time.sleep(seconds)


def _send(connection: http.client.HTTPConnection, method: str, target: str, headers: Headers, body: bytes) -> None:
    connection.putrequest(method, target, skip_accept_encoding=True)
    for name, value in headers:
        connection.putheader(name, value)
    if body or method not in ("GET", "HEAD", "OPTIONS"):
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body or None)


class _RealStream:
    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection
        self._answer = connection.getresponse()
        self._parts: list[bytes] = []
        self._silent = False

    def settle(self) -> None:
        give_up = time.monotonic() + BOOKMARK_SECONDS
        while b"BOOKMARK" not in b"".join(self._parts) and time.monotonic() < give_up:
            if not self._read(BOOKMARK_SECONDS):
                break

    def _read(self, seconds: float = SILENCE_SECONDS) -> bool:
        """Whether something came, before it was silent for too long."""
        if self._silent:
            return False
        if self._connection.sock is not None:
            self._connection.sock.settimeout(seconds)
        try:
            part = self._answer.read1(1 << 16)
        except TimeoutError:
            # Nothing can be read after that.
            part, self._silent = b"", True
        self._parts.append(part)
        return bool(part)

    def ended(self) -> Reply:
        while self._read():
            pass
        reply = Reply(self._answer.status, self._answer.getheaders(), b"".join(self._parts))
        self._connection.close()
        return reply


class EmbeddedServer:
    """The embedded server with a clock that stands, an audit log in memory, and users by their names."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.loop = asyncio.new_event_loop()
        self.storage = CheckedStorage()
        self.registry = Registry(self.storage, now=now, seed=1)
        find = partial(self.registry.find, "v1")
        accounts = ServiceAccountTokens(find, SigningKey(), lambda: self.now)
        self.registry.bootstrap(now=now, host="127.0.0.1", port=6443)
        bootstrap_rbac(self.registry, now=now)
        self._lines: list[bytes] = []

        async def made() -> Application:
            return Application(
                self.registry,
                clock=lambda: self.now,
                authenticate=_user,
                authorizers=[NodeAuthorizer(self.registry)],
                accounts=accounts,
            )

        self.application = self.loop.run_until_complete(made())
        self._app = AuditedApplication(self.application, self._lines.append, lambda: self.now)

    def close(self) -> None:
        self.loop.call_soon(self.application.stop)
        self.loop.run_until_complete(_turns(ROUNDS))
        self.application.group_commit.close()
        self.loop.close()
        self.storage.verify()

    def ask(self, method: str, target: str, headers: Headers, body: bytes, by: str) -> Reply:
        return self.loop.run_until_complete(self._ask(method, target, headers, body, by))

    async def _ask(self, method: str, target: str, headers: Headers, body: bytes, by: str) -> Reply:
        exchange = _Exchange(body)
        await self._app(_scope(method, target, headers, by), exchange.receive, exchange.send)
        reply = exchange.reply()
        # The server in front of it keeps the body of such an answer to itself.
        return reply._replace(body=b"") if method == "HEAD" else reply

    def watch(self, target: str, headers: Headers, by: str) -> Stream:
        return _EmbeddedStream(self, partial(self._watch, target, headers, by))

    async def _watch(self, target: str, headers: Headers, by: str, exchange: _Exchange) -> None:
        await self._app(_scope("GET", target, headers, by), exchange.receive, exchange.send)

    def audited(self, audit_id: str) -> list[Object]:
        wanted = audit_id.encode()
        return [json.loads(line) for line in self._lines if wanted in line]

    def settle(self) -> None:
        """Until all that was written has been told: there is a pause between two commits, and two broadcasts."""
        self.loop.run_until_complete(_turns(ROUNDS))
        while self._has_more_to_tell():
            self.loop.run_until_complete(asyncio.sleep(MOMENT_SECONDS))
        self.loop.run_until_complete(_turns(ROUNDS))

    def _has_more_to_tell(self) -> bool:
        commit, broadcasters = self.application.group_commit, self.application.watches._broadcasters.values()
        if commit._scheduled or commit._callbacks:
            return True
        return any(each._scheduled or each._delivering for each in broadcasters)

    def forget(self) -> None:
        self._lines.clear()

    def patience(self, seconds: float) -> None:
        """It has noticed already."""


async def _turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


class _Exchange:
    """What an application is given of a request, and what it sends."""

    def __init__(self, body: bytes) -> None:
        self._body: bytes | None = body
        self._gone = asyncio.Event()
        self._start: Message = {"status": 0, "headers": []}
        self._parts: list[bytes] = []

    async def receive(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
        else:
            self._parts.append(message.get("body", b""))

    def leave(self) -> None:
        self._gone.set()

    def reply(self) -> Reply:
        headers = [(name.decode("latin-1"), value.decode("utf-8")) for name, value in self._start["headers"]]
        return Reply(self._start["status"], headers, b"".join(self._parts))


class _EmbeddedStream:
    def __init__(self, server: EmbeddedServer, serve: Callable[[_Exchange], Any]) -> None:
        self._server, self._loop = server, server.loop
        self._exchange = _Exchange(b"")
        self._task = self._loop.create_task(serve(self._exchange))
        self._loop.run_until_complete(_turns(ROUNDS))

    def settle(self) -> None:
        """It says so at once."""

    def ended(self) -> Reply:
        self._server.settle()
        reply = self._exchange.reply()
        self._exchange.leave()
        self._loop.run_until_complete(self._task)
        return reply


def _scope(method: str, target: str, headers: Headers, by: str) -> Scope:
    path, _, query = target.partition("?")
    token = [] if by == ANONYMOUS else [("authorization", f"Bearer {by}")]
    lines = [(name.lower().encode("latin-1"), value.strip().encode("latin-1")) for name, value in [*token, *headers]]
    return {
        "type": "http",
        "method": method,
        "path": unquote(path),
        "raw_path": path.encode("latin-1"),
        "query_string": query.encode("latin-1"),
        "headers": lines,
        "client": ("127.0.0.1", 1),
    }


def _user(token: str | None) -> User | None:
    if token == ADMINISTRATOR:
        return User("kubernetes-admin", ("system:masters", "system:authenticated"), "admin")
    if token is not None and token in PEOPLE:
        return User(token, (*PEOPLE[token], "system:authenticated"))
    return None
