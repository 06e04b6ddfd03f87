"""Small helpers that make tests of the runtime read as stories."""

from __future__ import annotations

from mooring.kube.objects import Object
from mooring.runtime.drivers.simulation import Simulation


def config_map(name: str, owner: Object | None = None, **data: str) -> Object:
    meta: Object = {"name": name, "namespace": "default"}
    if owner is not None:
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"], "controller": True}
        meta["ownerReferences"] = [{**reference, "uid": owner["metadata"]["uid"]}]
    return {"metadata": meta, "data": data}


def create(simulation: Simulation, obj: Object) -> Object:
    registry = simulation.registry
    return registry.create(registry.resource("v1", "ConfigMap"), obj, now=simulation.now)


def change(simulation: Simulation, name: str, body: Object) -> Object:
    registry = simulation.registry
    return registry.patch(registry.resource("v1", "ConfigMap"), "default", name, "merge", body, now=simulation.now)


def names(simulation: Simulation) -> list[str]:
    registry = simulation.registry
    found = registry.list(registry.resource("v1", "ConfigMap"), "default").items
    return sorted(obj["metadata"]["name"] for obj in found)


def get(simulation: Simulation, name: str) -> Object:
    registry = simulation.registry
    return registry.get(registry.resource("v1", "ConfigMap"), "default", name)
