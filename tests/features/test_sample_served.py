"""The sample feature on both API servers: kinds served, versions converted, its effect a real process."""

from __future__ import annotations

import asyncio

from mooring.agents.executors import executors_for
from mooring.api.crds.resource import definition
from mooring.client.access import Access
from mooring.client.http import HttpTransport
from mooring.kube.objects import Object
from mooring.net.tls import client_context
from mooring.runtime.drivers.live import Live
from mooring.testing.fixtures import api_server as api_server
from mooring.testing.homes import Home
from tests.features.sample.api import GROUP, MODEL_IMAGES, MODEL_SERVERS
from tests.features.sample.controller import CONTROLLER
from tests.features.test_sample import image, server
from tests.runtime.living import at_work
from tests.runtime.serving import eventually

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NAMESPACED = f"/apis/{GROUP}/v1/namespaces/default"


def test_its_model_is_fetched_by_a_process_and_its_pods_are_made(api_server: Home) -> None:
    with api_server.api() as api:
        for resource in (MODEL_IMAGES, MODEL_SERVERS):
            assert api.post(CRDS, definition(resource)).code == 201
        api.post("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}})
        eventually(lambda: api.get(f"{NAMESPACED}/modelservers").code == 200)
        assert api.post(f"{NAMESPACED}/modelimages", image()).code == 201
        assert api.post(f"{NAMESPACED}/modelservers", server()).code == 201
        found = asyncio.run(_fetched(api_server))
        assert found["status"]["effects"]["fetch"]["output"] == "fetched llama:1\n"
        names = {pod["metadata"]["name"] for pod in api.get("/api/v1/namespaces/default/pods").body["items"]}
        assert {"chat-0", "chat-1"} <= names


async def _fetched(home: Home) -> Object:
    tls = client_context(authority=home.ca.read_bytes())
    transport = HttpTransport(Access(home.url, tls, headers=lambda: {"Authorization": f"Bearer {home.token}"}))
    try:
        async with (
            executors_for([CONTROLLER], transport) as executors,
            at_work(Live([CONTROLLER], transport, executors=executors)),
            asyncio.timeout(30),
        ):
            while True:
                found = await transport.get(f"{GROUP}/v1", "ModelServer", "default", "chat")
                conditions = found.get("status", {}).get("conditions", [])
                if any(each["reason"] == "PodsNotReady" for each in conditions):
                    return found
                await asyncio.sleep(0.05)
    finally:
        await transport.close()
