"""Port-forward: connections of a client to ports of a pod, several at once over one stream.

Over SPDY each connection is a pair of streams, one for data and one for what went wrong. The older form over WebSocket
has a pair of channels for each port of the query, and one connection to each.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Mapping
from contextlib import suppress
from typing import Final, Protocol

from mooring.net.byte_stream import BytePipe
from mooring.net.destination import Destination, dial_failure
from mooring.net.spdy import SpdySession, SpdyStream
from mooring.net.spdy_frames import ResetStatus
from mooring.net.websocket import WebSocket

__all__ = ["CHANNELS", "SPDY", "TUNNEL", "forward_channels", "forward_spdy", "ports_of"]

SPDY: Final = "portforward.k8s.io"
TUNNEL: Final = f"SPDY/3.1+{SPDY}"
CHANNELS: Final = "v4.channel.k8s.io"
# Pods have the network of this machine; a server may listen on either loopback address.
_LOOPBACK: Final = ("127.0.0.1", "::1")
_DIAL_SECONDS: Final = 10.0
_CHUNK_BYTES: Final = 32 * 1024
_MOST_PORTS: Final = 127


class _ClientEnd(Protocol):
    """A client's side of one connection."""

    async def read(self) -> bytes: ...
    async def write(self, data: bytes) -> None: ...
    async def finish(self) -> None: ...


# Over SPDY


async def forward_spdy(pipe: BytePipe, pod: str) -> None:
    """Serve until the client has gone. `pod` is how messages name it."""
    session = SpdySession(pipe)
    reading = asyncio.create_task(session.run())
    pairs: dict[str, dict[str, SpdyStream]] = {}
    connections: set[asyncio.Task[None]] = set()
    try:
        while (stream := await session.accept()) is not None:
            if (key := _pair_of(stream)) is None:
                await stream.reset(ResetStatus.PROTOCOL_ERROR)
                continue
            with suppress(ConnectionResetError):
                await stream.reply()
            pair = pairs.setdefault(key, {})
            pair[stream.headers["streamtype"]] = stream
            if len(pair) == 2:
                del pairs[key]
                task = asyncio.create_task(_serve_pair(pair["data"], pair["error"], pod))
                connections.add(task)
                task.add_done_callback(connections.discard)
    finally:
        session.close()
        for task in (reading, *connections):
            task.cancel()
        await asyncio.gather(reading, *connections, return_exceptions=True)


def _pair_of(stream: SpdyStream) -> str | None:
    """What the two streams of a connection have in common; None for a stream that is neither."""
    headers = stream.headers
    if headers.get("streamtype") not in ("data", "error") or _port(headers.get("port", "")) is None:
        return None
    # The oldest clients do not number their requests, and open the data stream right after the other.
    counted = stream.number - (2 if headers["streamtype"] == "data" else 0)
    return headers.get("requestid") or f"#{counted}"


async def _serve_pair(data: SpdyStream, error: SpdyStream, pod: str) -> None:
    port = _port(data.headers["port"]) or 0
    problem = await _connect(data, port)
    with suppress(ConnectionResetError):
        if problem:
            await error.write(f"error forwarding port {port} to pod {pod}: {problem}".encode())
            await data.reset()
        await error.finish()


async def _connect(client: _ClientEnd, port: int) -> str:
    """Join a client with a port until the server behind it ends; what went wrong, if anything."""
    problem = ""
    for host in _LOOPBACK:
        try:
            async with asyncio.timeout(_DIAL_SECONDS):
                reader, writer = await asyncio.open_connection(host, port)
        except OSError as failure:
            problem = problem or dial_failure(failure, Destination(host, port))
        else:
            await _join(client, reader, writer)
            return ""
    return problem


async def _join(client: _ClientEnd, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    sending = asyncio.create_task(_to_pod(client, writer))
    try:
        with suppress(OSError):
            while data := await reader.read(_CHUNK_BYTES):
                await client.write(data)
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        writer.transport.abort()
        await client.finish()


async def _to_pod(client: _ClientEnd, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await client.read():
            writer.write(data)
            await writer.drain()
        writer.write_eof()


# Over the channels of a WebSocket


def ports_of(query: Mapping[str, list[str]]) -> list[int]:
    """The ports that a client names in its query. Raises ValueError in the kubelet's words."""
    given = query.get("port") or []
    if not given:
        raise ValueError('query parameter "port" is required')
    found = []
    for text in ",".join(given).split(","):
        if (port := _port(text)) is None:
            raise ValueError(f'unable to parse "{text}" as a port')
        found.append(port)
    if len(found) > _MOST_PORTS:
        raise ValueError(f"{len(found)} ports are more than one connection has channels for ({_MOST_PORTS})")
    return found


class _ChannelPair:
    def __init__(self, socket: WebSocket, number: int, port: int) -> None:
        self.port = port
        self.queue: asyncio.Queue[bytes] = asyncio.Queue(32)
        self._socket = socket
        self._number = number

    async def begin(self) -> None:
        """Each channel begins with its port."""
        for channel in (self._number, self._number + 1):
            await self._socket.send(struct.pack("<BH", channel, self.port))

    async def read(self) -> bytes:
        return await self.queue.get()

    async def write(self, data: bytes) -> None:
        await self._socket.send(bytes((self._number,)) + data)

    async def finish(self) -> None:
        return

    async def fail(self, problem: str) -> None:
        await self._socket.send(bytes((self._number + 1,)) + problem.encode())


async def forward_channels(socket: WebSocket, ports: list[int], pod: str) -> None:
    """Serve until the client has gone or all servers have ended."""
    pairs = [_ChannelPair(socket, 2 * index, port) for index, port in enumerate(ports)]
    reading = asyncio.create_task(_distribute(socket, pairs))
    serving = asyncio.gather(*(_serve_channels(pair, pod) for pair in pairs))
    try:
        await asyncio.wait((reading, serving), return_when=asyncio.FIRST_COMPLETED)
    finally:
        reading.cancel()
        serving.cancel()
        await asyncio.gather(reading, serving, return_exceptions=True)
        await socket.close()


async def _serve_channels(pair: _ChannelPair, pod: str) -> None:
    with suppress(ConnectionResetError):
        await pair.begin()
        if problem := await _connect(pair, pair.port):
            await pair.fail(f"error forwarding port {pair.port} to pod {pod}: {problem}")


async def _distribute(socket: WebSocket, pairs: list[_ChannelPair]) -> None:
    while (message := await socket.receive()) is not None:
        pair, channel = divmod(message[0], 2) if message else (0, 1)
        # Nothing would be the end, and clients have no word for that here.
        if channel == 0 and pair < len(pairs) and len(message) > 1:
            await pairs[pair].queue.put(message[1:])


def _port(text: str) -> int | None:
    return int(text) if text.isdecimal() and 0 < int(text) < 1 << 16 else None
