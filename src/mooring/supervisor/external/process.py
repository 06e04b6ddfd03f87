"""The process of `mooring run`: controllers over a client, one leader of several replicas, webhooks, health on a port.

Every replica serves webhooks, the leader or not: they decide without writing. A controller that has a Lease of its own
is elected by that one, apart from the others: somebody else's program may hold it.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
import uuid
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from mooring.agents.executors import executors_for
from mooring.api.kinds import Key
from mooring.catalog import CATALOG
from mooring.client.access import Access
from mooring.client.http import HttpTransport
from mooring.kube.errors import InputError
from mooring.kube.prometheus import exposition
from mooring.kube.status import ForbiddenError
from mooring.runtime.controller import Controller
from mooring.runtime.drivers.health import HealthServer
from mooring.runtime.drivers.leaderelection import Election, LeaseConfig
from mooring.runtime.drivers.live import Live, wall_clock
from mooring.runtime.settings import DEFAULTS, Configuration
from mooring.runtime.webhooks.server import WebhookServer
from mooring.supervisor.address import Address
from mooring.supervisor.external.controllers import conflict_warnings, embedded_conflicts, upstream_conflicts
from mooring.supervisor.external.webhooks import WebhookServing
from mooring.supervisor.logs import log_as_json

__all__ = ["HealthSource", "run_controllers"]

LEASE: Final = "mooring"
DEFAULT_LEASE: Final = LeaseConfig()
_log = logging.getLogger("mooring.run")


class HealthSource:
    """What the health endpoints report: the webhooks, and the driver while it leads.

    A replica that waits for the lease is healthy.
    """

    def __init__(self) -> None:
        self.lives: list[Live] = []
        self.webhooks: WebhookServer | None = None

    @property
    def missing(self) -> Sequence[str]:
        return [problem for each in self._working for problem in each.missing]

    @property
    def silent(self) -> Sequence[str]:
        return [problem for each in self._working for problem in each.silent]

    @property
    def _working(self) -> list[Live | WebhookServer]:
        return [*self.lives, *([] if self.webhooks is None else [self.webhooks])]

    def metrics_text(self) -> str:
        reviews = "" if self.webhooks is None else exposition((self.webhooks.application.reviews,))
        return reviews + exposition(metric for live in self.lives for metric in live.all_metrics)


async def run_controllers(
    controllers: Sequence[Controller],
    access: Access,
    *,
    elect: bool,
    named: bool,
    health: Address | None,
    webhook_serving: WebhookServing | None = None,
    note: str = "",
    configuration: Configuration = DEFAULTS,
    lease_config: LeaseConfig = DEFAULT_LEASE,
) -> None:
    """Run until SIGTERM or SIGINT. `webhook_serving` has the webhooks that are served beside the controllers.

    `note` is logged once, at the start. Controllers that nobody has `named` do not run beside another product's.
    """
    _log_for_people_or_machines()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    transport, health_source = HttpTransport(access), HealthSource()
    server = HealthServer(health_source)
    try:
        await _check_reachable(transport)
        if health is not None:
            await _serve_health(server, health)
        if note:
            _log.info(note)
        names = [controller.name for controller in controllers]
        doubled = await embedded_conflicts(transport, names)
        for warning in await conflict_warnings(transport, names, wall_clock()):
            _log.warning(warning)
        for conflict in (*doubled, *await upstream_conflicts(transport, names)):
            if not named:
                raise InputError(conflict)
            _log.warning(conflict)
        if webhook_serving is not None:
            health_source.webhooks = webhook_serving.server(transport, access.namespace)
            await health_source.webhooks.start()
            _log.info(f"{', '.join(webhook_serving.names)} at {webhook_serving.target} for {access.server}")
        working = [] if health_source.webhooks is None else [health_source.webhooks.run(stop)]
        if controllers:
            _log.info(f"{', '.join(names)} on {access.server}")
        for lease, group in _by_lease(controllers, access.namespace, elect=elect).items():
            working.append(_control(group, access, transport, health_source, stop, lease, lease_config, configuration))
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
    lease: Key | None,
    lease_config: LeaseConfig,
    configuration: Configuration,
) -> None:
    async def work(end: asyncio.Event, transport: HttpTransport) -> None:
        async with executors_for(controllers, transport, access=access) as executors:
            live = Live(controllers, transport, configuration=configuration, executors=executors)
            health_source.lives.append(live)
            try:
                await live.run(end)
            finally:
                health_source.lives.remove(live)

    if lease is None:
        await work(stop, transport)
        return
    me = f"{socket.gethostname()}_{uuid.uuid4()}"
    # A connection of its own: holding the lease must not wait behind other writes.
    own = HttpTransport(access, connections=1)
    election = Election(own, *lease, me, config=lease_config)
    try:
        await election.run(lambda end: work(end, transport.fenced(election.may_write)), stop)
    finally:
        await own.close()


def _by_lease(controllers: Sequence[Controller], namespace: str, *, elect: bool) -> dict[Key | None, list[Controller]]:
    """The controllers by the Lease that they are elected by; all under None where nobody is elected."""
    own, shared = CATALOG.leases, Key(namespace, LEASE)
    found: dict[Key | None, list[Controller]] = {}
    for each in controllers:
        lease = Key(*own[each.name]) if each.name in own else shared
        found.setdefault(lease if elect else None, []).append(each)
    return found


async def _check_reachable(transport: HttpTransport) -> None:
    """Ask for something, so that a wrong address, authority or token ends this at once; what fails later is retried."""
    # Whoever may not ask for this was recognized.
    with suppress(ForbiddenError):
        await transport.version()


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
