"""Serves webhooks to a real API server: views, certificates, HTTPS and registration put together.

Every replica serves; no lease is needed, because the functions are pure. Registration is last: an API server must not
call before there is somebody who can answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from mooring.api.kinds import Key, Kind
from mooring.client.transport import AsyncTransport
from mooring.kube.errors import MooringError
from mooring.net.limits import HttpLimits
from mooring.net.server import HttpServer
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision
from mooring.runtime.drivers.live import Live, wall_clock
from mooring.runtime.logs import say
from mooring.runtime.settings import DEFAULTS, Configuration
from mooring.runtime.view import View
from mooring.runtime.webhooks.application import MAX_REVIEW_BYTES, WebhookApplication
from mooring.runtime.webhooks.keys import Keys
from mooring.runtime.webhooks.model import Conversion, Webhook
from mooring.runtime.webhooks.registration import Registration

# The name of the configurations that make API servers call our webhooks.
CONFIGURATION: Final = "mooring"
# How often the configuration is read again, in case it was removed or changed.
RESYNC_SECONDS: Final = 60.0
_RETRY_SECONDS: Final = 2.0
_HEARD: Final = 3.0
_FINISH_SECONDS: Final = 5.0


def _nothing_to_do(key: Key, view: View, now: datetime) -> Decision:
    return Decision()


class WebhookServer:
    """`listen` is where it listens and `url` how the API server reaches it; `folder` keeps its certificates.

    `start` returns when reviews can be answered; `run` registers the webhooks and looks after them until `stop`.
    """

    def __init__(
        self,
        webhooks: Sequence[Webhook],
        transport: AsyncTransport,
        *,
        listen: tuple[str, int],
        url: str,
        folder: Path,
        conversions: Sequence[Conversion] = (),
        name: str = CONFIGURATION,
        clock: Callable[[], datetime] = wall_clock,
        configuration: Configuration = DEFAULTS,
    ) -> None:
        self._transport = transport
        self._listen = listen
        kinds: tuple[Kind[Any], ...] = tuple(dict.fromkeys(kind for each in webhooks for kind in each.reads))
        self._live = Live([Controller("webhooks", _nothing_to_do, reads=kinds)], transport, events=False)
        stores = self._live.dispatcher.stores
        self.application = WebhookApplication(webhooks, conversions, stores, transport, clock, configuration)
        self.keys = Keys(folder, url, clock)
        self._registration = Registration(transport, name, webhooks, conversions, url)
        self._stop = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._http = HttpServer(self.application, limits=HttpLimits(body_bytes=MAX_REVIEW_BYTES))

    @property
    def missing(self) -> list[str]:
        """Why it is not ready: the kinds that cannot be read, with the reasons."""
        return self._live.missing

    @property
    def silent(self) -> list[str]:
        """The kinds whose watches have not been heard of for too long."""
        return self._live.silent

    async def start(self) -> int:
        """Follow what is read and listen; the port, which is a free one if 0 was asked for."""
        host, port = self._listen
        try:
            sock = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        except OSError as error:
            raise MooringError(f"webhooks cannot listen on {host}:{port}: {error.strerror}") from None
        found: int = sock.getsockname()[1]
        self._tasks = [asyncio.create_task(self._live.run(self._stop))]
        await self._http.start(sock, self.keys.tls)
        return found

    async def run(self, stop: asyncio.Event) -> None:
        """Register once everything can be read; then look after registration and certificates."""
        while not stop.is_set():
            if self.missing:
                await _pause(stop, 0.05)
                continue
            try:
                await self.keys.renew(self._announce)
            except (MooringError, OSError) as error:
                say(logging.ERROR, f"the certificates of the webhooks cannot be renewed: {error}")
            done = await self._registration.apply(self.keys.bundle)
            await _pause(stop, RESYNC_SECONDS if done else _RETRY_SECONDS)

    async def _announce(self) -> None:
        if not await self._registration.apply(self.keys.bundle):
            raise MooringError("the configurations do not name the new authority yet")
        # API servers hear of it by watches.
        await asyncio.sleep(_HEARD)

    async def close(self) -> None:
        self._stop.set()
        self._http.close()
        await self._http.finish(_FINISH_SECONDS)
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task


async def serve_webhooks(
    webhooks: Sequence[Webhook],
    transport: AsyncTransport,
    *,
    listen: tuple[str, int],
    url: str,
    folder: Path,
    stop: asyncio.Event,
    conversions: Sequence[Conversion] = (),
    clock: Callable[[], datetime] = wall_clock,
) -> None:
    """Serve and register until `stop` is set."""
    server = WebhookServer(
        webhooks, transport, listen=listen, url=url, folder=folder, conversions=conversions, clock=clock
    )
    await server.start()
    try:
        await server.run(stop)
    finally:
        await server.close()


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stop.wait()
