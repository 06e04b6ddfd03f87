"""A command that is run beside a container for a client: its streams, its terminal, its exit code, and its end."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import suppress

from mooring.nodes.process.containers.environment.command_lookup import start_problem
from mooring.nodes.process.containers.proc import family
from mooring.nodes.process.containers.processes import ChildProcess, ContainerProcess
from mooring.nodes.process.containers.streams.descriptors import DescriptorReader, DescriptorWriter
from mooring.nodes.process.containers.streams.terminal import TERMINAL_VARIABLES, in_terminal, resize

__all__ = ["ExecFailed", "ExecProcess"]


class ExecFailed(Exception):
    """The command cannot be run; the text is what a container runtime says."""


class ExecProcess:
    """`stdout` and `stderr` are read to their end by the caller; with a terminal `stdout` has both."""

    def __init__(self, container: ContainerProcess, command: Sequence[str], *, stdin: bool, tty: bool) -> None:
        order = container.order
        if problem := start_problem(command[0], order.environment.get("PATH", ""), order.folder, order.mounts):
            raise ExecFailed(problem)
        self.stdin: DescriptorWriter | None = None
        self.stderr: DescriptorReader | None = None
        self._terminal: int | None = None
        self._child = self._in_terminal(container, command) if tty else self._with_pipes(container, command, stdin)

    def _in_terminal(self, container: ContainerProcess, command: Sequence[str]) -> ChildProcess:
        master, slave = container.terminal()
        try:
            streams = {"stdin": slave, "stdout": slave, "stderr": slave}
            variables = {} if "TERM" in container.order.environment else TERMINAL_VARIABLES
            child = container.beside(in_terminal(command), streams, variables)
        except BaseException:
            os.close(master)
            raise
        finally:
            os.close(slave)
        self.stdin = DescriptorWriter(os.dup(master))
        self.stdout = DescriptorReader(master)
        self._terminal = master
        return child

    def _with_pipes(self, container: ContainerProcess, command: Sequence[str], stdin: bool) -> ChildProcess:
        pipes = {name: os.pipe() for name in ("stdout", "stderr")}
        given = {name: write for name, (_, write) in pipes.items()}
        if stdin:
            given["stdin"], write_end = os.pipe()
            self.stdin = DescriptorWriter(write_end)
        try:
            child = container.beside(command, given)
        except BaseException:
            for read, _ in pipes.values():
                os.close(read)
            if self.stdin is not None:
                self.stdin.close()
            raise
        finally:
            for descriptor in given.values():
                os.close(descriptor)
        self.stdout, self.stderr = (DescriptorReader(read) for read, _ in pipes.values())
        return child

    def resize(self, width: int, height: int) -> None:
        if self._terminal is not None:
            resize(self._terminal, width, height)

    def close_stdin(self) -> None:
        """The client sends nothing more. A terminal stays: its output comes the same way."""
        if self.stdin is not None and self._terminal is None:
            self.stdin.close()

    async def wait(self) -> int:
        """The exit code, as a shell would give it."""
        code = await self._child.wait()
        return code if code >= 0 else 128 - code

    async def end(self) -> None:
        """Kill what is left of it, and close its streams."""
        while self._child.returncode is None:
            for pid in reversed(family(self._child.pid)):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            with suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await self._child.wait()
        for each in (self.stdin, self.stdout, self.stderr):
            if each is not None:
                each.close()
        self._terminal = None
