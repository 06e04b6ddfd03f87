"""The node's own endpoint, where the API server fetches logs: `/containerLogs/NAMESPACE/POD/CONTAINER`.

It listens on the loopback address only, shows a certificate of the cluster's authority, and answers nobody but the one
who has the token; the node itself knows only the token's hash.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ssl
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple, Protocol
from urllib.parse import parse_qs, unquote, urlsplit

from mooring.nodes.process.logs import LogOptions, LogWriter, read_log, stamp
from mooring.nodes.process.pod_worker import NoLog

__all__ = ["LogServer", "options_of"]

HOST: Final = "127.0.0.1"
_PATIENCE: Final = 10.0
_LONGEST_HEAD: Final = 16 << 10
_REASONS: Final = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 405: "Method Not Allowed"}


class Logs(Protocol):
    def __call__(
        self, namespace: str, pod: str, container: str, *, previous: bool
    ) -> tuple[Path, LogWriter | None]: ...


class _Refusal(Exception):
    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class _Asked(NamedTuple):
    method: str
    target: str
    token: str


class LogServer:
    """`caller` is the SHA-256, in hexadecimal, of the token of the one who may ask."""

    def __init__(self, logs: Logs, caller: str) -> None:
        self._logs = logs
        self._caller = caller
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def start(self, tls: ssl.SSLContext | None, port: int = 0) -> int:
        """Listen; the port, a free one if 0 was asked for."""
        self._server = await asyncio.start_server(self._handle, HOST, port, ssl=tls, limit=_LONGEST_HEAD)
        found: int = self._server.sockets[0].getsockname()[1]
        return found

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in tuple(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            await self._answer(reader, writer)
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return
        except asyncio.CancelledError:
            # The node stops. That the answer is not whole shows in its missing end.
            return
        finally:
            self._open.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_PATIENCE):
            asked = _read_head(await reader.readuntil(b"\r\n\r\n"))
        try:
            lines = self._lines(asked)
        except _Refusal as refusal:
            body = str(refusal).encode()
            writer.write(_head(refusal.status, f"Content-Length: {len(body)}") + body)
            await writer.drain()
            return
        writer.write(_head(200, "Transfer-Encoding: chunked"))
        leaving = asyncio.create_task(reader.read(1))
        sending = asyncio.create_task(_send(lines, writer))
        try:
            await asyncio.wait((leaving, sending), return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
        finally:
            for task in (leaving, sending):
                task.cancel()
            await asyncio.gather(leaving, sending, return_exceptions=True)

    def _lines(self, asked: _Asked) -> AsyncGenerator[bytes]:
        given = hashlib.sha256(asked.token.encode()).hexdigest()
        if not hmac.compare_digest(given, self._caller):
            raise _Refusal(401, "Unauthorized")
        if asked.method != "GET":
            raise _Refusal(405, "GET is all that can be done here")
        place = urlsplit(asked.target)
        root, *parts = [unquote(part) for part in place.path.strip("/").split("/")]
        if root != "containerLogs" or len(parts) != 3:
            raise _Refusal(404, "404 page not found")
        query = {name: values[0] for name, values in parse_qs(place.query).items()}
        try:
            options = options_of(query, time.time_ns())
            path, writer = self._logs(*parts, previous=query.get("previous") == "true")
        except (ValueError, NoLog) as error:
            raise _Refusal(400, str(error)) from None
        return read_log(path, options, writer)


async def _send(lines: AsyncGenerator[bytes], writer: asyncio.StreamWriter) -> None:
    async with aclosing(lines):
        with suppress(FileNotFoundError):
            async for data in lines:
                writer.write(b"%x\r\n%s\r\n" % (len(data), data))
                await writer.drain()
    writer.write(b"0\r\n\r\n")
    await writer.drain()


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


def _read_head(head: bytes) -> _Asked:
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, *_ = (*first.split(" "), "", "")
    token = ""
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip().lower() == "authorization":
            token = value.strip().removeprefix("Bearer ").strip()
    return _Asked(method, target, token)


def _head(status: int, *headers: str) -> bytes:
    lines = (f"HTTP/1.1 {status} {_REASONS[status]}", "Content-Type: text/plain", "Connection: close", *headers)
    return "\r\n".join((*lines, "", "")).encode()
