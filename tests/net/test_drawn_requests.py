"""The server reads what was sent and writes what was answered, byte by byte, however both were cut into pieces."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from mooring.net.asgi import Message, Receive, Scope, Send
from mooring.net.client_connection import ClientConnection, ConnectionCut
from mooring.net.limits import HttpLimits
from mooring.net.server import HttpServer
from mooring.net.server_connection import ServerConnection
from tests.net.drawn import Drawn, FakeTransport, drawn_request, pieces_of, written

ROUNDS = 30


class Application:
    """Notes what it sees, and answers what was drawn for it."""

    def __init__(self, requests: list[Drawn]) -> None:
        self._requests = iter(requests)
        self.seen: list[tuple[Scope, bytes]] = []
        self.ends: list[Message] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        assert message["type"] == "http.request"
        assert not message["more_body"]
        self.seen.append((scope, message["body"]))
        answer = next(self._requests).answer
        if answer.waits:
            await asyncio.sleep(0)
        whole = b"".join(answer.pieces)
        headers = [*answer.headers, *([(b"content-length", b"%d" % len(whole))] if answer.measured else [])]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        for piece in answer.pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
        self.ends.append(await receive())


async def settled() -> None:
    for _ in range(ROUNDS):
        await asyncio.sleep(0)


def connected(server: HttpServer) -> tuple[ServerConnection, FakeTransport]:
    connection, transport = ServerConnection(server), FakeTransport()
    connection.connection_made(transport)
    return connection, transport


def stuck(transport: FakeTransport) -> bool:
    """Whether nothing is read from a connection that is not closed."""
    return not (transport.reading or transport.closed)


async def played(seed: int) -> None:
    draw = random.Random(seed)
    count = draw.choice((1, 2, 3, 5))
    requests = [drawn_request(draw, last=index == count - 1) for index in range(count)]
    app = Application(requests)
    server = HttpServer(app)
    connection, transport = connected(server)
    for piece in pieces_of(draw, b"".join(each.data for each in requests)):
        if not transport.reading:
            # Requests that came together are answered before more is read.
            await settled()
            assert not stuck(transport), seed
        if transport.closed:
            break
        connection.data_received(piece)
        if draw.random() < 0.3:
            await asyncio.sleep(0)
    await settled()
    expected = []
    for each in requests:
        expected.append(each)
        if each.closes or (b"connection", b"close") in each.answer.headers:
            break
    for (scope, body), each in zip(app.seen, expected, strict=True):
        shown = {
            key: scope[key]
            for key in (
                "type",
                "method",
                "path",
                "raw_path",
                "query_string",
                "headers",
                "http_version",
                "client",
                "certificate",
            )
        }
        assert shown == {
            "type": "http",
            "method": each.method,
            "path": each.path,
            "raw_path": each.raw_path,
            "query_string": each.query,
            "headers": each.headers,
            "http_version": each.version,
            "client": ("1.2.3.4", 56),
            "certificate": None,
        }, (seed, each.data)
        assert body == each.body
        assert "too_large" not in scope
    assert app.ends == [{"type": "http.disconnect"}] * len(expected)
    date = server.date
    answers = bytes(transport.written).replace(b"HTTP/1.1 100 Continue\r\n\r\n", b"")
    assert answers == b"".join(written(each, date) for each in expected), seed
    assert transport.written.count(b"100 Continue") <= sum(each.continues for each in expected)
    if len(expected) == 1 and expected[0].continues:
        assert transport.written.startswith(b"HTTP/1.1 100 Continue\r\n\r\n")
    ends = expected[-1].closes or (b"connection", b"close") in expected[-1].answer.headers
    assert (transport.closed, transport.aborted) == (ends, False)
    assert (connection.busy, connection.stream) == (False, None)
    if not ends:
        assert server.unfinished.held_bytes == 0
    connection.connection_lost(None)
    assert server.unfinished.held_bytes == 0
    assert not server.connections
    assert not server.strangers
    assert server._sweeping is not None
    server._sweeping.cancel()


def test_requests_are_read_and_answered_as_they_were_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    # The date of an answer must not change within a story.
    monkeypatch.setattr("mooring.net.server.time.time", lambda: 1_800_000_000.0)
    for seed in range(250):
        asyncio.run(played(seed))


def answered(data: bytes, limits: HttpLimits, *, pieces: int = 0) -> tuple[bytes, int, bool]:
    """What the server answers to bytes: the status line, how many requests the application saw, and whether that
    was the end of the connection."""

    async def story() -> tuple[bytes, int, bool]:
        seen = []

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            seen.append(bool(scope.get("too_large")))
            body = b"large" if scope.get("too_large") else b"ok"
            await send(
                {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]}
            )
            await send({"type": "http.response.body", "body": body})

        server = HttpServer(app, limits=limits)
        connection, transport = connected(server)
        step = pieces or len(data) or 1
        for at in range(0, len(data), step):
            if transport.closed:
                break
            connection.data_received(data[at : at + step])
        await settled()
        assert server._sweeping is not None
        server._sweeping.cancel()
        line, _, rest = bytes(transport.written).partition(b"\r\n")
        end = b"" if line != b"HTTP/1.1 200 OK" else rest.rpartition(b"\r\n\r\n")[2]
        return line.removeprefix(b"HTTP/1.1 ") + b" " * bool(end) + end, len(seen), transport.closed

    return asyncio.run(story())


LIMITS = HttpLimits(url_bytes=40, head_bytes=200, trailer_bytes=30, body_bytes=50, drained_bytes=90)
OK = (b"200 OK ok", 1, False)
REFUSED = {414: b"414 Request-URI Too Long", 431: b"431 Request Header Fields Too Large", 400: b"400 Bad Request"}


def head(*, url: int = 1, filling: int = 0, more: str = "") -> bytes:
    return f"POST /{'u' * (url - 1)} HTTP/1.1\r\nhost: h\r\n{more}x: {'v' * filling}\r\n\r\n".encode()


def in_chunks(size: int, trailer: bytes = b"") -> bytes:
    return head(more="transfer-encoding: chunked\r\n") + b"%x\r\n%b\r\n0\r\n%b\r\n" % (size, b"b" * size, trailer)


def measured(size: int, sent: int | None = None) -> bytes:
    return head(more=f"content-length: {size}\r\n") + b"b" * (size if sent is None else sent)


@pytest.mark.parametrize("pieces", [0, 1, 7])
def test_each_limit_is_kept_to_the_byte(pieces: int) -> None:
    def told(data: bytes) -> tuple[bytes, int, bool]:
        return answered(data, LIMITS, pieces=pieces)

    assert told(head(url=40)) == OK
    assert told(head(url=41)) == (REFUSED[414], 0, True)
    assert told(in_chunks(50)) == OK
    assert told(in_chunks(51))[0] == b"200 OK large"
    assert told(measured(50)) == OK
    assert told(measured(51)) == (b"200 OK large", 1, False)
    assert told(measured(90)) == (b"200 OK large", 1, False)
    # More than is read and dropped is answered before it comes.
    assert told(measured(91, sent=0)) == (b"200 OK large", 1, True)
    assert told(in_chunks(90))[0] == b"200 OK large"
    assert told(in_chunks(91)) == (b"200 OK large", 1, True)
    if pieces:
        # What comes at once is read as a whole.
        assert told(in_chunks(1, b"t: " + b"v" * 60 + b"\r\n")) == (REFUSED[431], 0, True)
    assert told(in_chunks(1, b"t: v\r\n")) == OK


def test_the_head_as_a_whole_is_bounded_to_the_byte() -> None:
    roomy = HttpLimits(head_bytes=400)
    # Of a head that is whole, the URL, the names and the values count.
    counted = len("/") + len("hosth") + len("x")
    assert answered(head(filling=400 - counted), roomy) == OK
    assert answered(head(filling=401 - counted), roomy) == (REFUSED[431], 0, True)
    # Of one that comes in pieces, all that has come before it was whole.
    rest = len(head(filling=0))
    assert answered(head(filling=400 - rest), roomy, pieces=1) == OK
    assert answered(head(filling=420 - rest), roomy, pieces=1) == (REFUSED[431], 0, True)


MALFORMED = (
    b"\x00",
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"get / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost\r\n\r\n",
    b"GET /\x01 HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nno space : x\r\n\r\n",
    b"POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n",
    b"POST / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
    b"POST / HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
    b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nx\r\n",
    b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n",
    b"POST / HTTP/1.1\r\ntransfer-encoding: x\r\n\r\n",
    b"\x16\x03\x01\x00\xa5\x01",
    b"GET / HTTP/1.1\r\nhost: a\x00b\r\n\r\n",
)


def test_what_is_no_http_is_refused_and_cut_off() -> None:
    for data in MALFORMED:
        for pieces in (0, 1, 5):
            assert answered(data, LIMITS, pieces=pieces) == (REFUSED[400], 0, True), data


class Slow:
    """A connection that the sweep looks at."""

    def __init__(self, app: Callable[[Scope, Receive, Send], Any], limits: HttpLimits) -> None:
        self.server = HttpServer(app, limits=limits)
        self.connection, self.transport = connected(self.server)
        self.began = asyncio.get_running_loop().time()

    def looked_at(self, seconds: float) -> tuple[bytes, bool, bool]:
        """After so many seconds: the status that was written, and whether it was closed or aborted."""
        self.connection.enforce_limits(self.began + seconds)
        return bytes(self.transport.written[9:12]), self.transport.closed, self.transport.aborted

    def end(self) -> None:
        assert self.server._sweeping is not None
        self.server._sweeping.cancel()


TIMES = HttpLimits(head_seconds=100, request_seconds=200, idle_seconds=300, stalled_seconds=400)
# The loop's own time goes on a little between two calls.
MARGIN = 5


@pytest.mark.parametrize(
    ("sent", "limit", "status"),
    [
        (b"", 300, b""),
        (b"GET / HT", 100, b"408"),
        (b"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\n\r\nab", 200, b"408"),
        (b"GET / HTTP/1.1\r\nhost: h\r\n\r\n", 300, b"200"),
    ],
    ids=["nothing", "a part of a head", "a part of a body", "a request that is answered"],
)
def test_a_client_that_is_too_slow_is_cut_off_in_time(sent: bytes, limit: int, status: bytes) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    async def story() -> None:
        slow = Slow(app, TIMES)
        slow.connection.data_received(sent)
        await settled()
        before = status if status == b"200" else b""
        assert slow.looked_at(limit - MARGIN) == (before, False, False)
        assert slow.looked_at(limit + MARGIN) == (status, True, False)
        slow.end()

    asyncio.run(story())


def test_a_client_that_reads_nothing_is_cut_off_and_one_that_reads_a_little_is_not() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(0)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(3):
            await send({"type": "http.response.body", "body": b"x", "more_body": True})

    async def story() -> None:
        slow = Slow(app, TIMES)
        assert slow.transport.limits == [64 * 1024]
        slow.connection.data_received(b"GET / HTTP/1.1\r\nhost: h\r\nauthorization: a\r\n\r\n")
        assert slow.connection.busy
        slow.transport.unsent = 100
        slow.connection.pause_writing()
        await settled()
        # It waits for the client before it writes.
        assert bytes(slow.transport.written) == b""
        assert slow.server.unread.held_bytes == 100
        assert slow.looked_at(399 - MARGIN) == (b"", False, False)
        slow.transport.unsent = 99
        assert slow.looked_at(399) == (b"", False, False)
        assert slow.looked_at(399 + 399) == (b"", False, False)
        slow.connection.resume_writing()
        assert slow.server.unread.held_bytes == 0
        await settled()
        assert slow.transport.written.endswith(b"1\r\nx\r\n" * 3)
        # The application has returned without an end.
        assert slow.transport.closed
        slow.connection.pause_writing()
        assert slow.looked_at(10_000) == (b"200", True, True)
        slow.end()

    asyncio.run(story())


def given(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(story())


def test_a_client_reads_what_servers_answer_however_it_is_cut_into_pieces() -> None:
    async def story(seed: int) -> None:
        draw = random.Random(seed)
        connection, transport = ClientConnection(most_bytes=5000), FakeTransport()
        connection.connection_made(transport)
        for number in range(3):
            request = drawn_request(draw, last=False)
            request.method = draw.choice(("GET", "POST"))
            data = written(request, b"Date: d\r\n")
            if draw.random() < 0.2:
                data = b"HTTP/1.1 100 Continue\r\nx: y\r\n\r\n" + data
            asked = asyncio.ensure_future(connection.ask(b"ask %d" % number, 50))
            await asyncio.sleep(0)
            for piece in pieces_of(draw, data):
                connection.data_received(piece)
            ends = not request.answer.measured and request.answer.status not in (204, 304) and b"chunked" not in data
            if ends:
                connection.connection_lost(None)
            answer = await asked
            assert (answer.status, answer.body) == (request.answer.status, b"".join(request.answer.pieces)), seed
            shown = {
                name: value
                for name, value in answer.headers.items()
                if name not in (b"content-length", b"transfer-encoding")
            }
            assert shown == {b"date": b"d", **dict(request.answer.headers)}
            assert connection.reused is (number > 0)
            if (b"connection", b"close") in request.answer.headers or ends:
                assert not connection.usable
                return
            assert connection.usable
        assert bytes(transport.written) == b"ask 0ask 1ask 2"

    for seed in range(150):
        asyncio.run(story(seed))


@pytest.mark.parametrize(
    ("data", "begun"),
    [
        (b"", False),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab", True),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", True),
        (b"HTTP/1.1 20", True),
    ],
)
def test_an_answer_that_is_cut_off_is_none(data: bytes, begun: bool) -> None:
    async def story() -> None:
        connection, transport = ClientConnection(), FakeTransport()
        connection.connection_made(transport)
        asked = asyncio.ensure_future(connection.ask(b"x", 50))
        await asyncio.sleep(0)
        if data:
            connection.data_received(data)
        connection.connection_lost(None)
        with pytest.raises(ConnectionCut) as caught:
            await asked
        assert caught.value.begun is begun
        assert not connection.usable

    given(story)
