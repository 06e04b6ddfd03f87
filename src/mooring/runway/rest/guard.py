"""What no request gets past: a Host that is ours, an Origin that is this page, and a body of a sensible size.

There are no cookies, so no other site can act for a visitor; these checks hold where somebody points a name of their
own at this address (DNS rebinding) or opens the page in a frame of theirs.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mooring.runway.rest.errors import RestError
from mooring.runway.rest.responses import error_response

__all__ = ["Guard"]

MAX_BODY_BYTES: Final = 3 << 20
_LOCAL_NAMES: Final = frozenset({"localhost"})


class Guard:
    """`names` are the host names, besides addresses and localhost, by which this server may be reached."""

    def __init__(self, app: ASGIApp, names: Collection[str] = ()) -> None:
        self._app = app
        self._names = _LOCAL_NAMES | {name.lower() for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        problem = self._problem({name.lower(): value for name, value in scope["headers"]})
        if problem is not None:
            await error_response(problem)(scope, receive, send)
            return
        await self._app(scope, _bounded(receive), send)

    def _problem(self, headers: dict[bytes, bytes]) -> RestError | None:
        host = headers.get(b"host", b"").decode("latin-1")
        if not self._is_ours(host):
            return RestError(421, f'"{host}" is not a host name of this server; --allowed-host makes it one')
        origin = headers.get(b"origin")
        if origin is not None and origin.decode("latin-1").partition("://")[2] != host:
            return RestError(403, f'requests from pages of "{origin.decode("latin-1")}" are not answered')
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > MAX_BODY_BYTES:
            return RestError(413, f"a request has at most {MAX_BODY_BYTES:,} bytes")
        return None

    def _is_ours(self, host: str) -> bool:
        name = _name_of(host)
        return name.lower() in self._names or _is_address(name)


def _name_of(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _is_address(name: str) -> bool:
    """An address cannot be pointed elsewhere, as a name can."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _bounded(receive: Receive) -> Receive:
    """A body without a length may be as large, and no larger."""
    received = 0

    async def bounded() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > MAX_BODY_BYTES:
            raise RestError(413, f"a request has at most {MAX_BODY_BYTES:,} bytes")
        return message

    return bounded
