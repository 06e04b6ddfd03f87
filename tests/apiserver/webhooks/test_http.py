"""The client of webhooks: which connections it keeps while addresses come and go."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from mooring.apiserver.webhooks import http as module
from mooring.apiserver.webhooks.endpoints import WebhookAddress
from mooring.apiserver.webhooks.http import WebhookClient
from mooring.net.certificates import Certificates, ensure_certificates

PATIENCE_SECONDS = 10.0
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return ensure_certificates(tmp_path_factory.mktemp("tls"), ("127.0.0.1",), now=datetime.now(UTC))


class Listener:
    """A server that counts its connections. It answers at once, and below /slow only when it is let."""

    def __init__(self, files: Certificates) -> None:
        self.made = self.open = self.slow = 0
        self.let = asyncio.Event()
        self.port = 0
        self._authority = base64.b64encode(files.authority.read_bytes()).decode()

    def at(self, path: str) -> WebhookAddress:
        return WebhookAddress("127.0.0.1", self.port, "127.0.0.1", path, self._authority)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.made += 1
        self.open += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                await reader.readexactly(len(b"{}"))
                if head.startswith(b"POST /slow"):
                    self.slow += 1
                    await self.let.wait()
                writer.write(ANSWER)
        except asyncio.IncompleteReadError:
            pass
        finally:
            self.open -= 1
            writer.close()

    async def until(self, field: str, count: int) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while getattr(self, field) != count:
                await asyncio.sleep(0.005)


@asynccontextmanager
async def calling(files: Certificates) -> AsyncIterator[tuple[Listener, WebhookClient]]:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(files.certificate, files.key)
    listener, client = Listener(files), WebhookClient()
    async with await asyncio.start_server(listener.serve, "127.0.0.1", 0, ssl=tls) as server:
        listener.port = server.sockets[0].getsockname()[1]
        yield listener, client
        client.close()
        await listener.until("open", 0)


async def ask(client: WebhookClient, address: WebhookAddress) -> None:
    assert (await client.post(address, "", b"{}", PATIENCE_SECONDS)).status == 200


def test_connections_to_addresses_of_the_past_are_closed(files: Certificates, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_ADDRESSES", 4)

    async def story() -> None:
        async with calling(files) as (listener, client):
            for number in range(6):
                await ask(client, listener.at(f"/{number}"))
            await listener.until("open", 4)
            await ask(client, listener.at("/5"))
            assert listener.made == 6
            await ask(client, listener.at("/0"))
            assert listener.made == 7

    asyncio.run(story())


def test_a_new_address_keeps_its_connection_while_all_others_are_in_use(
    files: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MAX_ADDRESSES", 2)

    async def story() -> None:
        async with calling(files) as (listener, client), asyncio.TaskGroup() as tasks:
            for number in range(2):
                tasks.create_task(ask(client, listener.at(f"/slow/{number}")))
            await listener.until("slow", 2)
            await ask(client, listener.at("/new"))
            await ask(client, listener.at("/new"))
            assert listener.made == 3
            listener.let.set()

    asyncio.run(story())
