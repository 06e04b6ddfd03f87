"""A client that is attached to a running container: sees what it writes from now on, and writes to its stdin."""

from __future__ import annotations

import asyncio
from typing import Final

from mooring.nodes.process.containers.processes import ContainerProcess
from mooring.nodes.process.logs import StreamName

__all__ = ["Attachment"]

# A client that has not taken more than this is behind for good, and the container must not wait for it.
_MOST_UNREAD_BYTES: Final = 4 * 1024 * 1024


class OutputTail:
    """One stream of a container from now on, for one client."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._over = False
        self._news = asyncio.Event()

    def feed(self, data: bytes) -> None:
        """Nothing is the end; a client that is too far behind does not get the rest."""
        self._over = self._over or not data or self._size + len(data) > _MOST_UNREAD_BYTES
        if not self._over:
            self._parts.append(data)
            self._size += len(data)
        self._news.set()

    async def read(self) -> bytes:
        while not self._parts and not self._over:
            self._news.clear()
            await self._news.wait()
        data, self._parts, self._size = b"".join(self._parts), [], 0
        return data


class Attachment:
    """`once` says that the container's stdin ends with the first client that had it."""

    def __init__(self, container: ContainerProcess, *, stdin: bool, once: bool) -> None:
        self._container = container
        self._stdio = container.stdio
        self._once = once
        self.stdin = self._stdio.stdin if stdin else None
        self.stdout, tail = OutputTail(), OutputTail()
        self.stderr = None if self._stdio.tty else tail
        self._tails: dict[StreamName, OutputTail] = {"stdout": self.stdout, "stderr": tail}
        self._stdio.listeners.add(self._take)

    def _take(self, name: StreamName, data: bytes) -> None:
        self._tails[name].feed(data)

    def resize(self, width: int, height: int) -> None:
        self._stdio.resize(width, height)

    def close_stdin(self) -> None:
        if self.stdin is not None and self._once and not self._stdio.tty:
            self.stdin.close()

    async def wait(self) -> int:
        """Until the container ends; its exit code is in the pod's status and not the client's."""
        await self._container.wait_child()
        return 0

    async def end(self) -> None:
        self._stdio.listeners.discard(self._take)
        if self.stdin is not None and self._once:
            self.stdin.close()
