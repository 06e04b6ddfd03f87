"""Tells a cluster how the controllers are: `/readyz`, `/livez` and `/metrics` on a port of their own.

Ready means that every kind can be read. Alive means that every watch has been heard of lately: a process whose watches
have died without a word looks well in every other way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from mooring.net.asgi import Receive, Scope, Send, send_whole
from mooring.net.server import HttpServer

_TEXT: Final = b"text/plain; version=0.0.4; charset=utf-8"
_FINISH_SECONDS: Final = 1.0


class Checked(Protocol):
    """What health is asked of; a `Live` is one."""

    @property
    def missing(self) -> Sequence[str]: ...

    @property
    def silent(self) -> Sequence[str]: ...

    def metrics_text(self) -> str: ...


class HealthReply(NamedTuple):
    status: int
    text: str


def answer(path: str, checked: Checked) -> HealthReply:
    """The answer to a request for a path."""
    match path:
        case "/livez" | "/healthz":
            return _verdict(checked.silent)
        case "/readyz":
            return _verdict([*checked.missing, *checked.silent])
        case "/metrics":
            return HealthReply(200, checked.metrics_text())
    return HealthReply(404, "try /livez, /readyz or /metrics\n")


def _verdict(problems: Sequence[str]) -> HealthReply:
    return HealthReply(503, "\n".join(problems) + "\n") if problems else HealthReply(200, "ok\n")


class HealthServer:
    """Serves the answers on an address. One request a connection: probes and scrapes are seconds apart."""

    def __init__(self, checked: Checked) -> None:
        self._checked = checked
        self._http = HttpServer(self._serve)

    async def start(self, host: str, port: int) -> int:
        """Listen; returns the port, which is a free one if 0 was asked for."""
        return await self._http.listen(host, port)

    async def close(self) -> None:
        self._http.close()
        await self._http.finish(_FINISH_SECONDS)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] in ("GET", "HEAD"):
            status, text = answer(scope["path"], self._checked)
        else:
            status, text = 405, "GET is all that can be done here\n"
        await send_whole(send, status, _TEXT, text.encode(), (b"connection", b"close"))
