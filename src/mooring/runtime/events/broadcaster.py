"""Writes recorded events, best effort: they wait in a queue of their own and hold nothing up.

Many are under way at once: a server stores writes that come together at little more than the price of one. A full queue
drops what comes next: a server too slow for its events has more important things to do.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Final

from mooring.client.transport import AsyncTransport, Request
from mooring.kube.errors import MooringError
from mooring.kube.prometheus import Metric
from mooring.kube.status import AlreadyExistsError
from mooring.runtime.events.recorder import repeated
from mooring.runtime.logs import say

# Events that may wait: four for each of five thousand pods that start at once.
QUEUE_LENGTH: Final = 20_000
# Half of the connections that a transport has. With two, each pod of a burst cost a fifth more CPU in both processes.
_WRITERS: Final = 16


class EventBroadcaster:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport
        self._queue: asyncio.Queue[Request] = asyncio.Queue(QUEUE_LENGTH)
        self.lost = Metric("mooring_events_lost_total", "counter", "Events that could not be written.", ())
        self.lost.start()

    def add(self, requests: Iterable[Request]) -> None:
        for request in requests:
            try:
                self._queue.put_nowait(request)
            except asyncio.QueueFull:
                self.lost.add()

    async def run(self) -> None:
        await asyncio.gather(*(self._write_all() for _ in range(_WRITERS)))

    async def _write_all(self) -> None:
        while True:
            request = await self._queue.get()
            try:
                await self._write(request)
            except MooringError as error:
                self.lost.add()
                say(logging.DEBUG, f"event {request.namespace}/{request.name} is lost: {error}")
            finally:
                self._queue.task_done()

    async def _write(self, request: Request) -> None:
        try:
            await self._transport.write(request)
        except AlreadyExistsError:
            await self._transport.write(repeated(request))

    async def finish(self) -> None:
        """Until everything in the queue is written."""
        await self._queue.join()
