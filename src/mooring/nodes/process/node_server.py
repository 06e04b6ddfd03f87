"""The node's own endpoint: logs, commands in pods and what they use, for the API server, with the paths of a kubelet.

It listens on the loopback address only, shows a certificate of the cluster's authority, and answers nobody but the one
who has the token; the node itself knows only the token's hash.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ssl
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import parse_qs

import msgspec

from mooring.kube.objects import Object
from mooring.net.asgi import Receive, Scope, Send, send_whole
from mooring.net.server import HttpServer
from mooring.nodes.process.logs import LogOptions, LogWriter, read_log, stamp
from mooring.nodes.process.pods.worker import NoLog
from mooring.nodes.process.streams.endpoint import ROOTS, StreamEndpoint

__all__ = ["NodeServer", "options_of"]

HOST: Final = "127.0.0.1"
_TEXT: Final = b"text/plain"
_CLOSE: Final = (b"connection", b"close")


class PodLogs(Protocol):
    def __call__(
        self, namespace: str, pod: str, container: str, *, previous: bool
    ) -> tuple[Path, LogWriter | None]: ...


class _Refusal(Exception):
    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class NodeServer:
    """`caller` is the SHA-256, in hexadecimal, of the token of the one who may ask.

    Without `summary` it is not told what anything uses.
    """

    def __init__(
        self,
        logs: PodLogs,
        streams: StreamEndpoint,
        caller: str,
        summary: Callable[[], Awaitable[Object]] | None = None,
    ) -> None:
        self._logs = logs
        self._summary = summary
        self._streams = streams
        self._caller = caller
        self._http = HttpServer(self._serve)

    async def start(self, tls: ssl.SSLContext | None, port: int = 0) -> int:
        """Listen; the port, a free one if 0 was asked for."""
        return await self._http.listen(HOST, port, tls)

    async def close(self) -> None:
        """Close. A client that follows a log is cut off; the missing last chunk tells it so. Streams end."""
        self._http.close()
        await self._http.finish(0.0)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._authenticate(scope)
            root, *parts = scope["path"].strip("/").split("/")
            query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
            if root in ROOTS:
                await self._streams.serve(scope, receive, send, (root, *parts), query)
                return
            if root == "healthz":
                await send_whole(send, 200, _TEXT, b"ok", _CLOSE)
                return
            if (root, *parts) == ("stats", "summary") and scope["method"] == "GET" and self._summary is not None:
                await send_whole(send, 200, b"application/json", msgspec.json.encode(await self._summary()), _CLOSE)
                return
            lines = self._lines(scope, root, parts, {name: values[0] for name, values in query.items()})
        except _Refusal as refusal:
            await send_whole(send, refusal.status, _TEXT, str(refusal).encode(), _CLOSE)
            return
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", _TEXT), _CLOSE]})
        leaving = asyncio.create_task(_left(receive))
        sending = asyncio.create_task(_send(lines, send))
        try:
            await asyncio.wait((leaving, sending), return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
        finally:
            for task in (leaving, sending):
                task.cancel()
            await asyncio.gather(leaving, sending, return_exceptions=True)

    def _authenticate(self, scope: Scope) -> None:
        given = hashlib.sha256(_token(scope)).hexdigest()
        if not hmac.compare_digest(given, self._caller):
            raise _Refusal(401, "Unauthorized")

    def _lines(self, scope: Scope, root: str, parts: list[str], query: dict[str, str]) -> AsyncGenerator[bytes]:
        if scope["method"] != "GET":
            raise _Refusal(405, "GET is all that can be done here")
        if root != "containerLogs" or len(parts) != 3:
            raise _Refusal(404, "404 page not found")
        try:
            options = options_of(query, time.time_ns())
            path, writer = self._logs(*parts, previous=query.get("previous") == "true")
        except (ValueError, NoLog) as error:
            raise _Refusal(400, str(error)) from None
        return read_log(path, options, writer)


def _token(scope: Scope) -> bytes:
    given: bytes = dict(scope["headers"]).get(b"authorization", b"")
    return given.strip().removeprefix(b"Bearer ").strip()


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send(lines: AsyncGenerator[bytes], send: Send) -> None:
    async with aclosing(lines):
        with suppress(FileNotFoundError):
            async for data in lines:
                await send({"type": "http.response.body", "body": data, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def options_of(query: dict[str, str], now: int) -> LogOptions:
    """What is wanted of a log, from the words of the kubelet's API. `now` is in nanoseconds."""
    since = ""
    if seconds := query.get("sinceSeconds"):
        since = stamp(now - int(seconds) * 10**9)
    if moment := query.get("sinceTime"):
        since = stamp(int(datetime.fromisoformat(moment).astimezone(UTC).timestamp()) * 10**9)
    return LogOptions(
        follow=query.get("follow") == "true",
        tail=int(query["tailLines"]) if "tailLines" in query else None,
        since=since,
        timestamps=query.get("timestamps") == "true",
        limit=int(query["limitBytes"]) if "limitBytes" in query else None,
    )
