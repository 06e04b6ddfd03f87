"""A cluster in memory with pools and hosts, in virtual time, and questions about it in the words of the stories."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Any

from mooring.builtin.disruption import CONTROLLER as DISRUPTION
from mooring.features.hosts.controllers import CONTROLLERS as HOST_CONTROLLERS
from mooring.features.machines.api.names import API_VERSION as MACHINES_VERSION
from mooring.features.machines.feature import MACHINES
from mooring.features.machines.webhooks import WEBHOOKS
from mooring.kube.objects import Object
from mooring.nodes.simulated.controller import simulated_nodes
from mooring.registry import Registry
from mooring.runtime.controller import Controller
from mooring.runtime.drivers.faults import Faults
from mooring.runtime.drivers.simulation import Settled
from mooring.runtime.settings import DEFAULTS, Configuration
from mooring.runtime.webhooks.direct import install
from mooring.testing.hosts import bootstrap_kubeconfig, byo_cluster, byo_host, byo_machine_template, machine_cluster
from mooring.testing.machines import BOOTSTRAP
from mooring.testing.simulations import checked_simulation
from tests.features.hosts.world import new_registry

VERSIONS = {
    "Cluster": MACHINES_VERSION,
    "MachineDeployment": MACHINES_VERSION,
    "MachineSet": MACHINES_VERSION,
    "Machine": MACHINES_VERSION,
    "Node": "v1",
    "Pod": "v1",
    "Secret": "v1",
    "Event": "v1",
    "PodDisruptionBudget": "policy/v1",
}
HOSTS_VERSION = "infrastructure.cluster.x-k8s.io/v1beta1"
OWN = MACHINES.controllers.load()
CONTROLLERS: tuple[Controller, ...] = (*OWN, *HOST_CONTROLLERS, simulated_nodes(), DISRUPTION)


def workers(*names: str) -> list[Object]:
    """Hosts of the purpose worker."""
    return [byo_host(name, labels={"purpose": "worker"}) for name in names]


def surroundings() -> list[Object]:
    """What pools take for granted: their cluster, their bootstrap object, and a template for each purpose."""
    return [
        byo_cluster(),
        machine_cluster(),
        bootstrap_kubeconfig(BOOTSTRAP),
        byo_machine_template("worker-template", {"purpose": "worker"}),
        byo_machine_template("gpu-template", {"purpose": "gpu"}),
    ]


class PoolWorld:
    """`surrounded` False leaves out what pools take for granted."""

    def __init__(
        self,
        *objects: Object,
        hosts: Iterable[Object] = (),
        controllers: Iterable[Controller] = CONTROLLERS,
        seed: int = 0,
        faults: Faults | None = None,
        surrounded: bool = True,
        registry: Registry | None = None,
        configuration: Configuration = DEFAULTS,
        admission: bool = True,
    ) -> None:
        self.simulation = checked_simulation(
            controllers,
            registry=registry or new_registry(seed),
            seed=seed,
            faults=faults,
            configuration=configuration,
        )
        self.registry = self.simulation.registry
        if admission:
            install(self.registry, WEBHOOKS, clock=lambda: self.simulation.now)
        for obj in (*(surroundings() if surrounded else ()), *hosts, *objects):
            self.put(obj)

    def put(self, obj: Object) -> Object:
        resource = self.registry.resource(obj["apiVersion"], obj["kind"])
        namespace = obj["metadata"].get("namespace", "default") if resource.namespaced else None
        return self.registry.create(resource, obj, now=self.simulation.now, namespace=namespace)

    def run(self, seconds: float = 600) -> Settled:
        return self.simulation.run(timedelta(seconds=seconds))

    def wait(self, seconds: float) -> None:
        """Let time pass, whether anything happens or not: an eviction that was refused is tried again by the clock."""
        end = self.simulation.now + timedelta(seconds=seconds)
        self.simulation.run(timedelta(seconds=seconds), until=lambda: self.simulation.now >= end)

    def wait_until(self, holds: Callable[[], bool], *, most: float, then: float) -> None:
        """Let time pass until something holds, for so long at most, and then some more, in which it may end to hold."""
        end = self.simulation.now + timedelta(seconds=most)
        while not holds() and self.simulation.now < end:
            self.wait(10)
        self.wait(then)

    def _resource(self, kind: str) -> Any:
        return self.registry.resource(VERSIONS.get(kind, HOSTS_VERSION), kind)

    def _where(self, kind: str) -> str:
        return "default" if self._resource(kind).namespaced else ""

    def get(self, kind: str, name: str) -> Object:
        found = self.all(kind).get(name)
        assert found is not None, f"there is no {kind} {name} among {sorted(self.all(kind))}"
        return found

    def all(self, kind: str) -> dict[str, Object]:
        return {each["metadata"]["name"]: each for each in self.registry.list(self._resource(kind)).items}

    def patch(self, kind: str, name: str, body: Object, subresource: str = "") -> None:
        self.registry.patch(
            self._resource(kind),
            self._where(kind),
            name,
            "merge",
            body,
            subresource=subresource,
            now=self.simulation.now,
        )

    def change(self, pool: str = "worker-pool", **spec: Any) -> None:
        self.patch("MachineDeployment", pool, {"spec": spec})

    def upgrade(self, version: str = "v1.35.0", pool: str = "worker-pool") -> None:
        self.change(pool, template={"spec": {"version": version}})

    def annotate(self, kind: str, name: str, annotations: Mapping[str, str | None]) -> None:
        self.patch(kind, name, {"metadata": {"annotations": dict(annotations)}})

    def delete(self, kind: str, name: str) -> None:
        self.registry.delete(self._resource(kind), self._where(kind), name, now=self.simulation.now)

    # What the stories ask.

    def status(self, pool: str = "worker-pool", kind: str = "MachineDeployment") -> Object:
        found: Object = self.get(kind, pool).get("status", {})
        return found

    def condition(self, kind: str, name: str, type_: str) -> Object:
        found = [each for each in self.get(kind, name).get("status", {}).get("conditions", ()) if each["type"] == type_]
        assert found, f"{kind} {name} has no condition {type_}"
        return dict(found[0])

    def nodes_of(self, pool: str = "worker-pool") -> list[str]:
        """The Nodes of a pool's Machines."""
        machines = self.all("Machine").values()
        own = [each for each in machines if each["metadata"]["labels"]["cluster.x-k8s.io/deployment-name"] == pool]
        return sorted(each["status"]["nodeRef"]["name"] for each in own if "nodeRef" in each.get("status", {}))

    def versions(self) -> dict[str, str]:
        return {name: node["status"]["nodeInfo"]["kubeletVersion"] for name, node in self.all("Node").items()}

    def told(self, reason: str) -> list[str]:
        return [each["message"] for each in self.all("Event").values() if each["reason"] == reason]
