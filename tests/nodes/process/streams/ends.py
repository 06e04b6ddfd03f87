"""The two ends of a stream into a pod without a network or a process: a client's connection, and the pod."""

from __future__ import annotations

import asyncio
import errno
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from mooring.net.spdy_frames import OpenStream, Ping, ResetStream, SpdyReader, StreamData, StreamReply
from mooring.net.websocket_frames import FrameReader, Opcode
from tests.support.recordings import Draw
from tests.support.virtual_time import clock

LONG = 280


def told(data: bytes) -> str:
    """Bytes as they stand in a recording: short ones as they are."""
    return data.decode("latin-1") if len(data) <= LONG else f"{len(data)} bytes, {zlib.crc32(data):08x}"


class Trace:
    """What happened, with the moment of each."""

    def __init__(self) -> None:
        self.rows: list[list[Any]] = []

    def __call__(self, *what: Any) -> None:
        self.rows.append([round(clock(), 3), *what])


class Pipe:
    """The node's end of a connection. `slow` is how long each write takes; `decode` tells what was written."""

    def __init__(self, trace: Trace, slow: float, decode: Callable[[bytes], list[list[Any]]]) -> None:
        self.trace, self.slow, self.decode = trace, slow, decode
        self.incoming: asyncio.Queue[bytes] = asyncio.Queue()
        self.over = self.gone = False

    async def read(self) -> bytes:
        data = b"" if self.over else await self.incoming.get()
        self.over = self.over or not data
        return data

    async def write(self, data: bytes) -> None:
        if self.gone or self.over:
            raise ConnectionResetError("the other end of the stream has gone")
        for each in self.decode(data):
            self.trace("node", *each)
        if self.slow:
            await asyncio.sleep(self.slow)

    def close(self) -> None:
        if not self.over:
            self.trace("closed")
        self.over = True
        self.incoming.put_nowait(b"")

    def leave(self, *, silently: bool) -> None:
        """The client goes; silently, only a write finds that out."""
        self.gone = True
        self.trace("gone")
        if not silently:
            self.incoming.put_nowait(b"")


def websocket_frames(inner: Callable[[bytes], list[list[Any]]] | None) -> Callable[[bytes], list[list[Any]]]:
    """`inner` tells what the messages are made of, where they carry another protocol."""
    reader = FrameReader(masked=False)

    def decode(data: bytes) -> list[list[Any]]:
        found: list[list[Any]] = []
        for frame in reader.feed(data):
            if inner is not None and frame.opcode is Opcode.BINARY:
                found += inner(frame.payload)
            else:
                found.append([frame.opcode.name, told(frame.payload[:1]), told(frame.payload[1:])])
        return found

    return decode


def spdy_frames(reader: SpdyReader) -> Callable[[bytes], list[list[Any]]]:
    def decode(data: bytes) -> list[list[Any]]:
        found: list[list[Any]] = []
        for frame in reader.feed(data):
            match frame:
                case StreamData(number, body, final):
                    found.append(["data", number, told(body), *(["end"] if final else [])])
                case ResetStream(number, status):
                    found.append(["reset", number, int(status)])
                case StreamReply(number):
                    found.append(["reply", number])
                case Ping(number):
                    found.append(["ping", number])
                case OpenStream(number):
                    found.append(["open", number])
                case _:
                    found.append([type(frame).__name__])
        return found

    return decode


class Output:
    """What a command writes, and when; it may stay open after that, as when a process was left behind."""

    def __init__(self, parts: Sequence[tuple[float, bytes]], *, stays: bool) -> None:
        self.parts, self.stays = list(parts), stays

    async def read(self) -> bytes:
        if not self.parts:
            if self.stays:
                await asyncio.Event().wait()
            return b""
        wait, data = self.parts[0]
        await asyncio.sleep(wait)
        del self.parts[0]
        return data


class Input:
    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    async def write(self, data: bytes) -> bool:
        self.trace("stdin", told(data))
        return True


class Command:
    """A command that runs for so long, or until it is ended."""

    def __init__(self, draw: Draw, trace: Trace, *, stdin: bool, tty: bool) -> None:
        self.trace = trace
        self.stdin = Input(trace) if stdin else None
        self.life = draw.one((0.0, 0.4, 3.0, 25.0, 10_000.0))
        self.code = draw.one((0, 0, 1, 137))
        self.stdout = _output(draw, "out")
        self.stderr = None if tty else _output(draw, "err")

    def resize(self, width: int, height: int) -> None:
        self.trace("resize", width, height)

    def close_stdin(self) -> None:
        self.trace("stdin ends")

    async def wait(self) -> int:
        await asyncio.sleep(self.life)
        self.trace("exit", self.code)
        return self.code

    async def end(self) -> None:
        self.trace("ended")


def _output(draw: Draw, name: str) -> Output:
    waits = [draw.one((0.0, 0.3, 0.9, 2.0)) for _ in range(draw.below(5))]
    parts = [(wait, f"{name}{number} ".encode() * draw.one((1, 1, 50))) for number, wait in enumerate(waits)]
    return Output(parts, stays=draw.chance(0.3))


class Server:
    """A server behind a port of the pod: says what it hears back in capitals, and ends when it has heard the end."""

    def __init__(self, trace: Trace, port: int) -> None:
        self.trace, self.port = trace, port
        self.transport = self
        self._heard: asyncio.Queue[bytes] = asyncio.Queue()
        if port == 83:
            self._heard.put_nowait(b"welcome")

    async def read(self, most: int) -> bytes:
        data = await self._heard.get()
        assert len(data) <= most
        return data.upper()

    def write(self, data: bytes) -> None:
        if self.port == 84:
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")
        self.trace("pod", self.port, told(data))
        self._heard.put_nowait(data)

    async def drain(self) -> None:
        await asyncio.sleep(0.1)

    def write_eof(self) -> None:
        self.trace("pod", self.port, "heard the end")
        self._heard.put_nowait(b"")

    def abort(self) -> None:
        self.trace("pod", self.port, "is left")


async def dial(trace: Trace, host: str, port: int) -> tuple[Server, Server]:
    """80 and those above listen; 81 on the other loopback address only, 90 nowhere, 91 does not answer."""
    trace("dial", host, port)
    if port == 91:
        await asyncio.sleep(1000)
    if port == 90 or (port == 81 and host == "127.0.0.1"):
        raise ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")
    server = Server(trace, port)
    return server, server
