"""Writes the events of decisions, best effort: they wait in a line of their own and hold nothing up.

Many are under way at once: a server stores writes that come together at little more than the price of one. A line
that is full drops what comes next: a server too slow for its events has more important things to do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from mooring.client.transport import AsyncTransport, Request
from mooring.kube.errors import MooringError
from mooring.kube.prometheus import Metric
from mooring.kube.status import AlreadyExistsError
from mooring.runtime.recorder import again

# Events that may wait: four for each of five thousand pods that start at once.
ROOM = 20_000
# Half of the connections that a transport has. With two, each pod of a burst cost a fifth more CPU in both processes.
_WRITERS = 16


class Teller:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport
        self._line: asyncio.Queue[Request] = asyncio.Queue(ROOM)
        self.lost = Metric("mooring_events_lost_total", "counter", "Events that could not be written.", ())
        self.lost.start()

    def tell(self, requests: Iterable[Request]) -> None:
        for request in requests:
            try:
                self._line.put_nowait(request)
            except asyncio.QueueFull:
                self.lost.add()

    async def run(self) -> None:
        await asyncio.gather(*(self._write() for _ in range(_WRITERS)))

    async def _write(self) -> None:
        while True:
            request = await self._line.get()
            try:
                await self._tell(request)
            except MooringError:
                self.lost.add()
            finally:
                self._line.task_done()

    async def _tell(self, request: Request) -> None:
        try:
            await self._transport.write(request)
        except AlreadyExistsError:
            await self._transport.write(again(request))

    async def finish(self) -> None:
        """Until everything in line is written."""
        await self._line.join()
