"""What a URL holds, or why it cannot be read: status, redirects, size, time, trust."""

from __future__ import annotations

import asyncio
import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mooring.net.certificates import ensure_certificates
from mooring.net.download import DownloadError, download, is_url
from mooring.net.tls import client_context, server_context
from tests.client.stories import awaited
from tests.net.test_client import CHUNKS, OK, Handle, saying, serving


def leading(*places: str) -> Handle:
    """The first request is sent to the first place, the second to the next, and what follows finds its answer."""
    left = list(places)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        answer = OK
        if left:
            answer = f"HTTP/1.1 302 Found\r\nLocation: {left.pop(0)}\r\nContent-Length: 0\r\n\r\n".encode()
        writer.write(answer)
        await writer.drain()

    return handle


async def read(handle: Handle, path: str = "/a.yaml", *, seconds: float = 5.0, most_bytes: int = 1000) -> bytes:
    async with serving(handle) as server:
        return await download(f"http://127.0.0.1:{server.port}{path}", seconds=seconds, most_bytes=most_bytes)


async def refused(handle: Handle, **limits: float) -> str:
    with pytest.raises(DownloadError) as error:
        await read(handle, **limits)  # type: ignore[arg-type]
    return str(error.value)


@pytest.mark.parametrize("answer", [OK, CHUNKS])
@awaited
async def test_the_whole_of_an_answer(answer: bytes) -> None:
    assert await read(saying(answer)) == b"ok"


@awaited
async def test_path_and_query_are_asked_for_and_the_host_is_named() -> None:
    asked: list[bytes] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(OK)

    await read(handle, "/apps/web.yaml?ref=main")
    assert asked[0].startswith(b"GET /apps/web.yaml?ref=main HTTP/1.1\r\nHost: 127.0.0.1:")


@awaited
async def test_redirects_are_followed_relative_ones_too() -> None:
    assert await read(leading("/b.yaml", "c.yaml#part")) == b"ok"


@pytest.mark.parametrize("place", ["file:///etc/passwd", "ftp://example.com/a.yaml", "gopher://x"])
@awaited
async def test_a_redirect_to_anything_else_is_not_followed(place: str) -> None:
    assert f"leads to {place}, which is not followed" in await refused(leading(place))


@awaited
async def test_redirects_that_do_not_end() -> None:
    assert "more than 10 times" in await refused(leading(*["/again"] * 20))


@awaited
async def test_a_status_that_is_not_200() -> None:
    answer = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
    assert (await refused(saying(answer))).endswith("cannot be read: the server answered with status 503")


@awaited
async def test_more_bytes_than_the_limit() -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + b"x" * 2000
    assert (await refused(saying(answer))).endswith("cannot be read: the answer is larger than 1000 bytes")


@awaited
async def test_a_server_that_does_not_answer() -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    assert (await refused(handle, seconds=0.05)).endswith("was not answered in 0 s")


@awaited
async def test_a_server_that_is_not_there() -> None:
    async with serving(saying(OK)) as gone:
        pass
    with pytest.raises(DownloadError, match=r"cannot be reached: dial tcp .* connection refused"):
        await download(f"http://127.0.0.1:{gone.port}/", seconds=5, most_bytes=1000)


@pytest.mark.parametrize("url", ["https://", "http://x:99999/", "http://x y/", "http://é/"])
@awaited
async def test_what_is_no_address(url: str) -> None:
    assert is_url(url)
    with pytest.raises(DownloadError, match="is not an address"):
        await download(url, seconds=5, most_bytes=1000)


@awaited
async def test_https_with_an_authority_that_is_known_and_one_that_is_not(tmp_path: Path) -> None:
    found = ensure_certificates(tmp_path, ("127.0.0.1",), now=datetime.now(UTC))
    context = server_context(found.certificate, found.key)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(OK)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=context)
    async with server:
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        trusting: ssl.SSLContext = client_context(authority=found.authority.read_bytes())
        assert await download(url, seconds=5, most_bytes=1000, tls=trusting) == b"ok"
        with pytest.raises(DownloadError, match="signed by unknown authority"):
            await download(url, seconds=5, most_bytes=1000)


def test_only_http_and_https_are_urls() -> None:
    assert [is_url(text) for text in ("http://x", "https://x", "file:///x", "x.yaml", "http:x")] == [
        True,
        True,
        False,
        False,
        False,
    ]
