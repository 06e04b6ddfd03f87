"""Pipes and terminals of processes, read and written in an event loop with backpressure.

Not the loop's own transports: some loops take no terminal for a pipe. A descriptor is watched only while somebody waits
for it, so a process whose output nobody takes waits too.
"""

from __future__ import annotations

import asyncio
import os
from typing import Final

__all__ = ["DescriptorReader", "DescriptorWriter"]

_CHUNK_BYTES: Final = 32 * 1024


class DescriptorReader:
    """The reading end of a pipe, or the master side of a terminal. Owns its descriptor."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._closed = False

    async def read(self) -> bytes:
        """What is there, as soon as there is something; empty when no process can write any more."""
        loop = asyncio.get_running_loop()
        while not self._closed:
            try:
                return os.read(self._descriptor, _CHUNK_BYTES)
            except BlockingIOError:
                pass
            except OSError:
                # A terminal that no process has open any more gives EIO instead of an end.
                return b""
            ready = loop.create_future()
            loop.add_reader(self._descriptor, _set, ready)
            try:
                await ready
            finally:
                if not self._closed:
                    loop.remove_reader(self._descriptor)
        return b""

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            asyncio.get_running_loop().remove_reader(self._descriptor)
            os.close(self._descriptor)


class DescriptorWriter:
    """The writing end of a pipe, or the master side of a terminal. Owns its descriptor."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._closed = False
        self._lock = asyncio.Lock()

    async def write(self, data: bytes) -> bool:
        """Write all of it; False when nobody reads any more."""
        async with self._lock:
            loop, left = asyncio.get_running_loop(), memoryview(data)
            while left and not self._closed:
                try:
                    left = left[os.write(self._descriptor, left) :]
                    continue
                except BlockingIOError:
                    pass
                except OSError:
                    return False
                ready = loop.create_future()
                loop.add_writer(self._descriptor, _set, ready)
                try:
                    await ready
                finally:
                    if not self._closed:
                        loop.remove_writer(self._descriptor)
            return not self._closed

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            asyncio.get_running_loop().remove_writer(self._descriptor)
            os.close(self._descriptor)


def _set(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
