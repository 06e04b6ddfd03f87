"""WebSocket: frames by tables, and both ends of a connection over our own HTTP."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from mooring.net.asgi import Receive, Scope, Send, send_whole
from mooring.net.byte_stream import join_streams
from mooring.net.destination import Destination
from mooring.net.server import HttpServer
from mooring.net.websocket import HandshakeRefused, WebSocket, accept_websocket, open_websocket
from mooring.net.websocket_frames import Frame, FrameReader, Opcode, WebSocketError, frame_bytes
from tests.client.stories import awaited

MASK = b"\x37\xfa\x21\x3d"

# Frames from section 5.7 of the RFC.
FROM_THE_RFC = {
    "a text frame": (bytes.fromhex("810548656c6c6f"), False, [Frame(Opcode.TEXT, b"Hello")]),
    "a masked text frame": (bytes.fromhex("818537fa213d7f9f4d5158"), True, [Frame(Opcode.TEXT, b"Hello")]),
    "a fragmented message": (
        bytes.fromhex("010348656c80026c6f"),
        False,
        [Frame(Opcode.TEXT, b"Hel", False), Frame(Opcode.CONTINUATION, b"lo")],
    ),
    "a ping": (bytes.fromhex("890548656c6c6f"), False, [Frame(Opcode.PING, b"Hello")]),
    "256 bytes": (bytes.fromhex("827e0100") + b"x" * 256, False, [Frame(Opcode.BINARY, b"x" * 256)]),
    "64 KiB": (
        bytes.fromhex("827f0000000000010000") + b"x" * 65536,
        False,
        [Frame(Opcode.BINARY, b"x" * 65536)],
    ),
}

BROKEN = {
    "a client that does not mask": (bytes.fromhex("810548656c6c6f"), True, 1002, "a client's frame is not masked"),
    "a server that masks": (bytes.fromhex("818537fa213d7f9f4d5158"), False, 1002, "a server's frame is masked"),
    "a reserved bit": (b"\xc1\x00", False, 1002, "a frame has a reserved bit set"),
    "an unknown opcode": (b"\x83\x00", False, 1002, "a frame has the unknown opcode 3"),
    "a long ping": (b"\x89\x7e\x00\x80", False, 1002, "a control frame is too long or fragmented"),
    "a fragmented ping": (b"\x09\x00", False, 1002, "a control frame is too long or fragmented"),
    "a frame over the limit": (b"\x82\x7e\x04\x01", False, 1009, "a frame has 1025 bytes, and 1024 is the limit"),
}


@pytest.mark.parametrize("case", FROM_THE_RFC)
@pytest.mark.parametrize("step", [1, 3, 1 << 20])
def test_frames_are_read_however_they_are_cut(case: str, step: int) -> None:
    data, masked, expected = FROM_THE_RFC[case]
    reader = FrameReader(masked=masked)
    found = [frame for start in range(0, len(data), step) for frame in reader.feed(data[start : start + step])]
    assert found == expected


@pytest.mark.parametrize("case", FROM_THE_RFC)
def test_frames_are_written_as_they_are_read(case: str) -> None:
    data, masked, frames = FROM_THE_RFC[case]
    mask = MASK if masked else b""
    assert b"".join(frame_bytes(each.opcode, each.payload, mask, final=each.final) for each in frames) == data


@pytest.mark.parametrize("case", BROKEN)
def test_a_peer_that_breaks_the_protocol_is_told_how(case: str) -> None:
    data, masked, code, text = BROKEN[case]
    with pytest.raises(WebSocketError, match=text) as caught:
        FrameReader(masked=masked, most_bytes=1024).feed(data)
    assert caught.value.code == code


# Both ends

Serve = Callable[[Scope, Receive, Send], Coroutine[Any, Any, None]]


@asynccontextmanager
async def serving(app: Serve) -> AsyncGenerator[tuple[HttpServer, Destination]]:
    server = HttpServer(app)
    port = await server.listen("127.0.0.1", 0)
    try:
        yield server, Destination("127.0.0.1", port)
    finally:
        server.close()
        await server.finish(1.0)


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    try:
        socket = accept_websocket(scope, ["loud", "quiet"])
    except HandshakeRefused as refused:
        await send_whole(send, 400, b"text/plain", str(refused).encode())
        return
    while (message := await socket.receive()) is not None:
        await socket.send(message.upper() if socket.protocol == "loud" else message)


async def dialled(where: Destination, *protocols: str) -> WebSocket:
    return await open_websocket(
        await where.dial(), "/", protocols, {"Host": where.authority, "Authorization": "Bearer x"}, 5.0
    )


@awaited
async def test_messages_go_both_ways_over_an_upgraded_connection() -> None:
    async with serving(echo) as (server, where):
        socket = await dialled(where, "unknown", "loud")
        assert socket.protocol == "loud"
        for message in (b"hello", b"", b"x" * 300_000):
            await socket.send(message)
            assert await socket.receive() == message.upper()
        await socket.send(b"are you there?", Opcode.PING)
        await socket.send(b"yes")
        assert await socket.receive() == b"YES"
        # A stream is no request that is being answered: no limit of HTTP and no sweep holds for it.
        assert not server.connections
        assert list(server.streams.values()) == [b"Bearer x"]
        await socket.close()
        async with asyncio.timeout(5):
            while server.streams:
                await asyncio.sleep(0.01)


@awaited
async def test_a_protocol_that_nobody_speaks_is_refused_with_a_sentence() -> None:
    async with serving(echo) as (_, where):
        with pytest.raises(HandshakeRefused) as caught:
            await dialled(where, "strange")
        assert caught.value.response is not None
        assert caught.value.response.body == b"none of the protocols [strange] is spoken, only [loud, quiet]"


@awaited
async def test_a_server_that_stops_ends_its_streams_at_once() -> None:
    async with serving(echo) as (server, where):
        socket = await dialled(where, "quiet")
        await socket.send(b"hello")
        assert await socket.receive() == b"hello"
        server.close()
        async with asyncio.timeout(5):
            assert await socket.receive() is None


@awaited
async def test_nothing_is_sent_after_either_end_has_closed() -> None:
    async def closing(scope: Scope, receive: Receive, send: Send) -> None:
        await accept_websocket(scope, ["quiet"]).close(1001, "going away")

    async with serving(closing) as (_, where):
        socket = await dialled(where, "quiet")
        async with asyncio.timeout(5):
            assert await socket.receive() is None
        with pytest.raises(ConnectionResetError):
            await socket.send(b"late")

    async with serving(echo) as (_, where):
        socket = await dialled(where, "quiet")
        await socket.close()
        with pytest.raises(ConnectionResetError):
            await socket.send(b"late")


@awaited
async def test_a_reader_that_sleeps_makes_the_writer_wait() -> None:
    written = 0

    async def pour(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal written
        socket = accept_websocket(scope, ["pour"])
        for _ in range(1000):
            await socket.send(b"x" * 100_000)
            written += 100_000
        await socket.close()

    async with serving(pour) as (_, where):
        socket = await dialled(where, "pour")
        assert await socket.receive() == b"x" * 100_000
        before = -1
        while before != written:
            before = written
            await asyncio.sleep(0.05)
        assert written < 50_000_000
        read = 100_000
        while (message := await socket.receive()) is not None:
            read += len(message)
        assert read == 100_000_000


@awaited
async def test_a_proxy_passes_an_upgraded_connection_on_without_looking() -> None:
    async with serving(echo) as (_, behind):

        async def proxy(scope: Scope, receive: Receive, send: Send) -> None:
            # A connection is dialled within a time limit, and that needs a task.
            await asyncio.sleep(0)
            connection = await behind.dial()
            lines = [f"{scope['method']} {scope['path']} HTTP/1.1"]
            lines += [f"{name.decode()}: {value.decode()}" for name, value in scope["headers"]]
            answer = await connection.open("\r\n".join((*lines, "", "")).encode(), 5.0)
            assert answer.status == 101
            await join_streams(scope["upgrade"](list(answer.headers.items())), connection.upgraded())

        async with serving(proxy) as (server, where):
            socket = await dialled(where, "loud")
            await socket.send(b"through")
            assert await socket.receive() == b"THROUGH"
            await socket.close()
            async with asyncio.timeout(5):
                while server.tasks:
                    await asyncio.sleep(0.01)


@awaited
async def test_a_request_for_another_protocol_that_is_not_granted_is_answered_like_any_other() -> None:
    async def plain(scope: Scope, receive: Receive, send: Send) -> None:
        await send_whole(send, 200, b"text/plain", b"plain" if "upgrade" in scope else b"not asked")

    async with serving(plain) as (_, where):
        connection = await where.dial()
        asked = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
        assert (await connection.ask(asked, 5.0)).body == b"plain"
        assert not connection.usable
