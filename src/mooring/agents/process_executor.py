"""Executes effects as processes of this machine.

The end of a process, its exit code and the end of what it printed are written into the record of the run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from mooring.agents.child_process import TERMINATION_SECONDS, EffectCommand, EffectOutput, end_leftovers, run_child
from mooring.agents.effect_reporter import EffectReporter
from mooring.client.transport import AsyncTransport
from mooring.runtime.effects import Report, Run

__all__ = ["EffectCommand", "ProcessExecutor", "declared_command"]


def system_clock() -> datetime:
    return datetime.now(UTC)


def declared_command(run: Run) -> EffectCommand:
    """The command that the effect of a run declares."""
    if run.effect.command is None:
        raise ValueError(f"effect {run.effect.name} declares no command")
    return EffectCommand(run.effect.command(run.arguments))


class ProcessExecutor:
    """`commands` gives the command of an effect, by its name, in place of the one that the effect declares."""

    def __init__(
        self,
        transport: AsyncTransport,
        commands: Mapping[str, Callable[[Any], EffectCommand]] = MappingProxyType({}),
        *,
        clock: Callable[[], datetime] = system_clock,
        termination: float = TERMINATION_SECONDS,
    ) -> None:
        self._reporter = EffectReporter(transport, clock)
        self._commands = commands
        self._termination = termination
        self._runs: dict[str, asyncio.Task[None]] = {}
        self._cancelled: dict[str, asyncio.Event] = {}

    def start(self, run: Run) -> None:
        if run.identity in self._runs:
            return
        cancelled = self._cancelled[run.identity] = asyncio.Event()
        task = asyncio.create_task(self._execute(run, cancelled), name=f"effect {run.identity}")
        self._runs[run.identity] = task
        task.add_done_callback(lambda _: self._forget(run.identity))

    def cancel(self, run: Run) -> None:
        if run.identity in self._cancelled:
            self._cancelled[run.identity].set()

    async def close(self) -> None:
        """End all runs without a report: they stay on record, and the next driver starts them again."""
        tasks = list(self._runs.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _forget(self, identity: str) -> None:
        self._runs.pop(identity, None)
        self._cancelled.pop(identity, None)

    async def _execute(self, run: Run, cancelled: asyncio.Event) -> None:
        await self._reporter.report(run, await self.result(run, cancelled))

    async def result(self, run: Run, cancelled: asyncio.Event) -> Report:
        """Do it, and say how it went."""
        await end_leftovers(run)
        try:
            given = self._commands.get(run.effect.name)
            command = declared_command(run) if given is None else given(run.arguments)
        except (ValueError, KeyError) as error:
            return Report("Failed", message=f"it could not be started: {error!r}")
        seconds = run.effect.timeout.total_seconds()
        return await run_child(run, command, EffectOutput(), cancelled, seconds=seconds, termination=self._termination)
