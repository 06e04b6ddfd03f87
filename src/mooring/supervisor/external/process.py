"""The process of `mooring run`: controllers over a client, one leader of several replicas, webhooks, health on a port.

Every replica serves webhooks, the leader or not: they decide without writing.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
import uuid
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from mooring.agents.executors import executors_for
from mooring.client.access import Access
from mooring.client.http import HttpTransport
from mooring.kube.errors import InputError
from mooring.kube.prometheus import exposition
from mooring.runtime.controller import Controller
from mooring.runtime.drivers.health import HealthServer
from mooring.runtime.drivers.leaderelection import Election
from mooring.runtime.drivers.live import Live, wall_clock
from mooring.runtime.settings import DEFAULTS, Configuration
from mooring.runtime.webhooks.server import WebhookServer
from mooring.supervisor.address import Address
from mooring.supervisor.external.controllers import conflict_warnings
from mooring.supervisor.external.webhooks import WebhookServing
from mooring.supervisor.logs import log_as_json

__all__ = ["HealthSource", "run_controllers"]

LEASE: Final = "mooring"
Work = Callable[[asyncio.Event], Awaitable[None]]
_log = logging.getLogger("mooring.run")


class HealthSource:
    """What the health endpoints report: the webhooks, and the driver while it leads.

    A replica that waits for the lease is healthy.
    """

    def __init__(self) -> None:
        self.live: Live | None = None
        self.webhooks: WebhookServer | None = None

    @property
    def missing(self) -> Sequence[str]:
        return [problem for each in self._working for problem in each.missing]

    @property
    def silent(self) -> Sequence[str]:
        return [problem for each in self._working for problem in each.silent]

    @property
    def _working(self) -> list[Live | WebhookServer]:
        return [each for each in (self.live, self.webhooks) if each is not None]

    def metrics_text(self) -> str:
        reviews = "" if self.webhooks is None else exposition((self.webhooks.application.reviews,))
        return reviews + (exposition(()) if self.live is None else self.live.metrics_text())


async def run_controllers(
    controllers: Sequence[Controller],
    access: Access,
    *,
    elect: bool,
    health: Address | None,
    webhook_serving: WebhookServing | None = None,
    note: str = "",
    configuration: Configuration = DEFAULTS,
) -> None:
    """Run until SIGTERM or SIGINT. `webhook_serving` has the webhooks that are served beside the controllers.

    `note` is logged once, at the start.
    """
    _log_for_people_or_machines()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    transport, health_source = HttpTransport(access), HealthSource()
    server = HealthServer(health_source)
    try:
        if health is not None:
            await _serve_health(server, health)
        if note:
            _log.info(note)
        names = [controller.name for controller in controllers]
        for warning in await conflict_warnings(transport, names, wall_clock()):
            _log.warning(warning)
        if webhook_serving is not None:
            health_source.webhooks = webhook_serving.server(transport)
            await health_source.webhooks.start()
            _log.info(f"{', '.join(webhook_serving.names)} at {webhook_serving.url} for {access.server}")
        working = [] if health_source.webhooks is None else [health_source.webhooks.run(stop)]
        if controllers:
            _log.info(f"{', '.join(names)} on {access.server}")
            working.append(
                _control(
                    controllers,
                    access,
                    transport,
                    health_source,
                    stop,
                    elect=elect,
                    configuration=configuration,
                )
            )
        await asyncio.gather(*working)
    finally:
        if health_source.webhooks is not None:
            await health_source.webhooks.close()
        await server.close()
        await transport.close()


async def _control(
    controllers: Sequence[Controller],
    access: Access,
    transport: HttpTransport,
    health_source: HealthSource,
    stop: asyncio.Event,
    *,
    elect: bool,
    configuration: Configuration,
) -> None:
    async def work(end: asyncio.Event) -> None:
        async with executors_for(controllers, transport) as executors:
            health_source.live = Live(controllers, transport, configuration=configuration, executors=executors)
            try:
                await health_source.live.run(end)
            finally:
                health_source.live = None

    if elect:
        await _elected(access, work, stop)
    else:
        await work(stop)


async def _elected(access: Access, work: Work, stop: asyncio.Event) -> None:
    me = f"{socket.gethostname()}_{uuid.uuid4()}"
    # A connection of its own: holding the lease must not wait behind other writes.
    transport = HttpTransport(access, connections=1)
    try:
        await Election(transport, access.namespace, LEASE, me).run(work, stop)
    finally:
        await transport.close()


async def _serve_health(server: HealthServer, address: Address) -> None:
    try:
        port = await server.start(address.host, address.port)
    except OSError as error:
        raise InputError(f"--health {address} cannot be served: {error.strerror or error}") from None
    _log.info(f"health is served on {Address(address.host, port)}")


def _log_for_people_or_machines() -> None:
    if sys.stderr.isatty():
        logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    else:
        log_as_json()
