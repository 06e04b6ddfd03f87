"""Runs services on a machine without systemd: started again with a growing pause, taken over by the next agent.

Services outlive the agent. The next one finds each by its record and waits for its end like for a child's.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Final

from mooring.agents.host.services.process_record import RECORDING, ProcessRecord, read_record
from mooring.agents.host.services.service import NodeService

__all__ = ["ServiceSupervisor", "restart_pause"]

FIRST_PAUSE_SECONDS: Final = 1.0
LONGEST_PAUSE_SECONDS: Final = 60.0
# A service that ran for as long has recovered.
_RECOVERED_SECONDS: Final = 600.0
_STOP_SECONDS: Final = 20.0
_RECORD_SECONDS: Final = 5.0
_RECORD_POLL_SECONDS: Final = 0.01
_LOG_CHECK_SECONDS: Final = 60.0
_LARGEST_LOG_BYTES: Final = 10 << 20
_log = logging.getLogger("mooring.agent")


def restart_pause(restarts: int) -> float:
    """How long a service that ended waits for its next start: nothing at first, then doubled each time."""
    return 0.0 if restarts == 0 else min(FIRST_PAUSE_SECONDS * 2 ** (restarts - 1), LONGEST_PAUSE_SECONDS)


class ServiceSupervisor:
    """`folder` holds the records of the services."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._children: dict[int, subprocess.Popen[bytes]] = {}

    async def ensure(self, service: NodeService) -> None:
        task = self._tasks.get(service.name)
        if task is None or task.done():
            first = read_record(self._record(service.name)) or await self._start(service)
            self._tasks[service.name] = asyncio.create_task(self._keep(service, first), name=f"keep {service.name}")

    async def is_running(self, name: str) -> bool:
        return read_record(self._record(name)) is not None

    async def stop(self, name: str) -> None:
        task = self._tasks.pop(name, None)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        record = read_record(self._record(name))
        for number in (signal.SIGTERM, signal.SIGKILL):
            if record is not None and record.is_running():
                with suppress(ProcessLookupError):
                    os.kill(record.pid, number)
                with suppress(TimeoutError):
                    async with asyncio.timeout(_STOP_SECONDS):
                        await self._ended(record)
        self._record(name).unlink(missing_ok=True)

    async def stop_pods(self) -> None:
        # Their group is the agent's own, and removed as a folder.
        return

    async def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._tasks.clear()
        for child in self._children.values():
            # The service goes on; a Popen would warn of a child that nobody waits for.
            child.returncode = child.poll() or 0

    def _record(self, name: str) -> Path:
        return self._folder / name

    async def _keep(self, service: NodeService, record: ProcessRecord | None) -> None:
        """Wait for the service's end and start it again, for ever."""
        restarts = 0
        clock = asyncio.get_running_loop().time
        while True:
            began = clock()
            if record is not None:
                await self._ended(record, service.log)
                _log.warning(
                    "%s (process %d) ended; %s has the end of its output", *service[:1], record.pid, service.log
                )
            restarts = 0 if clock() - began > _RECOVERED_SECONDS else restarts
            await asyncio.sleep(restart_pause(restarts))
            restarts += 1
            record = await self._start(service)

    async def _start(self, service: NodeService) -> ProcessRecord | None:
        """Start the service. None where its program cannot be run; the log of the agent says why."""
        path = self._record(service.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        service.log.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        with service.log.open("ab") as log:
            child = subprocess.Popen(
                ["/bin/sh", "-c", RECORDING, "sh", str(path), *service.argv],
                cwd="/",
                env=dict(service.environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._children[child.pid] = child
        for _ in range(int(_RECORD_SECONDS / _RECORD_POLL_SECONDS)):
            record = read_record(path)
            if record is not None or child.poll() is not None:
                break
            await asyncio.sleep(_RECORD_POLL_SECONDS)
        else:
            record = None
        _log.info("%s started as process %d", service.name, child.pid)
        return record

    async def _ended(self, record: ProcessRecord, log: Path | None = None) -> None:
        """Return when the process has ended. A child is reaped."""
        try:
            descriptor = os.pidfd_open(record.pid)
        except ProcessLookupError:
            descriptor = -1
        # A number that passed on between the record and this line is not waited for.
        if descriptor >= 0:
            try:
                while record.is_running() and not await _readable(descriptor, _LOG_CHECK_SECONDS):
                    _limit(log)
            finally:
                os.close(descriptor)
        child = self._children.pop(record.pid, None)
        if child is not None:
            await asyncio.to_thread(child.wait)


async def _readable(descriptor: int, seconds: float) -> bool:
    """Whether a process that is held by descriptor ends within this time."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(descriptor, ended.set)
    try:
        async with asyncio.timeout(seconds):
            await ended.wait()
        return True
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(descriptor)


def _limit(log: Path | None) -> None:
    """Keep a log small: the file is emptied in place, since the service holds it open, and its text kept beside it."""
    with suppress(OSError):
        if log is not None and log.stat().st_size > _LARGEST_LOG_BYTES:
            shutil.copyfile(log, log.with_suffix(".old"))
            os.truncate(log, 0)
