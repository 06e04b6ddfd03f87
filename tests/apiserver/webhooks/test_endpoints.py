"""Where a webhook is: a URL, or a Service with endpoints."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from mooring.apiserver.webhooks.endpoints import Unresolved, WebhookAddress, find_address, url_of
from mooring.kube.objects import Object
from mooring.registry import Registry

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SERVICE: Object = {"service": {"namespace": "default", "name": "hook", "path": "/admit", "port": 8443}}
PORT: Object = {"name": "https", "port": 9443, "protocol": "TCP"}


def world(*objects: Object, **spec: Any) -> Registry:
    registry = Registry(now=NOW, seed=1)
    ports = [{"port": 8443, "name": "https"}, {"port": 80, "name": "http"}]
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "hook"}, "spec": {"ports": ports} | spec}
    for obj in (service, *objects):
        registry.create(registry.resource(obj["apiVersion"], obj["kind"]), obj, now=NOW)
    return registry


def slice_of(*endpoints: tuple[str, bool | None], service: str = "hook") -> Object:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": f"{service}-1", "labels": {"kubernetes.io/service-name": service}},
        "addressType": "IPv4",
        "ports": [PORT],
        "endpoints": [
            {"addresses": [address], "conditions": {} if ready is None else {"ready": ready}}
            for address, ready in endpoints
        ],
    }


def endpoints_of(*addresses: str) -> Object:
    subset = {"addresses": [{"ip": each} for each in addresses], "ports": [PORT]}
    return {"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "hook"}, "subsets": [subset]}


def test_a_url_is_where_it_says() -> None:
    registry = Registry(now=NOW, seed=1)
    client = {"url": "https://hooks.example.com:8443/admit", "caBundle": "Q0E="}
    assert find_address(registry, client) == WebhookAddress(
        "hooks.example.com", 8443, "hooks.example.com", "/admit", "Q0E="
    )
    assert find_address(registry, {"url": "https://[::1]"}) == WebhookAddress("::1", 443, "::1", "/", "")
    assert url_of({"url": "https://host"}) == "https://host/"


@pytest.mark.parametrize(
    "objects",
    [
        (slice_of(("10.0.0.1", False), ("10.0.0.2", True)),),
        (slice_of(("10.0.0.2", None)), slice_of(("10.0.0.3", True), service="other")),
        (endpoints_of("10.0.0.2"),),
    ],
)
def test_a_service_leads_to_a_ready_endpoint_and_keeps_its_name(objects: tuple[Object, ...]) -> None:
    found = find_address(world(*objects), SERVICE)
    assert found == WebhookAddress("10.0.0.2", 9443, "hook.default.svc", "/admit", "")
    assert url_of(SERVICE) == "https://hook.default.svc:8443/admit"


@pytest.mark.parametrize(
    ("registry", "client", "why"),
    [
        (world(), SERVICE, 'no endpoints available for service "hook"'),
        (world(slice_of(("10.0.0.1", False))), SERVICE, 'no endpoints available for service "hook"'),
        (world(slice_of(("10.0.0.1", True))), {"port": 80}, 'no endpoints available for service "hook"'),
        (world(), {"port": 81}, 'no service port 81 found for service "hook"'),
        (world(), {"name": "none"}, 'service "none" not found'),
        (world(type="ExternalName", externalName="a.b"), SERVICE, 'unsupported service type "ExternalName"'),
    ],
)
def test_a_service_that_leads_nowhere_says_why(registry: Registry, client: Object, why: str) -> None:
    with pytest.raises(Unresolved) as lost:
        find_address(registry, {"service": SERVICE["service"] | client.get("service", client)})
    assert str(lost.value) == why
