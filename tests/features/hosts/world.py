"""A cluster in memory with the controllers of hosts, and questions about it in the words of the stories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from mooring.api.crds.resource import definition
from mooring.features.hosts.api.definitions import RESOURCES
from mooring.features.hosts.api.names import API_VERSION
from mooring.features.hosts.controllers import host_controllers
from mooring.features.hosts.settings import HostSettings
from mooring.features.machines.api.names import API_VERSION as MACHINES_VERSION
from mooring.features.machines.api.resources import RESOURCES as MACHINE_RESOURCES
from mooring.kube.objects import Object
from mooring.kube.status import NotFoundError
from mooring.nodes.simulated.controller import simulated_nodes
from mooring.registry import Registry
from mooring.runtime.controller import Controller
from mooring.runtime.drivers.faults import Faults
from mooring.runtime.drivers.simulation import START
from mooring.testing.hosts import byo_host, claimed_hosts, put_cluster
from mooring.testing.simulations import checked_simulation

VERSIONS = {"Machine": MACHINES_VERSION, "Cluster": MACHINES_VERSION, "Node": "v1", "Secret": "v1", "Event": "v1"}


def thin(whole: Object) -> Object:
    """A definition without its rules, which take longer to read than all the rest of a short run."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": anything, "status": anything}}
    stored = [each for each in whole["spec"]["versions"] if each["storage"]]
    versions = [{**each, "schema": {"openAPIV3Schema": schema}} for each in stored]
    spec = {name: part for name, part in whole["spec"].items() if name != "conversion"}
    return {**whole, "spec": {**spec, "versions": versions}}


DEFINITIONS = tuple(definition(each) for each in (*RESOURCES, *MACHINE_RESOURCES))
THIN_DEFINITIONS = tuple(map(thin, DEFINITIONS))


def new_registry(seed: int = 0, definitions: Iterable[Object] = THIN_DEFINITIONS) -> Registry:
    registry = Registry(now=START, seed=seed)
    for each in definitions:
        registry.create(registry.resource(each["apiVersion"], each["kind"]), each, now=START)
    return registry


def controllers(settings: HostSettings | None = None, *, agents: bool = True) -> tuple[Controller, ...]:
    own = [each for each in host_controllers(settings) if agents or each.name != "simulated-hosts"]
    return (*own, simulated_nodes())


class HostWorld:
    """`agents` False leaves hosts without anybody who plays their agents."""

    def __init__(
        self,
        *hosts: Object,
        settings: HostSettings | None = None,
        agents: bool = True,
        seed: int = 0,
        faults: Faults | None = None,
        definitions: Iterable[Object] = THIN_DEFINITIONS,
    ) -> None:
        self.simulation = checked_simulation(
            controllers(settings, agents=agents), registry=new_registry(seed, definitions), seed=seed, faults=faults
        )
        put_cluster(self.simulation)
        for host in hosts:
            self.put(host)

    def put(self, obj: Object) -> Object:
        registry = self.simulation.registry
        return registry.create(registry.resource(obj["apiVersion"], obj["kind"]), obj, now=self.simulation.now)

    def run(self, seconds: float = 3600) -> HostWorld:
        self.simulation.run(timedelta(seconds=seconds))
        return self

    def wait(self, seconds: float) -> HostWorld:
        """Let time pass, whether anything happens or not."""
        end = self.simulation.now + timedelta(seconds=seconds)
        self.simulation.run(timedelta(seconds=seconds), until=lambda: self.simulation.now >= end)
        self.simulation.now = end
        return self

    def get(self, kind: str, name: str, namespace: str = "default") -> Object:
        found = self.find(kind, name, namespace)
        assert found is not None, f"there is no {kind} {name}"
        return found

    def find(self, kind: str, name: str, namespace: str = "default") -> Object | None:
        space = "" if kind == "Node" else namespace
        try:
            return self.simulation.registry.find(VERSIONS.get(kind, API_VERSION), kind, space, name)
        except NotFoundError:
            return None

    def all(self, kind: str) -> dict[str, Object]:
        registry = self.simulation.registry
        resource = registry.resource(VERSIONS.get(kind, API_VERSION), kind)
        return {each["metadata"]["name"]: each for each in registry.list(resource).items}

    def patch(self, kind: str, name: str, body: Object, subresource: str = "") -> None:
        registry = self.simulation.registry
        resource = registry.resource(VERSIONS.get(kind, API_VERSION), kind)
        registry.patch(
            resource,
            "" if kind == "Node" else "default",
            name,
            "merge",
            body,
            subresource=subresource,
            now=self.simulation.now,
        )

    def label(self, host: str, **labels: str | None) -> None:
        self.patch("ByoHost", host, {"metadata": {"labels": labels}})

    def annotate(self, kind: str, name: str, annotations: Mapping[str, str | None]) -> None:
        self.patch(kind, name, {"metadata": {"annotations": dict(annotations)}})

    def delete(self, kind: str, name: str) -> None:
        registry = self.simulation.registry
        resource = registry.resource(VERSIONS.get(kind, API_VERSION), kind)
        registry.delete(resource, "" if kind == "Node" else "default", name, now=self.simulation.now)

    # What the stories ask.

    def claims(self) -> dict[str, str]:
        """ByoMachines by their hosts, where both agree."""
        return claimed_hosts(self.simulation.registry)

    def condition(self, kind: str, name: str, type_: str = "BYOHostReady") -> Object:
        conditions = self.get(kind, name).get("status", {}).get("conditions", [])
        found: Any = next((each for each in conditions if each["type"] == type_), None)
        assert found is not None, f"{kind} {name} has no condition {type_}: {conditions}"
        return dict(found)

    def phase(self, host: str) -> str:
        return str(self.get("ByoHost", host).get("status", {}).get("phase"))

    def ready(self, machine: str) -> bool:
        return bool(self.get("ByoMachine", machine).get("status", {}).get("ready"))


def labelled(name: str, purpose: str, **parts: Any) -> Object:
    return byo_host(name, labels={"purpose": purpose}, **parts)
