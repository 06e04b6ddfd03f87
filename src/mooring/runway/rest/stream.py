"""The stream of changes as server-sent events: resumed after a lost connection without a gap.

A client that does not read has nothing kept for it: its connection ends after a while, and when it comes back it gets
what it missed, or the whole list where that is too long ago.
"""

from __future__ import annotations

import asyncio
import time
from typing import Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mooring.runway.rest.callers import Caller

__all__ = ["EventStream"]

# How long a client may take to read what was sent before it counts as gone.
DEAF_SECONDS: Final = 30.0
# A whole list is sent in parts, so that a slow client holds one of them and not all.
PART_BYTES: Final = 256 << 10
_HEARTBEAT: Final = b": \n\n"
_HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    # Proxies that gather answers would hold changes back.
    (b"x-accel-buffering", b"no"),
]


class EventStream(Response):
    """The topics of a caller's mirror from a position on, until the client goes or the caller may not read any more."""

    def __init__(self, caller: Caller, names: frozenset[str], last_id: str) -> None:
        super().__init__()
        self._caller = caller
        self._names = names
        self._mirror = caller.mirror
        self._position = self._mirror.position(last_id)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        news = asyncio.Event()
        gone = asyncio.create_task(_disconnected(receive))
        gone.add_done_callback(lambda task: news.set())
        self._caller.uses += 1
        self._mirror.listeners.add(news)
        try:
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            # Told at once, so that the client knows that it is connected.
            await _write(send, _HEARTBEAT)
            await self._tell(send, news, gone)
            await send({"type": "http.response.body", "body": b""})
        except (TimeoutError, OSError):
            # Deaf or gone: the server closes the connection when the answer is not completed.
            return
        finally:
            gone.cancel()
            self._mirror.listeners.discard(news)
            self._caller.uses -= 1
            self._caller.last_used = time.monotonic()

    async def _tell(self, send: Send, news: asyncio.Event, gone: asyncio.Task[None]) -> None:
        mirror = self._mirror
        heartbeats = mirror.heartbeats
        while not gone.done() and mirror.ended is None:
            # Cleared first: what happens while frames are sent must not be slept over.
            news.clear()
            frames, self._position = mirror.after(self._names, self._position)
            if not frames and heartbeats != mirror.heartbeats:
                frames = _HEARTBEAT
            heartbeats = mirror.heartbeats
            if frames:
                await _write(send, frames)
            await news.wait()


async def _write(send: Send, data: bytes) -> None:
    for start in range(0, len(data), PART_BYTES):
        async with asyncio.timeout(DEAF_SECONDS):
            await send({"type": "http.response.body", "body": data[start : start + PART_BYTES], "more_body": True})


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
