"""SPDY/3.1: frames by tables, and sessions over a pipe in memory."""

from __future__ import annotations

import asyncio
import zlib

import pytest

from mooring.net import spdy_frames
from mooring.net.spdy import SpdySession
from mooring.net.spdy_frames import (
    DICTIONARY,
    GoAway,
    OpenStream,
    Ping,
    ResetStatus,
    ResetStream,
    SpdyEncoder,
    SpdyError,
    SpdyFrame,
    SpdyReader,
    StreamData,
    StreamReply,
)
from tests.client.stories import awaited

FRAMES: list[SpdyFrame] = [
    OpenStream(1, {"streamtype": "error", "port": "80", "requestid": "0"}),
    OpenStream(3, {"streamtype": "data", "port": "80", "requestid": "0"}, True),
    StreamReply(1, {}),
    StreamData(3, b"GET / HTTP/1.1\r\n\r\n"),
    StreamData(3, b"", True),
    Ping(7),
    ResetStream(3, ResetStatus.CANCEL),
    GoAway(3),
]

# Two streams for port 80 and a ping, as the client in Go sends them.
SENT_BY_GO = bytes.fromhex(
    "800300010000003d0000000100000000000078f9e3c6a7c202253a703a2b294a4dcc851625aca9a0808614cb45a024cc6461c0c0c0c0"
    "590489c44c50e2663400000000ffff"
    "800300010000001800000003000000000000c2aa15540a2512d209000000ffff"
    "800300060000000400000001"
)


def test_the_dictionary_is_the_one_of_the_protocol() -> None:
    # zlib names a dictionary by this checksum in the streams that use it.
    assert (len(DICTIONARY), zlib.adler32(DICTIONARY)) == (1423, 0xE3C6A7C2)


def test_frames_of_the_client_in_go_are_understood() -> None:
    assert SpdyReader().feed(SENT_BY_GO) == [
        OpenStream(1, {"streamtype": "error", "port": "80", "requestid": "0"}),
        OpenStream(3, {"streamtype": "data", "port": "80", "requestid": "0"}),
        Ping(1),
    ]


@pytest.mark.parametrize("step", [1, 7, 1 << 20])
def test_frames_are_read_as_they_were_written_however_they_are_cut(step: int) -> None:
    encoder, reader = SpdyEncoder(), SpdyReader()
    data = b"".join(map(encoder.encode, FRAMES))
    found = [frame for start in range(0, len(data), step) for frame in reader.feed(data[start : start + step])]
    assert found == FRAMES


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (StreamData(3, b"abc", True), "00000003 01000003 616263"),
        (Ping(2), "80030006 00000004 00000002"),
        (ResetStream(5, ResetStatus.REFUSED_STREAM), "80030003 00000008 00000005 00000003"),
        (GoAway(0), "80030007 00000008 00000000 00000000"),
    ],
)
def test_frames_look_as_the_protocol_says(frame: SpdyFrame, expected: str) -> None:
    assert SpdyEncoder().encode(frame) == bytes.fromhex(expected)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("80020006 00000004 00000001", "version 2"),
        ("80030001 00ffffff", "more than is taken"),
        ("00000001 00ffffff", "more than is taken"),
        ("80030002 00000006 00000001 0000", "cannot be read"),
        ("80030006 00000000", "cannot be read"),
    ],
)
def test_a_peer_that_breaks_the_protocol_is_told_how(data: str, message: str) -> None:
    with pytest.raises(SpdyError, match=message):
        SpdyReader().feed(bytes.fromhex(data))


def test_settings_and_window_updates_change_nothing() -> None:
    frames = "80030004 00000004 00000000" + "80030009 00000008 00000001 00010000" + "80030006 00000004 00000001"
    assert SpdyReader().feed(bytes.fromhex(frames)) == [Ping(1)]


def test_headers_that_swell_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spdy_frames, "_MOST_HEADER_BYTES", 1000)
    data = SpdyEncoder().encode(OpenStream(1, {"x": "y" * 2000}))
    assert len(data) < 200
    with pytest.raises(SpdyError, match="more than 1000 bytes"):
        SpdyReader().feed(data)


class Pipe:
    """The session's end of a connection; the test is the client."""

    def __init__(self) -> None:
        self.encoder, self.reader = SpdyEncoder(), SpdyReader()
        self.incoming: asyncio.Queue[bytes] = asyncio.Queue()
        self.sent: list[SpdyFrame] = []
        self.closed = False

    def says(self, *frames: SpdyFrame) -> None:
        for frame in frames:
            self.incoming.put_nowait(self.encoder.encode(frame))

    async def read(self) -> bytes:
        return await self.incoming.get()

    async def write(self, data: bytes) -> None:
        self.sent += self.reader.feed(data)

    def close(self) -> None:
        self.closed = True


@awaited
async def test_streams_are_answered_read_and_ended_by_either_side() -> None:
    pipe = Pipe()
    session = SpdySession(pipe)
    running = asyncio.create_task(session.run())
    pipe.says(OpenStream(1, {"a": "b"}), StreamData(1, b"one"), StreamData(1, b"two", True), Ping(1))
    stream = await session.accept()
    assert stream is not None
    assert (stream.number, stream.headers) == (1, {"a": "b"})
    await stream.reply()
    got = b""
    while data := await stream.read():
        got += data
    assert got == b"onetwo"
    await stream.write(b"answer")
    await stream.finish()
    assert sorted(map(str, pipe.sent)) == sorted(
        map(str, [Ping(1), StreamReply(1, {}), StreamData(1, b"answer"), StreamData(1, b"", True)])
    )
    assert not session.streams

    pipe.says(OpenStream(3, {}), ResetStream(3, ResetStatus.CANCEL))
    cut = await session.accept()
    assert cut is not None
    assert await cut.read() == b""
    with pytest.raises(ConnectionResetError):
        await cut.write(b"too late")

    pipe.incoming.put_nowait(b"")
    assert await session.accept() is None
    await running
    assert pipe.closed


@awaited
async def test_a_stream_that_nobody_reads_makes_the_connection_wait() -> None:
    pipe = Pipe()
    session = SpdySession(pipe)
    running = asyncio.create_task(session.run())
    pipe.says(OpenStream(1, {}))
    stream = await session.accept()
    assert stream is not None
    pipe.says(*[StreamData(1, b"x" * 100_000)] * 30)
    await asyncio.sleep(0.05)
    assert pipe.incoming.qsize() > 10
    read = 0
    while read < 3_000_000:
        read += len(await stream.read())
    session.close()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
