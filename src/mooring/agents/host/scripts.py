"""Install and uninstall scripts: run once at a time, with a time limit, the end of their output kept for a condition.

A script is a process with a group of its own and the mark of the agent's folder in its environment. One that a killed
agent left behind is ended by that mark before the script is run again; scripts must bear to be run twice.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from mooring.agents.host.root_folder import MARK_VARIABLE, RootFolder
from mooring.nodes.process.containers.proc import kill_marked

__all__ = ["ScriptResult", "expand_script", "run_script"]

SCRIPT_VARIABLE: Final = "MOORING_HOST_SCRIPT"
# A condition may hold 32 KiB, but people read it in a terminal.
LONGEST_OUTPUT_CHARACTERS: Final = 2000
_TERMINATION_SECONDS: Final = 10.0
_PIPE_SECONDS: Final = 1.0
_CHUNK_BYTES: Final = 65536


class ScriptResult(NamedTuple):
    """`code` is None where the script took too long and was ended."""

    code: int | None
    output: str

    def problem(self, name: str, seconds: float) -> str:
        """Why it counts as failed, for a condition; empty where it does not."""
        if self.code == 0:
            return ""
        end = f"took longer than {seconds:.0f} s" if self.code is None else f"ended with exit code {self.code}"
        return f"the {name} script {end}: {self.output.strip() or 'it printed nothing'}"


def expand_script(text: str, variables: Mapping[str, str]) -> str:
    """The script with upstream's variables filled in, written as Go templates write them: {{.Hostname}}."""
    for name, value in variables.items():
        for form in (f"{{{{.{name}}}}}", f"{{{{ .{name} }}}}"):
            text = text.replace(form, value)
    return text


async def run_script(root: RootFolder, path: Path, seconds: float) -> ScriptResult:
    """Run a script file. When this is cancelled, the script is ended too."""
    identity = f"{root.mark}-{path.name}"
    await asyncio.to_thread(kill_marked, identity, SCRIPT_VARIABLE)
    starting = asyncio.create_task(_start(path, {MARK_VARIABLE: root.mark, SCRIPT_VARIABLE: identity}))
    try:
        process = await asyncio.shield(starting)
    except OSError as error:
        return ScriptResult(126, f"it cannot be started: {error}")
    except asyncio.CancelledError:
        # A start that is itself cancelled kills the shell alone, and waits for whatever the shell has begun.
        await asyncio.shield(asyncio.create_task(_end_start(starting)))
        raise
    tail = bytearray()
    reading = asyncio.create_task(_read(process.stdout, tail))
    try:
        async with asyncio.timeout(seconds):
            code: int | None = await process.wait()
    except TimeoutError:
        code = None
    finally:
        await asyncio.shield(asyncio.create_task(_end(process, reading)))
    return ScriptResult(code, tail.decode(errors="replace")[-LONGEST_OUTPUT_CHARACTERS:])


async def _start(path: Path, marks: Mapping[str, str]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *("/bin/bash" if Path("/bin/bash").exists() else "/bin/sh", str(path)),
        cwd="/",
        env={**os.environ, **marks},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )


async def _end_start(starting: asyncio.Task[asyncio.subprocess.Process]) -> None:
    with suppress(OSError):
        process = await starting
        await _end(process, asyncio.create_task(_read(process.stdout, bytearray())))


async def _read(stream: asyncio.StreamReader | None, tail: bytearray) -> None:
    """Read all of it, so that the script never blocks on the pipe, and keep the end."""
    while stream is not None and (data := await stream.read(_CHUNK_BYTES)):
        tail += data
        del tail[: -4 * LONGEST_OUTPUT_CHARACTERS]


async def _end(process: asyncio.subprocess.Process, reading: asyncio.Task[None]) -> None:
    """End what still runs of the script: SIGTERM to its group, then SIGKILL."""
    if process.returncode is None:
        _signal(process.pid, signal.SIGTERM)
        with suppress(TimeoutError):
            async with asyncio.timeout(_TERMINATION_SECONDS):
                await process.wait()
        if process.returncode is None:
            _signal(process.pid, signal.SIGKILL)
            await process.wait()
    # What a script put into the background stays: an installer may start services. Only its pipe is not waited for.
    with suppress(TimeoutError):
        async with asyncio.timeout(_PIPE_SECONDS):
            await reading


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
