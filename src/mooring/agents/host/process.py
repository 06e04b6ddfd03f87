"""The process of `mooring agent`: one agent for one folder, its identity, its metrics, until it is stopped."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import signal
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import mooring
from mooring.agents.host.agent import HostAgent
from mooring.agents.host.cleaning.cleaner import clean_machine
from mooring.agents.host.detection.hardware import Hardware, find_hardware
from mooring.agents.host.host_client import HostClient
from mooring.agents.host.host_work import baseline_for, uninstall
from mooring.agents.host.identity.agent_identity import AgentIdentity
from mooring.agents.host.journal import AgentJournal, JournalError
from mooring.agents.host.progress import AgentProgress
from mooring.agents.host.services.service import ServiceManager
from mooring.agents.host.services.supervisor import ServiceSupervisor
from mooring.agents.host.services.systemd import SystemdServices
from mooring.agents.host.settings import AgentSettings
from mooring.client.access import Access
from mooring.client.http import HttpTransport
from mooring.client.kubeconfig import find_access
from mooring.kube.errors import InputError
from mooring.kube.prometheus import Metric, exposition
from mooring.net.tls import show_certificate
from mooring.runtime.drivers.health import HealthServer

__all__ = ["AgentAccess", "reset_machine", "run_agent"]

_log = logging.getLogger("mooring.agent")


class AgentAccess(NamedTuple):
    """How the agent comes in: with the kubeconfig, or with a certificate that the bootstrap kubeconfig is good for."""

    kubeconfig: Path | None
    bootstrap: Path | None
    life_seconds: int


class AgentHealth:
    """What the metrics endpoint tells of an agent."""

    def __init__(self, client: HostClient, hardware: Hardware) -> None:
        self._client = client
        self._beat = Metric(
            "byoh_agent_last_heartbeat_timestamp", "gauge", "When the last heartbeat was written, in Unix seconds.", ()
        )
        self._beat.start()
        self._info = Metric("byoh_agent_info", "gauge", "Version and platform.", ("version", "os", "arch"))
        self._info.set(mooring.__version__, hardware.os_image, hardware.architecture, value=1)

    @property
    def missing(self) -> Sequence[str]:
        return () if self._client.last_heartbeat is not None else ("no heartbeat was written yet",)

    @property
    def silent(self) -> Sequence[str]:
        return ()

    def metrics_text(self) -> str:
        beat = self._client.last_heartbeat
        self._beat.set(value=0.0 if beat is None else beat.timestamp())
        return exposition((self._info, self._beat))


def wall_clock() -> datetime:
    return datetime.now(UTC)


def services_of(settings: AgentSettings) -> ServiceManager:
    if settings.systemd:
        return SystemdServices(f"mooring-{settings.root.short_mark}")
    return ServiceSupervisor(settings.root.services)


async def run_agent(settings: AgentSettings, entry: AgentAccess, metrics: tuple[str, int] | None) -> None:
    """Run until SIGTERM or SIGINT."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    settings.root.prepare()
    with only_agent(settings):
        identity = AgentIdentity(settings.root, settings.name, entry.life_seconds, wall_clock)
        access = await _access(settings, entry, identity, stop)
        if access is None:
            return
        hardware = await find_hardware()
        transport = HttpTransport(access, connections=4)
        agent = HostAgent(settings, hardware, transport, services_of(settings), wall_clock)

        def install(certificate: bytes, key: bytes) -> None:
            if access.tls is not None:
                show_certificate(access.tls, certificate, key)
                transport.reconnect()

        renewing = asyncio.create_task(identity.keep(transport, install)) if entry.kubeconfig is None else None
        try:
            async with _metrics(AgentHealth(agent.client, hardware), metrics):
                _log.info("host %s/%s on %s", settings.namespace, settings.name, access.server)
                await agent.run(stop)
        finally:
            if renewing is not None:
                renewing.cancel()
                await asyncio.gather(renewing, return_exceptions=True)
            await transport.close()


async def reset_machine(settings: AgentSettings) -> None:
    """Remove everything of a claim without asking the API; the journal goes with it."""
    settings.root.prepare()
    with only_agent(settings):
        services = services_of(settings)
        try:
            progress = AgentJournal(settings.root.journal).progress
        except JournalError:
            progress = AgentProgress()
        await uninstall(settings, services, progress)
        await clean_machine(settings.root, services, await baseline_for(progress))
        settings.root.journal.unlink(missing_ok=True)


@contextmanager
def only_agent(settings: AgentSettings) -> Iterator[None]:
    """Two agents in one folder would start everything twice."""
    descriptor = os.open(settings.root.lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"--root {settings.root.path}: another agent runs in this folder") from None
        yield
    finally:
        os.close(descriptor)


async def _access(
    settings: AgentSettings, entry: AgentAccess, identity: AgentIdentity, stop: asyncio.Event
) -> Access | None:
    """None where the agent is stopped before it has a certificate."""
    if entry.bootstrap is None:
        own = settings.root.kubeconfig
        return find_access(own if entry.kubeconfig is None and own.exists() else entry.kubeconfig)
    obtaining, stopped = asyncio.create_task(identity.obtain(entry.bootstrap)), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((obtaining, stopped), return_when=asyncio.FIRST_COMPLETED)
        return obtaining.result() if obtaining.done() else None
    finally:
        obtaining.cancel()
        stopped.cancel()
        await asyncio.gather(obtaining, stopped, return_exceptions=True)


@asynccontextmanager
async def _metrics(health: AgentHealth, address: tuple[str, int] | None) -> AsyncIterator[None]:
    server = HealthServer(health)
    try:
        if address is not None:
            try:
                await server.start(*address)
            except OSError as error:
                where = f"{address[0]}:{address[1]}"
                raise InputError(
                    f"--metricsbindaddress {where} cannot be served: {error.strerror or error}; "
                    "name another address, or 0 to serve none"
                ) from None
        yield
    finally:
        await server.close()
