"""The standard streams of a container: what it writes goes into its log and to clients that are attached.

A container with `tty` has one terminal for all three; one with `stdin` has a pipe that attached clients write to.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from mooring.nodes.process.containers.streams.descriptors import DescriptorWriter
from mooring.nodes.process.containers.streams.terminal import resize, terminal_pair
from mooring.nodes.process.logs import LogWriter, StreamName

__all__ = ["ContainerStdio", "Listener"]

# Called with what a container writes, and with nothing at the end of a stream.
Listener = Callable[[StreamName, bytes], None]

_CHUNK: Final = 1 << 16
_DRAIN_SECONDS: Final = 1.0
_NAMES: Final[tuple[StreamName, StreamName]] = ("stdout", "stderr")


class ContainerStdio:
    """Read into the log until no process holds the other end. `child` has the descriptors that the process gets."""

    def __init__(
        self, log: LogWriter, *, stdin: bool = False, tty: bool = False, terminal: tuple[int, int] | None = None
    ) -> None:
        self.listeners: set[Listener] = set()
        self.stdin: DescriptorWriter | None = None
        self.tty = tty
        self.child: dict[str, int] = {"stdin": subprocess.DEVNULL}
        self._log = log
        self._read: dict[StreamName, int] = {}
        if tty:
            self._read["stdout"], slave = terminal or terminal_pair()
            self.child = {"stdin": slave, "stdout": slave, "stderr": slave}
        else:
            for name in _NAMES:
                self._read[name], self.child[name] = os.pipe()
        if stdin:
            self.child["stdin"], writer = self._stdin()
            self.stdin = DescriptorWriter(writer)
        for descriptor in self._read.values():
            os.set_blocking(descriptor, False)
        self._open = set(self._read)
        self._done = asyncio.Event()

    def _stdin(self) -> tuple[int, int]:
        return (self.child["stdin"], os.dup(self._read["stdout"])) if self.tty else os.pipe()

    def close_child(self) -> None:
        for descriptor in set(self.child.values()) - {subprocess.DEVNULL}:
            os.close(descriptor)
        self.child = {}

    def listen(self) -> None:
        loop = asyncio.get_running_loop()
        for name, descriptor in self._read.items():
            loop.add_reader(descriptor, self._take, name)

    async def drained(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_SECONDS):
                await self._done.wait()
        self.close()
        self._log.close()

    def resize(self, width: int, height: int) -> None:
        if self.tty and self._open:
            resize(self._read["stdout"], width, height)

    def close(self) -> None:
        if self.stdin is not None:
            self.stdin.close()
        for name in tuple(self._open):
            self._close(name)

    def _take(self, name: StreamName) -> None:
        try:
            data = os.read(self._read[name], _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            # A terminal that no process has open any more gives EIO instead of an end.
            data = b""
        if data:
            self._log.feed(name, data)
            self._tell(name, data)
        else:
            self._close(name)

    def _tell(self, name: StreamName, data: bytes) -> None:
        for listener in tuple(self.listeners):
            listener(name, data)

    def _close(self, name: StreamName) -> None:
        asyncio.get_running_loop().remove_reader(self._read[name])
        os.close(self._read[name])
        self._open.discard(name)
        self._tell(name, b"")
        if not self._open:
            self._done.set()
