"""A program run for an effect: one process with a group of its own, whose output is read and whose end is certain.

A run that takes too long, or that is not wanted any more, is asked to end (SIGTERM) and made to (SIGKILL) when it does
not; whatever it has started goes with it.

Every process has the identity of its run in its environment. When a driver was killed, processes that it left behind
are found by that and ended before the run begins again, so that no two of one identity run at once on a machine. The
program itself finds the id in MOORING_EFFECT_ID, and can tell by it what an earlier try has done.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from mooring.nodes.process.containers.proc import kill_marked
from mooring.runtime.effects import LONGEST_OUTPUT_CHARACTERS, Report, Run

__all__ = ["TERMINATION_SECONDS", "EffectCommand", "EffectOutput", "end_leftovers", "run_child"]

IDENTITY_VARIABLE: Final = "MOORING_EFFECT_IDENTITY"
ID_VARIABLE: Final = "MOORING_EFFECT_ID"
# How long a process may take to end when it is asked to.
TERMINATION_SECONDS: Final = 10.0
_CHUNK_BYTES: Final = 65536


class EffectCommand(NamedTuple):
    """A program with its arguments. `environment` is added to what this process has, less the variables of `without`.

    `without` is how the names of variables begin that the program must not have from this process.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str] = MappingProxyType({})
    directory: Path | None = None
    without: str = ""


class EffectOutput:
    """The tail of a process's output. All of it is read, so that the process never blocks on the pipe."""

    def __init__(self, most: int = LONGEST_OUTPUT_CHARACTERS) -> None:
        self._most = most
        self._data = b""
        self._left_out = False

    def add(self, data: bytes) -> None:
        both = self._data + data
        self._left_out = self._left_out or len(both) > self._most
        self._data = both[-self._most :]

    async def read(self, stream: asyncio.StreamReader | None) -> None:
        if stream is None:
            return
        while data := await stream.read(_CHUNK_BYTES):
            self.add(data)

    @property
    def text(self) -> str:
        found = self._data.decode(errors="replace")
        return found if not self._left_out else found[found.find("\n") + 1 :] or found


async def end_leftovers(run: Run) -> None:
    """End what an earlier process has left of this run."""
    await asyncio.to_thread(kill_marked, run.identity, IDENTITY_VARIABLE)


async def run_child(
    run: Run,
    command: EffectCommand,
    output: EffectOutput,
    cancelled: asyncio.Event,
    *,
    seconds: float,
    termination: float = TERMINATION_SECONDS,
    errors: EffectOutput | None = None,
) -> Report:
    """Run it to its end. What it prints goes to `output`; where `errors` is given, its error output goes there."""
    inherited = {k: v for k, v in os.environ.items() if not (command.without and k.startswith(command.without))}
    try:
        process = await asyncio.create_subprocess_exec(
            *command.argv,
            cwd=command.directory,
            env={**inherited, **command.environment, IDENTITY_VARIABLE: run.identity, ID_VARIABLE: run.id},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT if errors is None else asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Report("Failed", message=f"it could not be started: {error!r}")
    reading = asyncio.gather(output.read(process.stdout), (errors or output).read(process.stderr))
    try:
        why = await _wait(process, cancelled, seconds)
    finally:
        await _end(process, termination)
        # What escaped the group may hold the pipe open for ever.
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                await reading
    if why is not None:
        return why._replace(exit_code=process.returncode, output=output.text)
    return Report("Failed" if process.returncode else "Succeeded", process.returncode, output.text)


async def _wait(process: asyncio.subprocess.Process, cancelled: asyncio.Event, seconds: float) -> Report | None:
    """Wait for the process. A report of the reason if it must be ended; None if it ended by itself."""
    ended = asyncio.create_task(process.wait())
    unwanted = asyncio.create_task(cancelled.wait())
    try:
        await asyncio.wait((ended, unwanted), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            return None
        if unwanted.done():
            return Report("Cancelled", message="it is not wanted any more")
        return Report("TimedOut", message=f"it took longer than {seconds:.0f} s")
    finally:
        ended.cancel()
        unwanted.cancel()


async def _end(process: asyncio.subprocess.Process, termination: float) -> None:
    """End the process group: SIGTERM, then SIGKILL."""
    if process.returncode is None:
        _signal(process.pid, signal.SIGTERM)
        try:
            async with asyncio.timeout(termination):
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
