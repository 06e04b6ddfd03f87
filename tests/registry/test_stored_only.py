"""What is stored without effect is told to whoever writes it, and stands in one table of the docs."""

from __future__ import annotations

from pathlib import Path

import pytest

from mooring.kube.objects import Object
from mooring.registry.admission.stored_only import STORED_ONLY, StoredOnly
from tests.registry.world import World

PAGE = Path(__file__).parents[2] / "docs" / "up.md"
PORTS = [{"port": 80}]
WRITES: dict[str, tuple[str, str, Object]] = {
    "services": ("v1", "Service", {"spec": {"type": "LoadBalancer", "ports": PORTS}}),
    "ingresses.networking.k8s.io": (
        "networking.k8s.io/v1",
        "Ingress",
        {"spec": {"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}}},
    ),
    "ingressclasses.networking.k8s.io": (
        "networking.k8s.io/v1",
        "IngressClass",
        {"spec": {"controller": "example.com/edge"}},
    ),
    "networkpolicies.networking.k8s.io": ("networking.k8s.io/v1", "NetworkPolicy", {"spec": {"podSelector": {}}}),
    "ipaddresses.networking.k8s.io": (
        "networking.k8s.io/v1",
        "IPAddress",
        {"metadata": {"name": "192.0.2.7"}, "spec": {"parentRef": {"resource": "services", "name": "web"}}},
    ),
    "flowschemas.flowcontrol.apiserver.k8s.io": (
        "flowcontrol.apiserver.k8s.io/v1",
        "FlowSchema",
        {"spec": {"priorityLevelConfiguration": {"name": "catch-all"}}},
    ),
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": (
        "flowcontrol.apiserver.k8s.io/v1",
        "PriorityLevelConfiguration",
        {"spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}}},
    ),
}


@pytest.mark.parametrize("stored", STORED_ONLY, ids=lambda stored: stored.shown)
def test_a_write_of_what_has_no_effect_is_warned_of(world: World, stored: StoredOnly) -> None:
    api_version, kind, body = WRITES[stored.store]
    warnings: list[str] = []
    resource = world.registry.resource(api_version, kind)
    made = world.registry.create(resource, {"metadata": {"name": "web"}, **body}, now=world.now, warnings=warnings)
    assert warnings == [stored.warning]
    said_again: list[str] = []
    labelled = {**made, "metadata": {**made["metadata"], "labels": {"a": "b"}}}
    world.registry.update(resource, labelled, now=world.now, warnings=said_again)
    assert said_again == [stored.warning]


def test_a_service_that_works_is_not_warned_of(world: World) -> None:
    warnings: list[str] = []
    world.make("service", {"metadata": {"name": "web"}, "spec": {"ports": PORTS}}, warnings=warnings)
    assert warnings == []


def test_the_docs_have_the_same_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    section = text.partition("## What is stored only")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| a")]
    assert rows == [[each.shown, each.missing] for each in STORED_ONLY]
