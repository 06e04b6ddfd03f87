"""Reaches the API server of a home over HTTP, and keeps what comes back."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any, cast
from uuid import uuid4

import msgspec
import pytest

from mooring.client.access import Access
from mooring.client.http import HttpTransport
from mooring.client.transport import EVERYTHING, Batch, Request, Scope
from mooring.kube.objects import Object
from mooring.net.client_connection import HttpResponse
from mooring.net.tls import client_context
from mooring.testing.homes import Home


class Tapped(HttpTransport):
    """A transport that keeps every body it receives."""

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        self.received: list[bytes] = []

    async def _answer(self, *request: Any, **more: Any) -> HttpResponse:
        found = await super()._answer(*request, **more)
        self.received.append(found.body)
        return found

    async def watch(
        self, api_version: str, kind: str, resource_version: str, scope: Scope = EVERYTHING
    ) -> AsyncGenerator[Batch]:
        async with aclosing(super().watch(api_version, kind, resource_version, scope)) as batches:
            async for batch in batches:
                self.received += [bytes(cast(msgspec.Raw, change.object)) for change in batch.changes]
                yield batch

    def has_received(self, text: str) -> bool:
        return any(text.encode() in body for body in self.received)


@asynccontextmanager
async def reaching(home: Home) -> AsyncIterator[Tapped]:
    tls = client_context(authority=home.ca.read_bytes())
    headers = {"Authorization": f"Bearer {home.token}"}
    transport = Tapped(Access(home.url, tls, headers=lambda: headers))
    try:
        yield transport
    finally:
        await transport.close()


@pytest.fixture
def namespace(api_server: Home) -> str:
    """A namespace of its own for each test."""
    name = f"story-{uuid4().hex[:8]}"
    with api_server.api() as api:
        assert api.post("/api/v1/namespaces", {"metadata": {"name": name}}).code == 201
        # Nobody makes it where no controllers run, and the real server admits no pod without it.
        api.post(f"/api/v1/namespaces/{name}/serviceaccounts", {"metadata": {"name": "default"}})
    return name


def creation(obj: Object) -> Request:
    meta = obj["metadata"]
    return Request("create", obj["apiVersion"], obj["kind"], meta.get("namespace", ""), meta["name"], obj)
