"""The client's side of HTTP, against servers that say what a test has them say; and connections that are kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager

import pytest

from mooring.kube.errors import MooringError
from mooring.net.client_connection import ConnectionCut, MalformedResponse, request_bytes
from mooring.net.destination import Destination, dial_failure
from mooring.net.pool import Pool
from tests.client.stories import awaited, until

GET = request_bytes("GET", "/", {"Host": "x"})
CHUNKS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

Handle = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(handle: Handle) -> AsyncIterator[Destination]:
    async def handled(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await handle(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handled, "127.0.0.1", 0)
    async with server:
        yield Destination("127.0.0.1", server.sockets[0].getsockname()[1])


def saying(answer: bytes) -> Handle:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()

    return handle


async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Every request, for as long as the client stays."""
    while True:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK)


# One connection


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(OK, b"ok", id="a length"),
        pytest.param(CHUNKS, b"ok", id="chunks"),
        pytest.param(b"HTTP/1.0 200 OK\r\n\r\nok", b"ok", id="an end that is that of the connection"),
        pytest.param(b"HTTP/1.1 100 Continue\r\n\r\n" + OK, b"ok", id="a word on the way"),
        pytest.param(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK, b"ok", id="hints on the way"),
    ],
)
@awaited
async def test_an_answer_is_read_however_its_end_is_told(answer: bytes, expected: bytes) -> None:
    async with serving(saying(answer)) as there:
        connection = await there.dial()
        found = await connection.ask(GET, 5)
        assert (found.status, found.body) == (200, expected)
        assert b"link" not in found.headers
        connection.close()


@pytest.mark.parametrize(
    ("answer", "kind", "why", "begun"),
    [
        pytest.param(b"", ConnectionCut, "closed the connection", False, id="nothing"),
        pytest.param(OK[:-1], ConnectionCut, "closed the connection", True, id="less than was promised"),
        pytest.param(b"220 mail.example\r\n", MalformedResponse, "does not speak HTTP", True, id="another protocol"),
        pytest.param(
            b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
            MalformedResponse,
            "does not speak HTTP",
            True,
            id="a switch to another protocol",
        ),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" + b"x" * 99,
            MalformedResponse,
            "larger than 50",
            True,
            id="too much",
        ),
    ],
)
@awaited
async def test_an_answer_that_is_none_is_told_so(
    answer: bytes, kind: type[ConnectionCut], why: str, begun: bool
) -> None:
    async with serving(saying(answer)) as there:
        connection = await there.dial(most_bytes=50)
        with pytest.raises(ConnectionCut, match=why) as failed:
            await connection.ask(GET, 5)
        assert type(failed.value) is kind
        assert failed.value.begun is begun
        assert not connection.usable


@awaited
async def test_a_stream_waits_for_the_one_who_reads_it() -> None:
    sent = 0

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (64 << 20))
        while sent < 64 << 20:
            writer.write(b"x" * (1 << 20))
            sent += 1 << 20
            await writer.drain()

    async with serving(flood) as there:
        connection = await there.dial()
        assert (await connection.open(GET, 5)).status == 200
        await asyncio.sleep(0.3)
        assert sent < 64 << 20
        async with aclosing(connection.parts(5)) as parts:
            assert sum([len(part) async for part in parts]) == 64 << 20
        connection.close()


@awaited
async def test_a_server_that_speaks_unasked_is_not_asked_again() -> None:
    async def eager(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK)
        await asyncio.sleep(0.05)
        writer.write(OK)
        await reader.read()

    async with serving(eager) as there:
        connection = await there.dial()
        await connection.ask(GET, 5)
        assert connection.usable
        await until(lambda: not connection.usable)


def test_a_line_break_in_a_header_is_not_sent() -> None:
    with pytest.raises(MooringError, match="line break in a header"):
        request_bytes("GET", "/", {"Authorization": "Bearer a\r\nX: y"})


def test_a_header_with_several_values_is_sent_once_with_each() -> None:
    sent = request_bytes("GET", "/", {"Impersonate-User": "ada", "Impersonate-Group": ("ml", "platform")})
    assert (
        sent
        == b"GET / HTTP/1.1\r\nImpersonate-User: ada\r\nImpersonate-Group: ml\r\nImpersonate-Group: platform\r\n\r\n"
    )
    with pytest.raises(MooringError, match="line break"):
        request_bytes("GET", "/", {"Impersonate-Group": ("ml", "a\r\nImpersonate-Group: system:masters")})


@awaited
async def test_why_nobody_is_reached_is_said_as_go_says_it() -> None:
    async with serving(answering) as there:
        pass
    with pytest.raises(ConnectionRefusedError) as failed:
        await there.dial()
    assert dial_failure(failed.value, there) == f"dial tcp 127.0.0.1:{there.port}: connect: connection refused"
    assert dial_failure(TimeoutError(), Destination("::1", 80)) == "dial tcp [::1]:80: i/o timeout"


# Connections that are kept


class Counter:
    """Answers after a while; counts connections, and requests at the same time."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.connections = self.now = self.most = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        while True:
            await reader.readuntil(b"\r\n\r\n")
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(self.seconds)
            self.now -= 1
            writer.write(OK)


async def ask(pool: Pool) -> None:
    connection = await pool.lend()
    try:
        assert (await connection.ask(GET, 20)).body == b"ok"
    finally:
        pool.give_back(connection)


@awaited
async def test_a_pool_has_no_more_connections_than_it_may() -> None:
    counter = Counter(0.005)
    async with serving(counter) as there:
        pool = Pool(there, few=3)
        await asyncio.gather(*(ask(pool) for _ in range(30)))
        assert (counter.connections, counter.most) == (3, 3)
        assert pool.quiet
        pool.close()


@pytest.mark.parametrize(("moment", "connections"), [(30.0, 2), (0.01, 5)])
@awaited
async def test_a_pool_grows_only_where_waiting_takes_too_long(
    moment: float, connections: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mooring.net.pool._WAIT_SECONDS", moment)
    counter = Counter(0.4)
    async with serving(counter) as there:
        pool = Pool(there, few=2, most=5)
        await asyncio.gather(*(ask(pool) for _ in range(6)))
        assert counter.connections == connections
        pool.close()


@awaited
async def test_who_gives_up_waiting_leaves_the_place_to_others() -> None:
    counter = Counter(0.05)
    async with serving(counter) as there:
        pool = Pool(there, few=1)
        first = asyncio.create_task(ask(pool))
        await asyncio.sleep(0.01)
        impatient = [asyncio.create_task(ask(pool)) for _ in range(3)]
        await asyncio.sleep(0.01)
        for task in impatient:
            task.cancel()
        await asyncio.gather(first, ask(pool))
        assert pool.quiet
        pool.close()


@awaited
async def test_who_gives_up_at_the_moment_of_its_turn_hands_it_on() -> None:
    async with serving(answering) as there:
        pool = Pool(there, few=1)
        held = await pool.lend()
        await held.ask(GET, 5)
        late = asyncio.create_task(pool.lend())
        next_one = asyncio.create_task(ask(pool))
        await asyncio.sleep(0)
        pool.give_back(held)
        late.cancel()
        await asyncio.wait_for(next_one, 5)
        pool.close()


@awaited
async def test_a_server_that_is_not_there_fails_everybody_who_waits() -> None:
    async with serving(answering) as there:
        pass
    pool = Pool(there, few=1)
    failed = await asyncio.gather(*(ask(pool) for _ in range(5)), return_exceptions=True)
    assert [type(each) for each in failed] == [ConnectionRefusedError] * 5
    assert pool.quiet


@awaited
async def test_a_connection_that_the_server_closed_is_not_lent_again() -> None:
    async with serving(saying(OK)) as there:
        pool = Pool(there, few=1)
        for _ in range(3):
            await ask(pool)
            await asyncio.sleep(0.02)
        pool.close()
