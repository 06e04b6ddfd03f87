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
from datetime import datetime, timedelta
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
from mooring.runtime.webhooks.certificate_stores import CertificateStore
from mooring.runtime.webhooks.keys import CERTIFICATE_LIFE, Keys
from mooring.runtime.webhooks.model import Conversion, Webhook
from mooring.runtime.webhooks.registration import Registration
from mooring.runtime.webhooks.target import WebhookTarget

# The name of the configurations that make API servers call our webhooks.
CONFIGURATION: Final = "mooring"
# How often the configuration is read again, in case it was removed or changed.
RESYNC_SECONDS: Final = 60.0
_RETRY_SECONDS: Final = 2.0
_FINISH_SECONDS: Final = 5.0


def _nothing_to_do(key: Key, view: View, now: datetime) -> Decision:
    return Decision()


class WebhookServer:
    """`listen` is where it listens and `target` where the API server finds it; `store` keeps its certificates.

    `start` returns when reviews can be answered; `run` registers the webhooks and looks after them until `stop`.
    """

    def __init__(
        self,
        webhooks: Sequence[Webhook],
        transport: AsyncTransport,
        *,
        listen: tuple[str, int],
        target: WebhookTarget,
        store: CertificateStore,
        conversions: Sequence[Conversion] = (),
        name: str = CONFIGURATION,
        clock: Callable[[], datetime] = wall_clock,
        configuration: Configuration = DEFAULTS,
        life: timedelta = CERTIFICATE_LIFE,
    ) -> None:
        self._transport = transport
        self._listen = listen
        kinds: tuple[Kind[Any], ...] = tuple(dict.fromkeys(kind for each in webhooks for kind in each.reads))
        self._live = Live([Controller("webhooks", _nothing_to_do, reads=kinds)], transport, events=False)
        stores = self._live.dispatcher.stores
        self.application = WebhookApplication(webhooks, conversions, stores, transport, clock, configuration)
        self.keys = Keys(store, target.names, clock, life)
        self._unkept = ""
        self._registration = Registration(transport, name, webhooks, conversions, target)
        self._stop = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._http = HttpServer(self.application, limits=HttpLimits(body_bytes=MAX_REVIEW_BYTES))

    @property
    def missing(self) -> list[str]:
        """Why it is not ready: the kinds and certificates that cannot be read, with the reasons."""
        return [*self._live.missing, *([] if self.keys.are_there else [self._unkept])]

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
        await self._look()
        await self._http.start(sock, self.keys.tls)
        return found

    async def run(self, stop: asyncio.Event) -> None:
        """Register once everything can be read; then look after registration and certificates."""
        while not stop.is_set():
            if self._live.missing:
                await _pause(stop, 0.05)
                continue
            done = await self._look() and await self._registration.apply(self.keys.bundle)
            await _pause(stop, min(RESYNC_SECONDS, self.keys.look_seconds) if done else _RETRY_SECONDS)

    async def _look(self) -> bool:
        """Look after the certificates. Those that are shown stay good for a while when that fails."""
        try:
            await self.keys.look()
        except MooringError as error:
            problem = f"the certificates of the webhooks cannot be looked after: {error}"
            if problem != self._unkept:
                say(logging.ERROR, problem)
            self._unkept = problem
            return self.keys.are_there
        self._unkept = ""
        return True

    async def close(self) -> None:
        self._stop.set()
        self._http.close()
        await self._http.finish(_FINISH_SECONDS)
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stop.wait()
