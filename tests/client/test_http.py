"""What only a transport over HTTP can meet: servers that are gone, slow, overloaded or cut off in the middle."""

from __future__ import annotations

import asyncio
import base64
import socket
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from mooring.client.access import Access
from mooring.client.dial_errors import dial_error
from mooring.client.http import HttpTransport
from mooring.client.transport import UnknownOutcome, Unreachable
from mooring.kube.errors import MooringError
from mooring.kube.status import ApiError, ExpiredError, ForbiddenError, UnauthorizedError
from mooring.net.certificates import ensure_certificates
from mooring.net.client_connection import ConnectionCut
from mooring.net.tls import client_context, server_context
from tests.client.faulty import Proxy
from tests.client.stories import Served, awaited, config_map, creation, everything, next_changes, now, plain, served


@asynccontextmanager
async def transport_to(url: str, **options: float) -> AsyncIterator[HttpTransport]:
    transport = HttpTransport(Access(url), **options)  # type: ignore[arg-type]
    try:
        yield transport
    finally:
        await transport.close()


@asynccontextmanager
async def through_proxy(**options: float) -> AsyncIterator[tuple[HttpTransport, Proxy, Served]]:
    async with served() as server:
        proxy = Proxy(server.port)
        await proxy.start()
        try:
            async with transport_to(proxy.url, **options) as transport:
                yield transport, proxy, server
        finally:
            await proxy.stop()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


@awaited
async def test_a_server_that_is_not_there_is_unreachable_and_nothing_was_written() -> None:
    async with transport_to(f"http://127.0.0.1:{free_port()}") as transport:
        with pytest.raises(Unreachable, match="cannot be reached"):
            await transport.write(creation(config_map("a")))


@awaited
async def test_a_write_whose_answer_is_cut_off_has_an_unknown_outcome() -> None:
    async with through_proxy() as (transport, proxy, server):
        proxy.budget = 20
        with pytest.raises(UnknownOutcome, match="was not answered"):
            await transport.write(creation(config_map("a")))
        assert server.registry.find("v1", "ConfigMap", "default", "a") is not None


@awaited
async def test_a_write_that_takes_too_long_has_an_unknown_outcome() -> None:
    async with served() as server, transport_to(server.url, seconds=0.1) as transport:
        server.front.delay = lambda method, path: 0.5 if method == "POST" else 0.0
        with pytest.raises(UnknownOutcome, match="no answer in"):
            await transport.write(creation(config_map("a")))
        server.front.delay = lambda method, path: 0.0
        await transport.write(creation(config_map("b")))


@awaited
async def test_a_read_over_a_connection_that_was_closed_meanwhile_is_repeated() -> None:
    async with through_proxy() as (transport, proxy, _):
        await transport.write(creation(config_map("a")))
        proxy.budget = 0
        found = await transport.get("v1", "ConfigMap", "default", "a")
        assert found["metadata"]["name"] == "a"
        assert proxy.connections == 2


@awaited
async def test_connections_are_used_again() -> None:
    async with through_proxy() as (transport, proxy, _):
        for number in range(20):
            await transport.write(creation(config_map(f"c{number}")))
        assert proxy.connections == 1


@awaited
async def test_a_read_that_is_told_to_wait_is_repeated() -> None:
    async with served() as server, transport_to(server.url) as transport:
        await transport.write(creation(config_map("a")))
        server.front.refuse("GET", "configmaps/a", 429, times=2, retry_after="0")
        found = await transport.get("v1", "ConfigMap", "default", "a")
        assert found["metadata"]["name"] == "a"


@awaited
async def test_a_write_that_is_told_to_wait_says_how_long() -> None:
    async with served() as server, transport_to(server.url) as transport:
        server.front.refuse("POST", "configmaps", 429, retry_after="7")
        with pytest.raises(ApiError) as refused:
            await transport.write(creation(config_map("a")))
        assert (refused.value.code, refused.value.retry_after) == (429, 7)


@awaited
async def test_a_token_that_has_run_out_is_refreshed_once() -> None:
    async with served() as server:
        tokens = iter(("old", "new"))
        current = {"Authorization": f"Bearer {next(tokens)}"}

        async def refresh() -> bool:
            current["Authorization"] = f"Bearer {next(tokens)}"
            return True

        server.front.refuse("GET", "configmaps", 401, times=1)
        transport = HttpTransport(Access(server.url, headers=lambda: current, refresh=refresh))
        await everything(transport, "v1", "ConfigMap")
        used = [headers["authorization"] for _, path, headers in server.front.seen if "configmaps" in path]
        assert used == ["Bearer old", "Bearer new"]
        await transport.close()


@awaited
async def test_credentials_that_cannot_be_refreshed_are_said_so() -> None:
    async with served() as server, transport_to(server.url) as transport:
        server.front.refuse("GET", "configmaps", 401)
        with pytest.raises(UnauthorizedError):
            await everything(transport, "v1", "ConfigMap")
        with pytest.raises(UnauthorizedError):
            async with aclosing(transport.watch("v1", "ConfigMap", "1")) as watch:
                await anext(watch)


@awaited
async def test_a_watch_that_may_not_be_is_refused_with_the_reason() -> None:
    async with served() as server, transport_to(server.url) as transport:
        server.front.refuse("GET", "watch=1", 403)
        with pytest.raises(ForbiddenError, match="told so"):
            async with aclosing(transport.watch("v1", "ConfigMap", "1")) as watch:
                await anext(watch)


@awaited
async def test_a_watch_cut_in_the_middle_of_a_line_gives_the_whole_lines_only() -> None:
    async with through_proxy() as (transport, proxy, server), transport_to(server.url) as direct:
        _, version = await everything(direct, "v1", "ConfigMap")
        async with aclosing(transport.watch("v1", "ConfigMap", version)) as watch:
            await anext(watch)
            made = await direct.write(creation(config_map("a")))
            (first,) = await next_changes(watch, 1)
            assert plain(first.object)["metadata"]["name"] == "a"
            proxy.budget = 3000
            await direct.write(creation(config_map("big", text="x" * 20_000)))
            with pytest.raises(Unreachable, match="cut off"):
                await next_changes(watch, 1)
        async with aclosing(transport.watch("v1", "ConfigMap", made["metadata"]["resourceVersion"])) as watch:
            (second,) = await next_changes(watch, 1)
            assert plain(second.object)["data"]["text"] == "x" * 20_000


@awaited
async def test_a_silent_watch_is_given_up() -> None:
    async with through_proxy(idle=0.2) as (transport, proxy, _):
        async with aclosing(transport.watch("v1", "ConfigMap", "1")) as watch:
            await anext(watch)
            proxy.muted = True
            with pytest.raises(Unreachable, match="silent"):
                await next_changes(watch, 1)
        proxy.muted = False


@awaited
async def test_an_expired_page_ends_a_list() -> None:
    async with served() as server:
        transport = HttpTransport(Access(server.url), page=2)
        for number in range(5):
            await transport.write(creation(config_map(f"c{number}")))
        server.front.refuse("GET", "continue=", 410)
        with pytest.raises(ExpiredError):
            await everything(transport, "v1", "ConfigMap")
        await transport.close()


@awaited
async def test_a_slow_reader_gets_everything() -> None:
    async with served() as server, transport_to(server.url) as transport:
        _, version = await everything(transport, "v1", "ConfigMap")
        big = {"text": "x" * 100_000}
        async with aclosing(transport.watch("v1", "ConfigMap", version)) as watch:
            await anext(watch)
            for number in range(100):
                await transport.write(creation(config_map(f"c{number}", **big)))
            await asyncio.sleep(0.1)
            found = [plain(change.object)["metadata"]["name"] for change in await next_changes(watch, 100)]
        assert found == [f"c{number}" for number in range(100)]


@awaited
async def test_a_server_that_speaks_something_else_is_told_from_one_that_is_gone() -> None:
    async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"SSH-2.0-hello\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(babble, "127.0.0.1", 0)
    async with server, transport_to(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}") as transport:
        with pytest.raises(Unreachable, match="does not speak HTTP"):
            await transport.get("v1", "ConfigMap", "default", "a")


@awaited
async def test_an_answer_that_is_no_status_is_shown_as_it_came() -> None:
    async def gateway(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 11\r\n\r\nno upstream")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(gateway, "127.0.0.1", 0)
    async with server, transport_to(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}") as transport:
        with pytest.raises(ApiError, match="the server answered 502: no upstream") as refused:
            await transport.get("v1", "ConfigMap", "default", "a")
        assert refused.value.code == 502


@awaited
async def test_a_proxy_is_asked_for_a_tunnel() -> None:
    asked: list[bytes] = []

    async with served() as server:

        async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            asked.append(await reader.readuntil(b"\r\n\r\n"))
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")

            async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
                while data := await source.read(65536):
                    sink.write(data)
                sink.close()

            await asyncio.gather(pump(reader, there_writer), pump(there_reader, writer), return_exceptions=True)

        proxy = await asyncio.start_server(tunnel, "127.0.0.1", 0)
        address = f"http://me:secret@127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
        async with proxy:
            transport = HttpTransport(Access(server.url, proxy=address))
            await transport.write(creation(config_map("a")))
            await transport.close()
        assert asked[0].startswith(f"CONNECT 127.0.0.1:{server.port} HTTP/1.1".encode())
        assert base64.b64encode(b"me:secret") in asked[0]


@awaited
async def test_a_server_is_trusted_by_its_authority_and_by_nothing_else(tmp_path: Path) -> None:
    files = ensure_certificates(tmp_path / "own", ["127.0.0.1"], now=now())
    strangers = ensure_certificates(tmp_path / "strange", ["127.0.0.1"], now=now())
    async with served(tls=server_context(files.certificate, files.key)) as server:
        transport = HttpTransport(Access(server.url, client_context(authority=files.authority.read_bytes())))
        await transport.write(creation(config_map("a")))
        _, version = await everything(transport, "v1", "ConfigMap")
        async with aclosing(transport.watch("v1", "ConfigMap", version)) as watch:
            await anext(watch)
            await transport.write(creation(config_map("b")))
            (found,) = await next_changes(watch, 1)
            assert plain(found.object)["metadata"]["name"] == "b"
        await transport.close()
        distrust = HttpTransport(Access(server.url, client_context(authority=strangers.authority.read_bytes())))
        with pytest.raises(Unreachable, match="cannot be trusted: its certificate is signed by an unknown authority"):
            await everything(distrust, "v1", "ConfigMap")
        await distrust.close()


@awaited
async def test_a_certificate_that_has_expired_is_told_from_one_that_is_not_known(tmp_path: Path) -> None:
    for age, said in ((timedelta(days=400), "has expired; have the server"), (timedelta(days=-400), "not valid yet")):
        files = ensure_certificates(tmp_path / str(age.days), ["127.0.0.1"], now=now() - age)
        async with served(tls=server_context(files.certificate, files.key)) as server:
            transport = HttpTransport(Access(server.url, client_context(authority=files.authority.read_bytes())))
            with pytest.raises(Unreachable, match=said):
                await everything(transport, "v1", "ConfigMap")
            await transport.close()


@awaited
async def test_a_certificate_for_another_name_is_told_so(tmp_path: Path) -> None:
    files = ensure_certificates(tmp_path, ["elsewhere.example.com"], now=now())
    async with served(tls=server_context(files.certificate, files.key)) as server:
        transport = HttpTransport(Access(server.url, client_context(authority=files.authority.read_bytes())))
        with pytest.raises(Unreachable, match="is for another name"):
            await everything(transport, "v1", "ConfigMap")
        await transport.close()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionRefusedError(111, "Connect call failed ('127.0.0.1', 7999)"), "connection refused; see that it "),
        (OSError("Multiple exceptions: [Errno 111] Connect call failed ('::1', 1)"), "connection refused; see that "),
        (socket.gaierror(-2, "Name or service not known"), "its name is not known (Name or service not known); "),
        (ConnectionCut("the proxy p answered 403", begun=True), "the proxy p answered 403"),
    ],
)
def test_a_server_that_cannot_be_reached_is_a_sentence_with_the_way_out(error: Exception, said: str) -> None:
    assert dial_error("https://here:7999", error).startswith(f"https://here:7999 cannot be reached: {said}")


@pytest.mark.parametrize(
    ("server", "complaint"),
    [
        ("localhost:6443", "is not an address of an API server"),
        ("ftp://host", "is not an address of an API server"),
        ("http://host:99999", "is not an address"),
        ("https://host", "needs TLS"),
    ],
)
def test_an_address_that_cannot_be_used_is_said_so(server: str, complaint: str) -> None:
    with pytest.raises(MooringError, match=complaint):
        HttpTransport(Access(server))


@awaited
async def test_a_token_with_a_line_break_is_refused_before_it_is_sent() -> None:
    async with served() as server:
        transport = HttpTransport(Access(server.url, headers=lambda: {"Authorization": "Bearer a\r\nX-Evil: b"}))
        with pytest.raises(MooringError, match="line break"):
            await everything(transport, "v1", "ConfigMap")
        await transport.close()


@awaited
async def test_a_fenced_transport_reads_and_sends_no_write_that_it_may_not() -> None:
    allowed = [True]
    async with served() as server, transport_to(server.url) as transport:
        fenced = transport.fenced(lambda: allowed[0])
        await fenced.write(creation(config_map("a")))
        allowed[0] = False
        with pytest.raises(Unreachable, match="was not sent: another replica may be leading"):
            await fenced.write(creation(config_map("b")))
        assert (await fenced.get("v1", "ConfigMap", "default", "a"))["metadata"]["name"] == "a"
        assert server.registry.find("v1", "ConfigMap", "default", "b") is None
        # The others are not held back.
        await transport.write(creation(config_map("c")))
