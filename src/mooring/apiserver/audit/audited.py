"""An application with an audit log: every request and its outcome is recorded on its way through.

What the application finds out about a request (its sender, whether it is allowed, which object it holds) it puts into
the record, which is `scope["audit"]`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime
from typing import Final

from mooring.apiserver.audit.event import AuditRecord, Stage, is_long_running, source_addresses
from mooring.apiserver.authentication.users import ANONYMOUS
from mooring.apiserver.authorization.attributes import Attributes
from mooring.apiserver.authorization.request_attributes import request_attributes
from mooring.apiserver.messages.request import HttpRequest
from mooring.apiserver.routing import parse_path
from mooring.kube.status import ApiError
from mooring.net.asgi import App, Header, Message, Receive, Scope, Send
from mooring.net.byte_stream import ByteStream

__all__ = ["AuditedApplication"]

_CLOSED_EARLY: Final = b'{"kind":"Status","status":"Success","message":"Connection closed early"}'


class AuditedApplication:
    """The same application; `append` takes a line of the log."""

    def __init__(self, app: App, append: Callable[[bytes], None], clock: Callable[[], datetime]) -> None:
        self._app, self._append, self._clock = app, append, clock
        # Ids need not be secret, and the system's randomness costs more than the rest of a line.
        self._bits = random.Random().getrandbits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = _AuditedExchange(scope, send, self._append, self._clock, self._new_id)
        try:
            await self._app(scope, receive, exchange.send)
        finally:
            exchange.end()

    def _new_id(self) -> str:
        """A random UUID, of version 4."""
        text = f"{self._bits(128):032x}"
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{'89ab'[int(text[16], 16) & 3]}{text[17:20]}-{text[20:]}"


class _AuditedExchange:
    """One request. Its code is 0 until an answer has begun."""

    __slots__ = ("_about", "_append", "_begun", "_body", "_clock", "_code", "_id", "_record", "_request", "_send")

    def __init__(
        self,
        scope: Scope,
        send: Send,
        append: Callable[[bytes], None],
        clock: Callable[[], datetime],
        new_id: Callable[[], str],
    ) -> None:
        self._send, self._append, self._clock = send, append, clock
        self._code, self._body, self._begun = 0, b"", False
        self._about: Attributes | None = None
        self._request = request = HttpRequest(scope, _nothing)
        given = request.header(b"audit-id") or new_id()
        self._id: Header = (b"audit-id", given.encode("latin-1"))
        forwarded, real = request.header(b"x-forwarded-for"), request.header(b"x-real-ip")
        query = request.query_string
        self._record = scope["audit"] = AuditRecord(
            given,
            clock(),
            f"{request.raw_path}?{query}" if query else request.raw_path,
            request.header(b"user-agent"),
            source_addresses(request.client, forwarded, real),
        )
        if (upgrade := scope.get("upgrade")) is not None:

            def audited(headers: list[Header]) -> ByteStream:
                self._code = 101
                self._start()
                stream: ByteStream = upgrade(headers)
                return stream

            scope["upgrade"] = audited

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._code = message["status"]
            if self._code < 400 and is_long_running(self._attributes()):
                self._start()
            message = {**message, "headers": [*message["headers"], self._id]}
        elif not self._begun:
            # The Status of a refusal comes whole, and before anything is streamed.
            self._body = message.get("body", b"")
            self._start()
        await self._send(message)

    def _start(self) -> None:
        self._begun = True
        # A sender who is not known is all there is to say, and kube-apiserver says it when the answer begins.
        if self._record.sender is None or is_long_running(self._attributes()):
            self._note("ResponseStarted")

    def end(self) -> None:
        if not self._code:
            self._code, self._body = 200, _CLOSED_EARLY
        if not self._begun:
            self._start()
        if self._record.sender is not None:
            self._note("ResponseComplete")

    def _attributes(self) -> Attributes:
        if self._about is None:
            self._about = self._record.attributes()
        if self._about is None:
            request = self._request
            try:
                self._about = request_attributes(request, parse_path(request.path))
            except ApiError:
                # A query that cannot be read, which is what the answer says.
                self._about = Attributes(ANONYMOUS, request.method.lower())
        return self._about

    def _note(self, stage: Stage) -> None:
        self._append(self._record.line(stage, self._attributes(), self._code, self._body, self._clock()))


async def _nothing() -> Message:
    return {"type": "http.disconnect"}
