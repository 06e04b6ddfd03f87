"""The agent at work: follows its ByoHost, takes one step after another, and keeps the heartbeat.

A long step goes on while the host changes, unless what comes next is to clean: then it is broken off.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Coroutine
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final

from mooring.agents.host.conditions import agent_conditions
from mooring.agents.host.detection.hardware import Hardware
from mooring.agents.host.host_client import HostClient
from mooring.agents.host.host_informer import HostInformer
from mooring.agents.host.host_work import HostWork
from mooring.agents.host.journal import AgentJournal
from mooring.agents.host.progress import due_now
from mooring.agents.host.registration import HOST_KIND
from mooring.agents.host.services.service import ServiceManager
from mooring.agents.host.settings import AgentSettings
from mooring.agents.host.steps import CleanStep, InstallStep, JoinStep, Step, WaitStep, next_step
from mooring.client.reflector import Reflector
from mooring.client.transport import AsyncTransport, Scope
from mooring.features.hosts.api.hosts import ByoHost
from mooring.features.hosts.api.names import API_VERSION
from mooring.kube.objects import Object

__all__ = ["HostAgent"]

# How soon a status that could not be written is tried again, and services are looked after.
RETRY_SECONDS: Final = 5.0
SERVICES_SECONDS: Final = 30.0
_log = logging.getLogger("mooring.agent")


class HostAgent:
    def __init__(
        self,
        settings: AgentSettings,
        hardware: Hardware,
        transport: AsyncTransport,
        services: ServiceManager,
        clock: Callable[[], datetime],
    ) -> None:
        self._settings, self._hardware, self._clock = settings, hardware, clock
        self._transport = transport
        self.informer = HostInformer()
        self.client = HostClient(settings, transport, self.informer, clock)
        self._journal = AgentJournal(settings.root.journal)
        known, now = self._journal.progress, clock()
        self._journal.record(
            install_failure=due_now(known.install_failure, now),
            join_failure=due_now(known.join_failure, now),
            clean_failure=due_now(known.clean_failure, now),
        )
        self._work = HostWork(settings, self._journal, self.client, services, clock)
        self._services = services
        # The uid of the object, and the conditions that were written into it last.
        self._told: tuple[str, list[Object]] | None = None

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop` is set. Services go on: stopping the agent does not stop the node."""
        if not await _unless(stop, self.client.register(self._hardware)):
            return
        scope = Scope(self._settings.namespace, fields=f"metadata.name={self._settings.name}")
        reflector = Reflector(self._transport, API_VERSION, HOST_KIND, self.informer, scope=scope, draw=random.Random())
        tasks = [
            asyncio.create_task(reflector.run(), name="reflector"),
            asyncio.create_task(self._heartbeat(), name="heartbeat"),
            asyncio.create_task(self._steps(), name="steps"),
            asyncio.create_task(stop.wait(), name="stop"),
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._services.close()

    # Steps

    async def _steps(self) -> None:
        while True:
            self.informer.news.clear()
            pause: float | None = None
            if self.informer.synced:
                pause = await self._step()
            # Not wait_for: before Python 3.12 it may swallow a cancellation.
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self.informer.news.wait()

    async def _step(self) -> float | None:
        """Take the next step; how long to wait for news before the one after, None for as long as it takes."""
        host = self.informer.host
        step = self._next(host)
        if host is None and not isinstance(step, CleanStep):
            await self.client.register(self._hardware)
            return 0.0
        told = host is None or await self._tell(host, step)
        if isinstance(step, WaitStep):
            return _soonest(step.until, self._clock(), told)
        progress = self._journal.progress
        await self._carry_out(step, host)
        if self._journal.progress != progress:
            return 0.0
        return SERVICES_SECONDS if told else RETRY_SECONDS

    def _next(self, host: ByoHost | None) -> Step:
        progress = self._journal.progress
        return next_step(
            host,
            progress,
            self._clock(),
            leftovers=progress.claim is None and self._settings.root.node.exists(),
            skip_installation=self._settings.skip_installation,
        )

    async def _carry_out(self, step: Step, host: ByoHost | None) -> None:
        task = asyncio.create_task(self._work.carry_out(step, host), name=type(step).__name__)
        task.add_done_callback(lambda _: self.informer.news.set())
        changed = False
        try:
            while not task.done():
                await self.informer.news.wait()
                self.informer.news.clear()
                changed = changed or not task.done()
                if isinstance(step, InstallStep | JoinStep) and isinstance(self._next(self.informer.host), CleanStep):
                    break
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        if changed:
            # Looked at next.
            self.informer.news.set()
        if not task.cancelled():
            task.result()

    # What is told

    async def _tell(self, host: ByoHost, step: Step) -> bool:
        """Whether the API knows the conditions that follow from a step; written unless this object has them."""
        wanted = agent_conditions(host, self._journal.progress, step)
        news = host.metadata.uid, wanted
        if news == self._told:
            return True
        self._told = news if await self.client.tell(host, self._hardware, wanted) else None
        return self._told is not None

    async def _heartbeat(self) -> None:
        """Tell what was told last once more, with the time of now. Nothing is told before the first step."""
        while True:
            await asyncio.sleep(self._settings.heartbeat_interval.total_seconds())
            host = self.informer.host
            if host is not None and self.informer.synced:
                wanted = agent_conditions(host, self._journal.progress, self._next(host))
                await self.client.tell(host, self._hardware, wanted)


async def _unless(stop: asyncio.Event, work: Coroutine[Any, Any, None]) -> bool:
    """Whether the work was done before the agent was stopped."""
    tasks = asyncio.create_task(work), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if tasks[0].done():
            tasks[0].result()
        return tasks[0].done()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _soonest(until: datetime | None, now: datetime, told: bool) -> float | None:
    due = None if until is None else max((until - now) / timedelta(seconds=1), 0.0)
    if told:
        return due
    return RETRY_SECONDS if due is None else min(due, RETRY_SECONDS)
