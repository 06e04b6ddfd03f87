"""The watches of `mooring shadow`: feed observed objects to the shadow, and its judgements to the report.

Nothing is ever written to the cluster. When the server is unreachable the watches retry; changes that were missed
meanwhile are observed without being judged.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from typing import Any, Final

from mooring.cli.kind_handler import KindHandler
from mooring.client.reflector import Reflector
from mooring.client.transport import AsyncTransport
from mooring.kube.errors import InputError
from mooring.placement.devices.dra_manager import DEVICE_KINDS
from mooring.placement.shadow import WATCHED, Judgement, Shadow
from mooring.placement.shadow.world import Place

__all__ = ["ClusterWatch"]

REQUIRED: Final = ("Node", "Pod")
# How often, in seconds, judgements that wait for a second event are settled.
SETTLE_SECONDS: Final = 0.25


class ClusterWatch:
    """`judged` is called with every judgement, `begun` when all kinds are listed, `said` with notes for the user."""

    def __init__(
        self,
        transport: AsyncTransport,
        shadow: Shadow,
        *,
        judged: Callable[[Judgement], None],
        begun: Callable[[], None],
        said: Callable[[str], None],
    ) -> None:
        self._transport = transport
        self.shadow = shadow
        self._judged, self._begun, self._said = judged, begun, said
        self._waiting = {kind for _, kind in WATCHED}
        self._failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._trouble = ""

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set. Raises InputError when the cluster cannot be followed at all."""
        draw = random.Random()
        reflectors = [
            Reflector(self._transport, api_version, kind, KindHandler(self, api_version, kind, view), draw=draw)
            for (api_version, kind), view in WATCHED.items()
        ]
        tasks: list[asyncio.Future[Any]] = [asyncio.ensure_future(reflector.run()) for reflector in reflectors]
        tasks += [asyncio.ensure_future(self._tick()), self._failed]
        stopping: asyncio.Future[Any] = asyncio.ensure_future(stop.wait())
        try:
            await asyncio.wait((stopping, *tasks), return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                if task.done():
                    task.result()
            self._judge_all(self.shadow.settle(float("inf")))
        finally:
            for task in (stopping, *tasks):
                task.cancel()
            await asyncio.gather(stopping, *tasks, return_exceptions=True)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(SETTLE_SECONDS)
            self._judge_all(self.shadow.settle(asyncio.get_running_loop().time()))

    # Called by the informer handlers

    def take(self, place: Place, view: Any) -> None:
        self._judge_all(self.shadow.take(place, view, asyncio.get_running_loop().time()))

    def listed(self, kind: str, objects: dict[Place, Any]) -> None:
        self.shadow.replace(kind, objects)
        self._arrived(kind)

    def lost(self, kind: str, why: str) -> None:
        if kind in REQUIRED:
            self._fail(f"{kind} objects cannot be followed, and nothing goes without them: {why}")
        elif kind in DEVICE_KINDS and why.startswith("is not served"):
            # Clusters before 1.34 have none.
            self.listed(kind, {})
        elif kind in self._waiting:
            self._said(f"{kind} objects cannot be followed, so predictions go without them: {why}")
            self._arrived(kind)

    def troubled(self, why: str) -> None:
        if why and not self.shadow.ready:
            self._fail(why)
        elif why and not self._trouble:
            self._said(f"the cluster cannot be followed at the moment: {why}")
        elif self._trouble and not why:
            self._said("the cluster can be followed again")
        self._trouble = why

    def unreadable(self, error: Exception) -> None:
        self._said(f"left out: {error}")

    def _arrived(self, kind: str) -> None:
        self._waiting.discard(kind)
        if not self._waiting and not self.shadow.ready:
            self.shadow.ready = True
            self._begun()

    def _fail(self, why: str) -> None:
        if not self._failed.done():
            self._failed.set_exception(InputError(why))

    def _judge_all(self, judgements: Sequence[Judgement]) -> None:
        for judgement in judgements:
            self._judged(judgement)
