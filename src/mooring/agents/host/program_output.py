"""Runs a program of the machine for what it prints, within a time: one that hangs does not hold the agent up."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from typing import NamedTuple

__all__ = ["ProgramOutput", "program_output"]

# Even SIGKILL has to wait where a driver hangs.
_KILL_SECONDS = 1.0


class ProgramOutput(NamedTuple):
    """`code` is None where the program took too long and was killed with all that it had started."""

    code: int | None
    text: str


async def program_output(argv: tuple[str, ...], seconds: float) -> ProgramOutput:
    """Standard output and errors together. When this is cancelled, the program is ended too. Raises OSError for one
    that cannot be run.
    """
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(seconds):
            output, _ = await process.communicate()
    except (TimeoutError, asyncio.CancelledError) as ended:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with suppress(TimeoutError):
            async with asyncio.timeout(_KILL_SECONDS):
                await process.communicate()
        if isinstance(ended, asyncio.CancelledError):
            raise
        return ProgramOutput(None, "")
    return ProgramOutput(process.returncode, output.decode(errors="replace").strip())
