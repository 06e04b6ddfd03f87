"""Connections to one destination, kept for the next request, and lent to one request at a time.

Under load many requests wait for the same server at once. A new TLS connection costs more than most answers take, so
beyond a few connections a request first waits a moment for one to come free. Only then it opens another, and no more
than two are opened at a time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

from mooring.net.client_connection import ClientConnection
from mooring.net.destination import Destination

__all__ = ["Pool"]

_WAIT_SECONDS: Final = 0.1
_MAX_CONCURRENT_DIALS: Final = 2


class Pool:
    """Up to `few` connections are opened as they are needed, and up to `most` where waiting for them takes too long.

    Every connection is counted in `_all` from dialling to closing; `_dialling` are places that are taken already.
    """

    def __init__(
        self,
        destination: Destination,
        *,
        few: int,
        most: int | None = None,
        dial_seconds: float | None = None,
        most_bytes: int | None = None,
    ) -> None:
        self.destination = destination
        self._few = few
        self._most = few if most is None else most
        self._dial_seconds = dial_seconds
        self._most_bytes = most_bytes
        self._idle: list[ClientConnection] = []
        self._all: set[ClientConnection] = set()
        self._dialling = 0
        # None stands for a place in which the one who waits may open a connection of its own.
        self._waiters: deque[asyncio.Future[ClientConnection | None]] = deque()

    @property
    def quiet(self) -> bool:
        """Whether no connection is in use."""
        return len(self._idle) == len(self._all) and not self._dialling

    def take(self) -> ClientConnection | None:
        """A connection for one request that is there already."""
        while self._idle:
            found = self._idle.pop()
            if found.usable:
                return found
            self._all.discard(found)
        return None

    async def lend(self) -> ClientConnection:
        """A connection for one request, which must be given back. Raises what dialling raises."""
        if (found := self.take()) is not None:
            return found
        if self._taken < self._few:
            self._dialling += 1
        elif (handed := await self._wait()) is not None:
            return handed
        return await self._dial()

    def give_back(self, connection: ClientConnection) -> None:
        if connection.usable:
            if not self._hand(connection):
                self._idle.append(connection)
        else:
            connection.close()
            self._all.discard(connection)
            self._hand_place()

    def drop_idle(self) -> None:
        """Close the idle connections: their server has gone, even if the kernel has not noticed yet."""
        idle, self._idle = self._idle, []
        self._all.difference_update(idle)
        for connection in idle:
            connection.close()

    def close(self) -> None:
        for connection in self._all:
            connection.close()
        self._all.clear()
        self._idle.clear()

    @property
    def _taken(self) -> int:
        return len(self._all) + self._dialling

    async def _dial(self) -> ClientConnection:
        """Fill a place that was taken."""
        try:
            connection = await self.destination.dial(seconds=self._dial_seconds, most_bytes=self._most_bytes)
        except BaseException:
            self._dialling -= 1
            # The next one may have better luck, and must not wait for what does not come.
            self._hand_place()
            raise
        self._dialling -= 1
        self._all.add(connection)
        return connection

    # Waiting, first come, first served

    async def _wait(self) -> ClientConnection | None:
        """A connection that came free, or None with a place taken for a new one."""
        waiter: asyncio.Future[ClientConnection | None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        if self._few < self._most:
            self._grow_later(waiter)
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self._undo(waiter.result())
            raise

    def _undo(self, handed: ClientConnection | None) -> None:
        if handed is not None:
            self.give_back(handed)
        else:
            self._dialling -= 1
            self._hand_place()

    def _grow_later(self, waiter: asyncio.Future[ClientConnection | None]) -> None:
        asyncio.get_running_loop().call_later(_WAIT_SECONDS, self._grow, waiter)

    def _grow(self, waiter: asyncio.Future[ClientConnection | None]) -> None:
        if waiter.done():
            return
        if self._dialling < _MAX_CONCURRENT_DIALS and self._taken < self._most:
            self._dialling += 1
            waiter.set_result(None)
        else:
            self._grow_later(waiter)

    def _hand_place(self) -> None:
        self._dialling += 1
        if not self._hand(None):
            self._dialling -= 1

    def _hand(self, connection: ClientConnection | None) -> bool:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(connection)
                return True
        return False
