"""Executors whose runs are tasks of this process: at most one for each run, and none that outlives the executor."""

from __future__ import annotations

import asyncio
import logging
import random
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import UTC, datetime

from mooring.agents.effect_reporter import EffectReporter
from mooring.client.backoff import Backoff
from mooring.client.transport import AsyncTransport, UnknownOutcome, Unreachable
from mooring.kube.errors import MooringError
from mooring.kube.status import ApiError
from mooring.runtime.effects import Report, Run

_log = logging.getLogger("mooring.agents")


def system_clock() -> datetime:
    return datetime.now(UTC)


class TaskExecutor(ABC):
    """A run that fails without a report is wanted still. Nobody else would know of it, so it is begun again here."""

    def __init__(self, transport: AsyncTransport, *, clock: Callable[[], datetime] = system_clock) -> None:
        self._reporter = EffectReporter(transport, clock)
        self._runs: dict[str, asyncio.Task[None]] = {}

    def start(self, run: Run) -> None:
        if run.identity not in self._runs:
            task = asyncio.create_task(self._execute(run), name=f"effect {run.identity}")
            self._runs[run.identity] = task
            task.add_done_callback(lambda _: self._runs.pop(run.identity, None))

    def cancel(self, run: Run) -> None:
        if (task := self._runs.get(run.identity)) is not None:
            task.cancel()

    async def close(self) -> None:
        tasks = tuple(self._runs.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _execute(self, run: Run) -> None:
        delay = Backoff(random.Random())
        while True:
            try:
                async with asyncio.timeout(run.effect.timeout.total_seconds()):
                    return await self._reporter.report(run, await self.carry_out(run))
            except (ApiError, MooringError, UnknownOutcome, Unreachable, OSError, ValueError) as error:
                told = str(error) or f"it took longer than {run.effect.timeout.total_seconds():.0f} s"
                _log.warning("%s of %s %s failed: %s", run.effect.name, run.kind.kind, run.key, told)
            await asyncio.sleep(delay.next())

    @abstractmethod
    async def carry_out(self, run: Run) -> Report:
        """Do it, and say how it went."""
