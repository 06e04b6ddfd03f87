"""Which namespaces an installation takes away with it: those in which nobody has put anything."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mooring.agents.helm.empty_namespace import delete_if_empty
from mooring.kube.objects import Object
from mooring.registry import Registry
from tests.client.stories import now
from tests.registry.world import definition
from tests.runtime.living import put, transport_in


def widgets(scope: str = "Namespaced", **version: Any) -> Object:
    made = definition(**version)
    made["spec"]["scope"] = scope
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", **made}


def obj(kind: str, name: str, api_version: str = "v1", namespace: str = "shop", **meta: Any) -> Object:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **meta}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}


@pytest.fixture
def registry() -> Registry:
    made = Registry(seed=1)
    put(made, obj("Namespace", "shop", namespace=""))
    return made


def deleted(registry: Registry) -> str:
    """Why it stays, or nothing."""
    return asyncio.run(delete_if_empty(transport_in(registry), "shop"))


def is_deleted(registry: Registry) -> bool:
    found = registry.find("v1", "Namespace", "", "shop")
    return found is None or "deletionTimestamp" in found["metadata"]


def test_an_empty_namespace_goes_with_what_every_namespace_has(registry: Registry) -> None:
    put(registry, obj("ConfigMap", "kube-root-ca.crt"))
    put(registry, obj("ServiceAccount", "default"))
    put(registry, obj("Secret", "default-token", annotations={"kubernetes.io/service-account.name": "default"}))
    assert deleted(registry) == ""
    assert is_deleted(registry)
    assert asyncio.run(delete_if_empty(transport_in(registry), "nowhere")) == ""


def test_a_namespace_with_something_in_it_stays_and_it_is_said_what(registry: Registry) -> None:
    for number in range(7):
        put(registry, obj("Secret", f"s{number}"))
    assert deleted(registry) == (
        "namespace shop stays, because it holds Secret s0, Secret s1, Secret s2, Secret s3, Secret s4 and 2 more; "
        "to delete it: kubectl delete namespace shop"
    )
    assert not is_deleted(registry)


def test_objects_of_custom_kinds_count_too(registry: Registry) -> None:
    put(registry, widgets())
    put(registry, obj("Widget", "mine", "example.com/v1"))
    assert deleted(registry).startswith("namespace shop stays, because it holds Widget mine; ")
    registry.delete(registry.resource("example.com/v1", "Widget"), "shop", "mine", now=now())
    assert deleted(registry) == ""


def test_a_kind_of_the_whole_cluster_holds_no_namespace(registry: Registry) -> None:
    put(registry, widgets("Cluster"))
    put(registry, obj("Widget", "everywhere", "example.com/v1", namespace=""))
    assert deleted(registry) == ""
    assert is_deleted(registry)
