"""Port-forward at the node's endpoint: over SPDY inside of WebSocket and by itself, and over the older channels."""

from __future__ import annotations

import asyncio
import hashlib
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mooring.kube.objects import Object
from mooring.net.byte_stream import BytePipe
from mooring.net.client_connection import request_bytes
from mooring.net.destination import Destination
from mooring.net.spdy import WebSocketPipe
from mooring.net.spdy_frames import OpenStream, ResetStream, SpdyEncoder, SpdyReader, StreamData, StreamReply
from mooring.net.websocket import HandshakeRefused, open_websocket
from mooring.nodes.process.containers.processes import ContainerProcess
from mooring.nodes.process.logs import LogWriter
from mooring.nodes.process.node_server import NodeServer
from mooring.nodes.process.pods.worker import NoLog
from mooring.nodes.process.streams.endpoint import NotRunning, StreamEndpoint
from mooring.nodes.process.streams.port_forward import CHANNELS, SPDY, TUNNEL, ports_of
from tests.client.stories import awaited
from tests.nodes.process.test_node_server import TOKEN

PATH = "/portForward/default/web"
HEADERS = {"Host": "node", "Authorization": f"Bearer {TOKEN}"}


class OnePod:
    def running(self, namespace: str, pod: str, container: str) -> tuple[Object, ContainerProcess]:
        raise NotRunning("nothing is entered here")

    def uid_of(self, namespace: str, pod: str) -> str:
        if (namespace, pod) != ("default", "web"):
            raise NotRunning(f'pod not found ("{pod}_{namespace}")')
        return "u-1"


def no_logs(namespace: str, pod: str, container: str, *, previous: bool) -> tuple[Path, LogWriter | None]:
    raise NoLog("there are none")


class Client:
    """kubectl's end of a SPDY connection."""

    def __init__(self, pipe: BytePipe) -> None:
        self._pipe = pipe
        self._encoder, self._reader = SpdyEncoder(), SpdyReader()
        self.got: dict[int, bytes] = {}
        self.ended: set[int] = set()
        self.reset: set[int] = set()
        self.replied: set[int] = set()

    async def opens(self, number: int, port: int | str, request: str, kind: str = "data") -> None:
        await self._send(OpenStream(number, {"streamType": kind, "port": str(port), "requestID": request}))

    async def connects(self, first: int, port: int) -> int:
        """Opens the two streams of a connection; the number of that for data."""
        await self.opens(first, port, str(first), "error")
        await self._send(StreamData(first, b"", True))
        await self.opens(first + 2, port, str(first))
        return first + 2

    async def says(self, number: int, data: bytes, *, final: bool = False) -> None:
        await self._send(StreamData(number, data, final))

    async def _send(self, frame: OpenStream | StreamData) -> None:
        await self._pipe.write(self._encoder.encode(frame))

    async def until(self, number: int, *, ended: bool = True, text: bytes = b"") -> bytes:
        """What has come on a stream, once it has ended or has this text."""
        async with asyncio.timeout(10):
            while not (ended and number in self.ended) and not (text and text in self.got.get(number, b"")):
                data = await self._pipe.read()
                assert data, "the connection ended"
                for frame in self._reader.feed(data):
                    match frame:
                        case StreamData(stream, more, final):
                            self.got[stream] = self.got.get(stream, b"") + more
                            if final:
                                self.ended.add(stream)
                        case ResetStream(stream):
                            self.reset.add(stream)
                            self.ended.add(stream)
                        case StreamReply(stream):
                            self.replied.add(stream)
                        case _:
                            pass
        return self.got.get(number, b"")


@asynccontextmanager
async def node() -> AsyncIterator[Destination]:
    server = NodeServer(no_logs, StreamEndpoint(OnePod()), hashlib.sha256(TOKEN.encode()).hexdigest())
    try:
        yield Destination("127.0.0.1", await server.start(None))
    finally:
        await server.close()


@asynccontextmanager
async def shouting() -> AsyncIterator[int]:
    """A server in the pod: says everything back in capitals, and goodbye when the client has ended."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data.upper())
            await writer.drain()
        writer.write(b"goodbye")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def tunnel(where: Destination) -> Client:
    socket = await open_websocket(await where.dial(), PATH, [TUNNEL], HEADERS, 5.0)
    assert socket.protocol == TUNNEL
    return Client(WebSocketPipe(socket))


async def plain(where: Destination) -> Client:
    connection = await where.dial()
    asked = {**HEADERS, "Connection": "Upgrade", "Upgrade": "SPDY/3.1", "X-Stream-Protocol-Version": SPDY}
    answer = await connection.open(request_bytes("POST", PATH, asked), 5.0)
    assert (answer.status, answer.headers[b"x-stream-protocol-version"]) == (101, SPDY.encode())
    return Client(connection.upgraded())


@pytest.mark.parametrize("opened", [tunnel, plain])
@awaited
async def test_two_connections_share_one_stream_and_end_by_themselves(opened: object) -> None:
    async with node() as where, shouting() as port:
        client: Client = await opened(where)  # type: ignore[operator]
        one, two = await client.connects(1, port), await client.connects(5, port)
        text = b"x" * 200_000
        await client.says(one, b"hello")
        assert await client.until(one, text=b"HELLO") == b"HELLO"
        await client.says(two, text)
        await client.says(two, b"", final=True)
        assert await client.until(two) == text.upper() + b"goodbye"
        assert await client.until(5) == b""
        await client.says(one, b" again", final=True)
        assert await client.until(one) == b"HELLO AGAINgoodbye"
        assert await client.until(1) == b""
        assert client.replied == {1, 3, 5, 7}


@awaited
async def test_a_port_where_nobody_listens_is_told_on_the_error_stream() -> None:
    async with node() as where:
        client = await tunnel(where)
        data = await client.connects(1, 1)
        refused = "dial tcp 127.0.0.1:1: connect: connection refused"
        expected = f"error forwarding port 1 to pod web_default, uid u-1: {refused}"
        assert await client.until(1) == expected.encode()
        await client.until(data)
        assert data in client.reset


@awaited
async def test_a_stream_without_a_port_is_refused_and_the_others_go_on() -> None:
    async with node() as where, shouting() as port:
        client = await tunnel(where)
        await client.opens(1, "http", "0")
        await client.until(1)
        assert client.reset == {1}
        data = await client.connects(3, port)
        await client.says(data, b"still here", final=True)
        assert await client.until(data) == b"STILL HEREgoodbye"


@awaited
async def test_the_older_form_has_two_channels_for_each_port() -> None:
    async with node() as where, shouting() as port:
        target = f"{PATH}?port={port}&port=1"
        socket = await open_websocket(await where.dial(), target, [CHANNELS], HEADERS, 5.0)
        await socket.send(b"\0hello")
        got: dict[int, bytes] = {}
        async with asyncio.timeout(10):
            while got.get(0, b"")[2:] != b"HELLO" or len(got.get(3, b"")) < 10:
                message = await socket.receive()
                assert message is not None
                got[message[0]] = got.get(message[0], b"") + message[1:]
        assert (got[0][:2], got[1], got[2]) == (struct.pack("<H", port), struct.pack("<H", port), struct.pack("<H", 1))
        assert b"connection refused" in got[3]
        await socket.close()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"port": ["80", "443"]}, [80, 443]),
        ({"port": ["80,443"]}, [80, 443]),
        ({}, 'query parameter "port" is required'),
        ({"port": ["http"]}, 'unable to parse "http" as a port'),
        ({"port": ["0"]}, 'unable to parse "0" as a port'),
        ({"port": [",".join(["1"] * 200)]}, "200 ports are more than one connection has channels for"),
    ],
)
def test_the_ports_of_a_query_are_read(query: dict[str, list[str]], expected: list[int] | str) -> None:
    if isinstance(expected, list):
        assert ports_of(query) == expected
    else:
        with pytest.raises(ValueError, match=expected):
            ports_of(query)


@awaited
async def test_a_pod_that_is_not_there_is_said_before_the_connection_leaves_http() -> None:
    async with node() as where:
        with pytest.raises(HandshakeRefused) as caught:
            await open_websocket(await where.dial(), "/portForward/default/other", [TUNNEL], HEADERS, 5.0)
        assert caught.value.response is not None
        assert (caught.value.response.status, caught.value.response.body) == (404, b'pod not found ("other_default")')
