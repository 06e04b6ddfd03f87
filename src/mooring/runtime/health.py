"""Tells a cluster how the controllers are: `/readyz`, `/livez` and `/metrics` on a port of their own.

Ready means that every kind can be read. Alive means that every watch has been heard of lately: a process whose watches
have died without a word looks well in every other way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol

_PATIENCE: Final = 5.0
_LONGEST_HEAD: Final = 8192
_REASONS: Final = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    503: "Service Unavailable",
}


class Checked(Protocol):
    """What health is asked of; a `Live` is one."""

    @property
    def missing(self) -> Sequence[str]: ...

    @property
    def silent(self) -> Sequence[str]: ...

    def metrics_text(self) -> str: ...


class Reply(NamedTuple):
    status: int
    text: str


def answer(path: str, checked: Checked) -> Reply:
    """The answer to a request for a path."""
    match path.partition("?")[0]:
        case "/livez" | "/healthz":
            return _verdict(checked.silent)
        case "/readyz":
            return _verdict([*checked.missing, *checked.silent])
        case "/metrics":
            return Reply(200, checked.metrics_text())
    return Reply(404, "try /livez, /readyz or /metrics\n")


def _verdict(problems: Sequence[str]) -> Reply:
    return Reply(503, "\n".join(problems) + "\n") if problems else Reply(200, "ok\n")


class HealthServer:
    """Serves the answers on an address. One request a connection: probes and scrapes are seconds apart."""

    def __init__(self, checked: Checked) -> None:
        self._checked = checked
        self._server: asyncio.Server | None = None

    async def start(self, host: str, port: int) -> int:
        """Listen; returns the port, which is a free one if 0 was asked for."""
        self._server = await asyncio.start_server(self._handle, host, port, limit=_LONGEST_HEAD)
        found: int = self._server.sockets[0].getsockname()[1]
        return found

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_PATIENCE):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(_response(_reply(head, lambda path: answer(path, self._checked))))
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return
        finally:
            writer.close()


def _reply(head: bytes, answers: Callable[[str], Reply]) -> Reply:
    method, _, rest = head.partition(b"\r\n")[0].decode("latin-1").partition(" ")
    path, _, version = rest.partition(" ")
    if not version.startswith("HTTP/1"):
        return Reply(400, "this is not HTTP\n")
    if method not in ("GET", "HEAD"):
        return Reply(405, "GET is all that can be done here\n")
    return answers(path)


def _response(reply: Reply) -> bytes:
    body = reply.text.encode()
    lines = (
        f"HTTP/1.1 {reply.status} {_REASONS[reply.status]}",
        "Content-Type: text/plain; version=0.0.4; charset=utf-8",
        f"Content-Length: {len(body)}",
        "Connection: close",
    )
    return "\r\n".join((*lines, "", "")).encode() + body
