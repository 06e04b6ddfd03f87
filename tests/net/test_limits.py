"""What a client may cost: the limits of the one HTTP server, on real sockets, and that all four servers have them."""

from __future__ import annotations

import asyncio
import hashlib
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import httptools
import pytest

from mooring.client.inprocess import AsyncInProcess
from mooring.net.asgi import Receive, Scope, Send, TooLarge, read_body, send_whole
from mooring.net.certificates import ensure_certificates
from mooring.net.limits import DEFAULT, HttpLimits
from mooring.net.server import HttpServer
from mooring.net.server_connection import ServerConnection
from mooring.net.tls import client_context, server_context
from mooring.nodes.process.logs import LogWriter
from mooring.nodes.process.node_server import NodeServer
from mooring.nodes.process.streams.endpoint import StreamEndpoint
from mooring.registry import Registry
from mooring.runtime.drivers.health import HealthServer
from mooring.runtime.drivers.live import Live
from mooring.runtime.webhooks.certificate_stores import CertificateFolder
from mooring.runtime.webhooks.server import WebhookServer
from mooring.runtime.webhooks.target import WebhookUrl
from tests.client.stories import awaited, now, served, until
from tests.nodes.process.test_node_server import NothingRuns
from tests.runtime.living import transport_in
from tests.runtime.sample import COPIER

SHORT = HttpLimits(head_bytes=2000, body_bytes=1000, drained_bytes=4000, head_seconds=0.2, request_seconds=0.4)
PATIENT = replace(SHORT, head_seconds=20, request_seconds=20)
HEAD = b"POST / HTTP/1.1\r\nHost: x\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"


class Echo:
    """Answers with what it was sent; `/long` with more than any socket takes in. Counts those who wait for it."""

    def __init__(self) -> None:
        self.answering = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/long":
            self.answering += 1
            await send({"type": "http.response.start", "status": 200, "headers": []})
            for _ in range(400):
                await send({"type": "http.response.body", "body": b"x" * 65536, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
            self.answering -= 1
            return
        try:
            body = await read_body(scope, receive)
        except TooLarge:
            await send_whole(send, 413, b"text/plain", b"")
            return
        await send_whole(send, 200, b"text/plain", body)


@asynccontextmanager
async def serving(limits: HttpLimits, tls: ssl.SSLContext | None = None) -> AsyncIterator[tuple[HttpServer, Echo, int]]:
    echo = Echo()
    server = HttpServer(echo, limits=limits)
    try:
        yield server, echo, await server.listen("127.0.0.1", 0, tls)
    finally:
        server.close()
        await server.finish(0)


async def answered(port: int, *parts: bytes, tls: ssl.SSLContext | None = None) -> bytes:
    """The status line that comes back, empty if there is none; the connection must end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls)
    for part in parts:
        writer.write(part)
        await asyncio.sleep(0.01)
    line = (await reader.read()).partition(b"\r\n")[0]
    writer.close()
    return line


@pytest.mark.parametrize(
    ("parts", "limits", "expected"),
    [
        pytest.param([b"POST / HT"], SHORT, b"408 Request Timeout", id="a head that does not end in time"),
        pytest.param(
            [HEAD, b"Content-Length: 9\r\n\r\n123"],
            SHORT,
            b"408 Request Timeout",
            id="a body that does not end in time",
        ),
        pytest.param(
            [HEAD, b"A: " + b"a" * 1000, b"a" * 1000],
            PATIENT,
            b"431 Request Header Fields Too Large",
            id="a header without end",
        ),
        pytest.param(
            [HEAD + b"A: " + b"a" * 2000 + b"\r\n\r\n"],
            PATIENT,
            b"431 Request Header Fields Too Large",
            id="a head that is too large and comes at once",
        ),
        pytest.param(
            [HEAD + b"A: aaaaaaaaaaaaaaaaaaaa\r\n" * 40, b"A: aaaaaaaaaaaaaaaaaaaa\r\n" * 39],
            PATIENT,
            b"431 Request Header Fields Too Large",
            id="too many headers",
        ),
        pytest.param(
            [b"GET /" + b"a" * 400, *[b"a" * 400] * 2], replace(PATIENT, url_bytes=900), b"414 ", id="a URL without end"
        ),
        pytest.param(
            [b"GET /" + b"a" * 900 + b" HTTP/1.1\r\n\r\n"],
            replace(PATIENT, url_bytes=900),
            b"414 ",
            id="a URL that is too long and comes at once",
        ),
        pytest.param(
            [HEAD + CHUNKED + b"0\r\nA: ", *[b"a" * 400] * 3],
            replace(PATIENT, trailer_bytes=500),
            b"431 ",
            id="a trailer without end",
        ),
        pytest.param(
            [HEAD + CHUNKED + b"0\r\n", *[b"A: a\r\n" * 100] * 5], PATIENT, b"431 ", id="trailers without end"
        ),
        pytest.param(
            [HEAD + CHUNKED, *[b"1;" + b"a" * 400 + b"\r\nx\r\n"] * 6],
            PATIENT,
            b"431 ",
            id="chunks that are nearly all extension",
        ),
        pytest.param([HEAD, b"Content-Length: 99999\r\n\r\n"], PATIENT, b"413 ", id="a body that nobody reads out"),
    ],
)
@awaited
async def test_a_client_that_exceeds_a_limit_is_told_and_left(
    parts: list[bytes], limits: HttpLimits, expected: bytes
) -> None:
    async with serving(limits) as (_, _, port):
        assert (await answered(port, *parts)).startswith(b"HTTP/1.1 " + expected)


@awaited
async def test_a_head_in_small_pieces_is_parsed_in_a_few_large_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[bytes] = []

    class Parser:
        def __init__(self, protocol: object) -> None:
            self._parser = httptools.HttpRequestParser(protocol)

        def feed_data(self, data: bytes) -> None:
            parsed.append(data)
            self._parser.feed_data(data)

        def __getattr__(self, name: str) -> object:
            return getattr(self._parser, name)

    monkeypatch.setattr(
        "mooring.net.server_connection.httptools", SimpleNamespace(**{**vars(httptools), "HttpRequestParser": Parser})
    )
    connection = ServerConnection(HttpServer(Echo()))
    head = b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\nA: " + b"a" * 5000 + b"\r\n\r\n"
    for byte in head:
        connection.data_received(bytes((byte,)))
    assert connection.busy
    assert b"".join(parsed) == head
    assert len(parsed) < 20


@awaited
async def test_connections_of_strangers_make_room_for_others_and_not_those_of_known_users() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/known":
            scope["trust"]()
        await send_whole(send, 200, b"text/plain", b"")

    server = HttpServer(app, limits=replace(DEFAULT, strangers=3))
    port = await server.listen("127.0.0.1", 0)
    user, user_writer = await asyncio.open_connection("127.0.0.1", port)
    user_writer.write(b"GET /known HTTP/1.1\r\n\r\n")
    await user.readuntil(b"\r\n\r\n")
    strangers = [await asyncio.open_connection("127.0.0.1", port) for _ in range(5)]
    strangers[-1][1].write(b"GET / HT")
    for reader, _ in strangers[:2]:
        with suppress(ConnectionResetError):
            assert await reader.read() == b""
    assert len(server.connections) == 4
    user_writer.write(b"GET /known HTTP/1.1\r\n\r\n")
    assert await user.readuntil(b"\r\n\r\n")
    for writer in (user_writer, *(writer for _, writer in strangers)):
        writer.close()
    server.close()
    await server.finish(0)


@awaited
async def test_a_client_that_begins_no_handshake_is_cut_off(tmp_path: Path) -> None:
    made = ensure_certificates(tmp_path, ["127.0.0.1"], now=now())
    async with serving(replace(DEFAULT, handshake_seconds=0.1), server_context(made.certificate, made.key)) as (
        _,
        _,
        port,
    ):
        assert await answered(port) == b""


@awaited
async def test_a_trailer_is_no_header() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send_whole(send, 200, b"text/plain", b",".join(name for name, _ in scope["headers"]))

    server = HttpServer(app)
    port = await server.listen("127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(HEAD + b"Connection: close\r\n" + CHUNKED + b"0\r\nAuthorization: Bearer x\r\n\r\n")
    assert (await reader.read()).endswith(b"\r\n\r\nhost,connection,transfer-encoding")
    writer.close()
    server.close()
    await server.finish(0)


@awaited
async def test_a_body_that_is_too_large_but_ends_is_read_out_and_the_connection_stays() -> None:
    async with serving(PATIENT) as (_, _, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for size, expected in ((3000, b"413"), (1000, b"200")):
            writer.write(HEAD + b"Content-Length: %d\r\n\r\n" % size + b"x" * size)
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 " + expected)
        assert await reader.readexactly(1000) == b"x" * 1000
        writer.close()


@awaited
async def test_an_idle_connection_is_closed_without_a_word() -> None:
    async with serving(replace(SHORT, idle_seconds=0.2)) as (server, _, port):
        assert await answered(port) == b""
        await until(lambda: not server.connections)


@awaited
async def test_a_slow_request_behind_one_that_is_being_answered_has_its_time() -> None:
    async with serving(SHORT) as (_, _, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        # The time of a request that waits for its turn begins when it has it.
        writer.write(HEAD + b"\r\n" + b"POST / HT")
        await reader.readuntil(b"\r\n\r\n")
        await asyncio.sleep(0.1)
        writer.write(b"TP/1.1\r\n\r\n")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        writer.close()


@pytest.mark.parametrize("secure", [False, True])
@awaited
async def test_a_client_that_reads_nothing_of_its_answer_is_cut_off(secure: bool, tmp_path: Path) -> None:
    files = ensure_certificates(tmp_path / "tls", ["127.0.0.1"], now=now())
    shown = server_context(files.certificate, files.key) if secure else None
    trusted = client_context(authority=files.authority.read_bytes()) if secure else None
    async with serving(replace(PATIENT, stalled_seconds=0.4), shown) as (server, echo, port):
        _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusted)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(b"GET /long HTTP/1.1\r\n\r\n")
        await until(lambda: echo.answering)
        await until(lambda: not echo.answering)
        await until(lambda: not server.connections)
        writer.transport.abort()


@awaited
async def test_a_client_that_reads_slowly_is_not_taken_for_deaf() -> None:
    async with serving(replace(PATIENT, stalled_seconds=1.0)) as (_, _, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=65536)
        writer.write(b"GET /long HTTP/1.1\r\nConnection: close\r\n\r\n")
        size = 0
        for _ in range(10):
            size += len(await reader.readexactly(1 << 21))
            await asyncio.sleep(0.15)
        size += len(await reader.read())
        assert size > 400 * 65536
        writer.close()


# The four servers


@asynccontextmanager
async def api(folder: Path) -> AsyncIterator[int]:
    async with served() as server:
        yield server.port


@asynccontextmanager
async def health(folder: Path) -> AsyncIterator[int]:
    server = HealthServer(Live([COPIER], transport_in(Registry(now=now()))))
    yield await server.start("127.0.0.1", 0)
    await server.close()


@asynccontextmanager
async def logs(folder: Path) -> AsyncIterator[int]:
    def none(namespace: str, pod: str, container: str, *, previous: bool) -> tuple[Path, LogWriter | None]:
        raise AssertionError("nobody gets this far")

    server = NodeServer(none, StreamEndpoint(NothingRuns()), hashlib.sha256(b"secret").hexdigest())
    yield await server.start(None)
    await server.close()


@asynccontextmanager
async def webhooks(folder: Path) -> AsyncIterator[int]:
    transport = AsyncInProcess(Registry(now=now()), now)
    server = WebhookServer(
        [],
        transport,
        listen=("127.0.0.1", 0),
        target=WebhookUrl("https://127.0.0.1:1"),
        store=CertificateFolder(folder),
    )
    yield await server.start()
    await server.close()


@pytest.mark.parametrize("home", [api, health, logs, webhooks])
@awaited
async def test_every_server_of_ours_has_the_limits(home: object, tmp_path: Path) -> None:
    tls = client_context(authority=None, insecure=True) if home is webhooks else None
    async with home(tmp_path) as port:  # type: ignore[operator]
        # One byte too many: what came after that would have the answer lost on its way.
        first = b"GET /livez HTTP/1.1\r\nA: "
        rest = b"a" * (DEFAULT.head_bytes - len(first) + 1)
        assert (await answered(port, first, rest, tls=tls)).startswith(b"HTTP/1.1 431")
