"""What a pod answers through the API server: read as far as is sensible, whatever the pod does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from mooring.client import http
from mooring.client.access import Access
from mooring.client.http import HttpTransport
from mooring.client.transport import Unreachable
from mooring.kube.errors import MooringError
from tests.client.stories import awaited

PODS = json.dumps(
    {"resources": [{"name": "pods", "kind": "Pod", "namespaced": True, "verbs": ["get"], "singularName": "pod"}]}
)
MOST = 1 << 20


def answer(status: str, body: str, length: int | None = None) -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body) if length is None else length}\r\n\r\n{body}".encode()


@asynccontextmanager
async def behind(answered: bytes, *, ends: bool = True) -> AsyncIterator[tuple[HttpTransport, list[str]]]:
    """A transport to a server whose pods all answer with these bytes; one that does not end says no more."""
    asked: list[str] = []
    over = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            path = line.split()[1].decode()
            while (await reader.readline()).strip():
                pass
            asked.append(path)
            writer.write(answer("200 OK", PODS) if path == "/api/v1" else answered)
            await writer.drain()
            if path != "/api/v1":
                if not ends:
                    await over.wait()
                break
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    transport = HttpTransport(Access(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"))
    try:
        yield transport, asked
    finally:
        over.set()
        await transport.close()
        server.close()
        await server.wait_closed()


@awaited
async def test_a_pod_is_asked_at_its_port() -> None:
    async with behind(answer("200 OK", "up 1")) as (transport, asked):
        assert await transport.proxied("default", "phi-0", 8000, "metrics", MOST) == "up 1"
        assert asked[-1] == "/api/v1/namespaces/default/pods/phi-0%3A8000/proxy/metrics"


@pytest.mark.parametrize(
    ("answered", "sentence"),
    [
        (answer("403 Forbidden", '{"kind": "Status", "message": "pods/proxy is forbidden"}'), "403: pods/proxy is for"),
        (answer("404 Not Found", '{"message": {"odd": true}, "details": 7}'), '404: {"message": {"odd": true}'),
        (answer("500 Internal Server Error", ""), "500: empty"),
        (answer("200 OK", "x" * (MOST + 1)), "more than 1 MiB"),
    ],
)
@awaited
async def test_what_a_pod_answers_badly_is_an_error_in_a_sentence(answered: bytes, sentence: str) -> None:
    async with behind(answered) as (transport, _):
        with pytest.raises(MooringError, match=sentence):
            await transport.proxied("default", "phi-0", 8000, "metrics", MOST)


@awaited
async def test_a_pod_that_never_ends_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_PROXIED_SECONDS", 0.2)
    async with behind(answer("200 OK", "up", 1000), ends=False) as (transport, _):
        with pytest.raises(MooringError, match="did not answer in"):
            await transport.proxied("default", "phi-0", 8000, "metrics", MOST)


@awaited
async def test_a_server_that_goes_away_meanwhile_is_unreachable() -> None:
    async with behind(answer("200 OK", "up", 1000)) as (transport, _):
        with pytest.raises(Unreachable):
            await transport.proxied("default", "phi-0", 8000, "metrics", MOST)
