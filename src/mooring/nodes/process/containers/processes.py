"""Containers as processes: started in a sandbox where the machine has one, signalled, and killed to the last of them.

In a sandbox everything that a container started ends with its first process, because they share a numbering of their
own. Without one they are found by their process group and by the mark in their environment.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from mooring.nodes.process.containers.launch import ID, Launch
from mooring.nodes.process.containers.limits import changed_limits
from mooring.nodes.process.containers.proc import children, family, kill_marked, memory_of
from mooring.nodes.process.containers.sandbox.cgroups import ControlGroups
from mooring.nodes.process.containers.sandbox.machine_view import binds_descriptors
from mooring.nodes.process.containers.streams.stdio import ContainerStdio
from mooring.nodes.process.containers.streams.terminal import terminal_pair
from mooring.nodes.process.volumes.sub_path import open_below

__all__ = ["ChildProcess", "ContainerProcess", "ExecResult", "launch"]

_CHUNK: Final = 1 << 16
_SHORTEST_POLL_SECONDS: Final = 0.002
_LONGEST_POLL_SECONDS: Final = 0.05
_OUTPUT: Final = 10 << 10


class ExecResult(NamedTuple):
    """How a command that was run beside a container ended; `code` is None when it took too long."""

    code: int | None
    output: str


class ContainerProcess:
    """One run of a container. `started` is False in the end if the command itself never ran."""

    def __init__(self, order: Launch, process: ChildProcess, status: int | None, stdio: ContainerStdio) -> None:
        self.order = order
        self.out_of_memory = False
        self.started = True
        self._process = process
        self._status_fd = status
        self.stdio = stdio
        self._said: dict[str, int] = {}
        self._unread = b""

    async def begun(self) -> None:
        """Return when the command runs, or will never run: before that, its file system is not there to be entered."""
        pause = _SHORTEST_POLL_SECONDS
        while self.order.sandboxed and self._process.returncode is None:
            if self._first_or_none() is not None:
                return
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_POLL_SECONDS)

    async def wait(self) -> int:
        """The exit code, as a shell would give it; everything it wrote is in its log by then."""
        code = await self._process.wait()
        if not self.order.sandboxed:
            self.kill()
        await self.stdio.drained()
        if self._status_fd is not None:
            # One that was killed together with its sandbox cannot tell; it had started nevertheless.
            self.started = code < 0 or "exit-code" in self._status()
            os.close(self._status_fd)
            self._status_fd = None
        return code if code >= 0 else 128 - code

    async def wait_child(self) -> None:
        """Return when it has ended, before its log is closed; for others than the one that supervises it."""
        await self._process.wait()

    @property
    def pid(self) -> int:
        """Of the process that all others of the container descend from."""
        return self._process.pid

    def signal(self, number: int) -> None:
        """Send a signal to the container's first process."""
        if self._process.returncode is not None:
            return
        with suppress(ProcessLookupError, PermissionError):
            first = self._first()
            # Held by descriptor: should the number have passed to another process, it is not the first one any more.
            descriptor = os.pidfd_open(first)
            try:
                if self._first() == first:
                    signal.pidfd_send_signal(descriptor, number)
            finally:
                os.close(descriptor)

    def kill(self) -> None:
        """Kill all of its processes."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        if not self.order.sandboxed:
            kill_marked(self.order.id, ID)

    def change_limits(self, groups: ControlGroups, name: str, *, memory: int | None, cpu: int | None) -> None:
        """Hold it to other limits from now on. Raises LimitRefused and OSError."""
        self.order = changed_limits(self.order, groups, self._process.pid, name, memory=memory, cpu=cpu)

    def over_limit(self) -> bool:
        """Whether its processes hold more memory than they may; from then on that is why it ends.

        Where the kernel keeps the limit, it has killed one of them by then; the others go with it, as with a kubelet.
        """
        limit, group = self.order.watched_memory, self.order.group
        if limit is not None:
            self.out_of_memory = memory_of(family(self._process.pid), limit) > limit
        elif group is not None:
            self.out_of_memory = group.killed_for_memory()
        return self.out_of_memory

    async def execute(self, command: Sequence[str], seconds: float) -> ExecResult:
        """Run a command beside the container, seeing what it sees."""
        read, write = os.pipe()
        try:
            child = self.beside(command, {"stdout": write, "stderr": write})
        except BaseException:
            os.close(read)
            raise
        finally:
            os.close(write)
        output = _Collected(read)
        try:
            async with asyncio.timeout(seconds):
                code = await child.wait()
        except TimeoutError:
            return ExecResult(None, "")
        finally:
            if child.returncode is None:
                # One that is given up leaves nothing behind, whatever it started.
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(child.pid, signal.SIGKILL)
                await child.wait_killed()
            output.close()
        return ExecResult(code if code >= 0 else 128 - code, output.data.decode(errors="replace"))

    def beside(
        self, command: Sequence[str], streams: Mapping[str, int], variables: Mapping[str, str] | None = None
    ) -> ChildProcess:
        """Start a command that sees what the container sees, as its user, with its rights and these variables."""
        order = self.order
        known = order.plain_environment if order.sandboxed else order.outer_environment()
        words = order.words_beside(command, self._first())
        folder = None if order.sandboxed else order.folder
        return ChildProcess(words, env={**known, **(variables or {})}, cwd=folder, **streams)

    def terminal(self) -> tuple[int, int]:
        """Both sides of a new terminal that a command beside the container knows by a name."""
        return terminal_pair(self._first() if self.order.sandboxed else None)

    def _first(self) -> int:
        if not self.order.sandboxed:
            return self._process.pid
        return self._first_or_none() or self._init or self._process.pid

    def _first_or_none(self) -> int | None:
        """The container's first process in a sandbox. The sandbox has one before it, which takes care of orphans."""
        init = self._init
        return None if init is None else next(iter(children(init)), None)

    @property
    def _init(self) -> int | None:
        return self._said.get("child-pid") or self._status().get("child-pid")

    def _status(self) -> dict[str, int]:
        """What bwrap has said up to now."""
        with suppress(BlockingIOError):
            while self._status_fd is not None and (data := os.read(self._status_fd, 4096)):
                # A line comes in pieces.
                *lines, self._unread = (self._unread + data).split(b"\n")
                for line in lines:
                    self._said |= json.loads(line)
        return self._said


def launch(order: Launch) -> ContainerProcess:
    """Start a container. Raises OSError when not even that can be done."""
    stdio = ContainerStdio(order.log, stdin=order.stdin, tty=order.tty)
    status_read, status_write = os.pipe() if order.sandboxed else (None, None)
    passed: list[int] = []
    opened: dict[str, int] = {}
    try:
        if order.sandboxed and status_read is not None and status_write is not None:
            os.set_blocking(status_read, False)
            opened = _opened(order)
            passed = [status_write, _arguments_file(order, status_write, opened)]
        child = ChildProcess(
            order.words(passed[1] if passed else -1),
            **stdio.child,
            pass_fds=[*passed, *opened.values()],
            env=order.outer_environment(),
            cwd=None if order.sandboxed else order.folder,
        )
    except BaseException:
        stdio.close()
        if status_read is not None:
            os.close(status_read)
        raise
    finally:
        stdio.close_child()
        for descriptor in (*opened.values(), *(passed or ([status_write] if status_write is not None else []))):
            os.close(descriptor)
    stdio.listen()
    return ContainerProcess(order, child, status_read, stdio)


def _opened(order: Launch) -> dict[str, int]:
    """Sources that a container could replace by a link, opened without following any."""
    found: dict[str, int] = {}
    if binds_descriptors():
        try:
            for mount in order.mounts:
                if mount.within and mount.source not in found:
                    found[mount.source] = open_below(Path(mount.within), Path(mount.source))
        except OSError:
            for descriptor in found.values():
                os.close(descriptor)
            raise
    return found


def _arguments_file(order: Launch, status: int, opened: Mapping[str, int]) -> int:
    """A file in memory with bwrap's arguments: secrets in them are not for everybody who lists processes."""
    descriptor = os.memfd_create("arguments")
    with open(descriptor, "wb", closefd=False) as file:
        file.write(b"\0".join(os.fsencode(word) for word in order.sandbox_arguments(status, opened)) + b"\0")
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


class ChildProcess:
    """A child process that is waited for in an event loop.

    Not the loop's own kind: some loops leave descriptors open in it that are none of its business.
    """

    def __init__(self, words: Sequence[str], **options: Any) -> None:
        given = {"stdin": subprocess.DEVNULL, **options}
        self._process = subprocess.Popen(words, start_new_session=True, **given)
        self.pid = self._process.pid
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[int] = self._loop.create_future()
        self._descriptor = os.pidfd_open(self.pid)
        self._loop.add_reader(self._descriptor, self._reap)

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    async def wait(self) -> int:
        # A waiter that is cancelled must not cancel the future that the other waiters share.
        return await asyncio.shield(self._ended)

    async def wait_killed(self) -> None:
        """Wait after SIGKILL, also when the waiter is cancelled meanwhile: the end is near, and must not be missed."""
        try:
            await self.wait()
        except asyncio.CancelledError:
            if not self._ended.done():
                self._reap()
            raise

    def _reap(self) -> None:
        self._loop.remove_reader(self._descriptor)
        os.close(self._descriptor)
        self._ended.set_result(self._process.wait())


class _Collected:
    """The first bytes of what a probe or hook writes; the rest is dropped."""

    def __init__(self, descriptor: int) -> None:
        self.data = b""
        self._descriptor = descriptor
        self._open = True
        os.set_blocking(descriptor, False)
        asyncio.get_running_loop().add_reader(descriptor, self._take)

    def close(self) -> None:
        """Read what is left and stop, even while a process still holds the other end of the pipe."""
        while self._open and self._take():
            pass
        if self._open:
            self._stop()

    def _take(self) -> bool:
        try:
            found = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return False
        if not found:
            self._stop()
        self.data = (self.data + found)[:_OUTPUT]
        return bool(found)

    def _stop(self) -> None:
        self._open = False
        asyncio.get_running_loop().remove_reader(self._descriptor)
        os.close(self._descriptor)
