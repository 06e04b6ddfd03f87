"""Webhooks and conversions at work beside an API server, for tests that look at them from outside."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mooring.client.access import Access
from mooring.client.http import HttpTransport
from mooring.net.tls import client_context
from mooring.runtime.webhooks.certificate_stores import CertificateFolder
from mooring.runtime.webhooks.model import Conversion, Webhook
from mooring.runtime.webhooks.server import WebhookServer
from mooring.runtime.webhooks.target import WebhookUrl
from mooring.testing.homes import Home
from mooring.testing.processes import free_port

SECONDS = 30.0
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@contextmanager
def serving(home: Home, folder: Path, *webhooks: Webhook, conversions: tuple[Conversion, ...] = ()) -> Iterator[str]:
    """Webhooks at work beside a home, in a thread with an event loop of its own; their URL."""
    port = free_port()
    url = f"https://127.0.0.1:{port}"
    failed: list[BaseException] = []
    started = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def main() -> None:
        tls = client_context(authority=home.ca.read_bytes())
        headers = {"Authorization": f"Bearer {home.token}"}
        transport = HttpTransport(Access(home.url, tls, headers=lambda: headers))
        server = WebhookServer(
            webhooks,
            transport,
            listen=("127.0.0.1", port),
            target=WebhookUrl(url),
            store=CertificateFolder(folder),
            conversions=conversions,
        )
        await server.start()
        started.set()
        try:
            await server.run(stop)
        finally:
            await server.close()
            await transport.close()

    def run() -> None:
        try:
            loop.run_until_complete(main())
        except BaseException as error:
            failed.append(error)
            started.set()
        finally:
            loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert started.wait(SECONDS)
        yield url
    finally:
        if not failed:
            loop.call_soon_threadsafe(stop.set)
        thread.join(SECONDS)
        with home.api() as api:
            for kind in ("mutating", "validating"):
                api.delete(f"{CONFIGURATIONS}/{kind}webhookconfigurations/mooring")
    assert not failed, failed


def eventually(what: Callable[[], bool]) -> None:
    """Real API servers hear of configurations by watches."""
    give_up = time.monotonic() + SECONDS
    while not what():
        assert time.monotonic() < give_up
        time.sleep(0.05)
