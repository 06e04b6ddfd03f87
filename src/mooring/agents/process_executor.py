"""Executes effects as processes of this machine.

A run is one process with a group of its own. Its end, its exit code and the end of what it printed are written into the
record of the run. A run that takes too long, or that is not wanted any more, is asked to end (SIGTERM) and made to
(SIGKILL) when it does not; whatever it has started goes with it.

Every process has the identity of its run in its environment. When a driver was killed, processes that it left behind
are found by that and ended before the run begins again, so that no two of one identity run at once on a machine. The
program itself finds the id in MOORING_EFFECT_ID, and can tell by it what an earlier try has done.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from mooring.agents.effect_reporter import EffectReporter
from mooring.client.transport import AsyncTransport
from mooring.nodes.process.containers.proc import kill_marked
from mooring.runtime.effects import LONGEST_OUTPUT_CHARACTERS, Report, Run

IDENTITY_VARIABLE: Final = "MOORING_EFFECT_IDENTITY"
ID_VARIABLE: Final = "MOORING_EFFECT_ID"
# How long a process may take to end when it is asked to.
TERMINATION_SECONDS: Final = 10.0
_CHUNK_BYTES: Final = 65536


class EffectCommand(NamedTuple):
    """A program with its arguments. `environment` is added to what this process has."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = MappingProxyType({})
    directory: Path | None = None


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
        self._cancelled[run.identity] = asyncio.Event()
        task = asyncio.create_task(self._execute(run), name=f"effect {run.identity}")
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

    async def _execute(self, run: Run) -> None:
        await self._reporter.report(run, await self._result(run))

    async def _result(self, run: Run) -> Report:
        await asyncio.to_thread(kill_marked, run.identity, IDENTITY_VARIABLE)
        try:
            given = self._commands.get(run.effect.name)
            command = declared_command(run) if given is None else given(run.arguments)
            process = await asyncio.create_subprocess_exec(
                *command.argv,
                cwd=command.directory,
                env={**os.environ, **command.environment, IDENTITY_VARIABLE: run.identity, ID_VARIABLE: run.id},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        except (OSError, ValueError, KeyError) as error:
            return Report("Failed", message=f"it could not be started: {error!r}")
        output = _Tail()
        reading = asyncio.create_task(output.read(process.stdout))
        try:
            why = await self._wait(run, process)
        finally:
            await self._end(process)
            # What escaped the group may hold the pipe open for ever.
            with suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await reading
        if why is not None:
            return why._replace(exit_code=process.returncode, output=output.text)
        return Report("Failed" if process.returncode else "Succeeded", process.returncode, output.text)

    async def _wait(self, run: Run, process: asyncio.subprocess.Process) -> Report | None:
        """Wait for the process. A report of the reason if it must be ended; None if it ended by itself."""
        ended = asyncio.create_task(process.wait())
        cancelled = asyncio.create_task(self._cancelled[run.identity].wait())
        seconds = run.effect.timeout.total_seconds()
        try:
            await asyncio.wait((ended, cancelled), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                return None
            if cancelled.done():
                return Report("Cancelled", message="it is not wanted any more")
            return Report("TimedOut", message=f"it took longer than {seconds:.0f} s")
        finally:
            ended.cancel()
            cancelled.cancel()

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        """End the process group: SIGTERM, then SIGKILL."""
        if process.returncode is None:
            _signal(process.pid, signal.SIGTERM)
            try:
                async with asyncio.timeout(self._termination):
                    await process.wait()
            except TimeoutError:
                pass
            finally:
                _signal(process.pid, signal.SIGKILL)
            await process.wait()
        _signal(process.pid, signal.SIGKILL)


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


class _Tail:
    """The tail of a process's output. All of it is read, so that the process never blocks on the pipe."""

    def __init__(self) -> None:
        self._data = b""
        self._left_out = False

    async def read(self, stream: asyncio.StreamReader | None) -> None:
        if stream is None:
            return
        while data := await stream.read(_CHUNK_BYTES):
            both = self._data + data
            self._left_out = self._left_out or len(both) > LONGEST_OUTPUT_CHARACTERS
            self._data = both[-LONGEST_OUTPUT_CHARACTERS:]

    @property
    def text(self) -> str:
        found = self._data.decode(errors="replace")
        return found if not self._left_out else found[found.find("\n") + 1 :] or found
