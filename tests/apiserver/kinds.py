"""Custom kinds to tell stories with: a zoo whose definitions say as little as a test needs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from mooring.kube.objects import Object
from mooring.registry import Registry, Resource

NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
DEFINITION = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
SCALE = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
LION_SCHEMA: Object = {
    "type": "object",
    "description": "A Lion eats.",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["food"],
            "properties": {
                "food": {"type": "string", "description": "What it eats.", "enum": ["meat", "fish"], "default": "meat"},
                "replicas": {"type": "integer"},
                "cage": {
                    "type": "object",
                    "x-kubernetes-embedded-resource": True,
                    "x-kubernetes-preserve-unknown-fields": True,
                },
            },
        },
        "status": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
    },
}


def version(name: str, *, storage: bool = False, served: bool = True, **more: Any) -> Object:
    return {"name": name, "served": served, "storage": storage, "schema": {"openAPIV3Schema": LION_SCHEMA}, **more}


def definition(
    kind: str, *versions: Object, group: str = "zoo.example.com", cluster: bool = False, **names: Any
) -> Object:
    plural = names.pop("plural", f"{kind.lower()}s")
    return {
        "apiVersion": DEFINITION[0],
        "kind": DEFINITION[1],
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Cluster" if cluster else "Namespaced",
            "names": {"plural": plural, "kind": kind, **names},
            "versions": list(versions) or [version("v1", storage=True)],
        },
    }


def define(registry: Registry, obj: Object) -> Resource:
    """Serve a custom kind; returns its storage version."""
    registry.create(registry.resource(*DEFINITION), obj, now=NOW)
    spec = obj["spec"]
    stored = next(each["name"] for each in spec["versions"] if each["storage"])
    return registry.resource(f"{spec['group']}/{stored}", spec["names"]["kind"])
