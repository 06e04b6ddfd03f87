"""A small cluster in virtual time with the controllers of this package, and verbs to speak of it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from mooring.builtin.batch.job.controller import CONTROLLER as JOB_CONTROLLER
from mooring.builtin.batch.job.orphans import CONTROLLER as JOB_ORPHANS
from mooring.builtin.garbagecollector.controller import garbage_collector
from mooring.builtin.namespaces import namespace_controller
from mooring.builtin.nodelifecycle.controller import CONTROLLER as NODE_LIFECYCLE
from mooring.builtin.nodelifecycle.outages import CONTROLLER as NODE_OUTAGES
from mooring.builtin.nodelifecycle.pod_gc import CONTROLLER as NODE_ORPHANS
from mooring.builtin.nodelifecycle.taint_eviction import CONTROLLER as TAINT_EVICTION
from mooring.builtin.scheduler.controller import CONTROLLER as SCHEDULER
from mooring.kube.conditions import conditions_of, find_condition
from mooring.kube.objects import Object
from mooring.nodes.simulated.controller import simulated_nodes
from mooring.registry import Registry
from mooring.runtime.controller import Controller
from mooring.runtime.drivers.faults import Faults
from mooring.runtime.drivers.simulation import START, Settled, Simulation
from mooring.testing.simulations import checked_simulation
from mooring.workloads import kinds as k

CONTENT = (
    k.POD, k.REPLICA_SET, k.DEPLOYMENT, k.STATEFUL_SET, k.CONTROLLER_REVISION, k.PERSISTENT_VOLUME_CLAIM, k.JOB,
    k.SERVICE, k.ENDPOINTS, k.ENDPOINT_SLICE, k.POD_DISRUPTION_BUDGET, k.LEASE, k.RESOURCE_CLAIM,
)  # fmt: skip
GARBAGE = garbage_collector((*CONTENT, k.NODE))
NAMESPACES = namespace_controller(CONTENT)
NODES = simulated_nodes(every_node=True)
LIFECYCLE = (NODE_LIFECYCLE, NODE_OUTAGES, TAINT_EVICTION)
CONTROLLERS = (SCHEDULER, JOB_CONTROLLER, JOB_ORPHANS, GARBAGE, NAMESPACES, NODES, NODE_ORPHANS, *LIFECYCLE)

_VERSIONS = {
    "Pod": "v1", "Node": "v1", "Namespace": "v1", "Job": "batch/v1", "Lease": "coordination.k8s.io/v1",
    "ReplicaSet": "apps/v1", "Event": "v1", "ConfigMap": "v1", "Service": "v1", "Endpoints": "v1",
    "EndpointSlice": "discovery.k8s.io/v1", "PodDisruptionBudget": "policy/v1", "Deployment": "apps/v1",
    "StatefulSet": "apps/v1", "DaemonSet": "apps/v1", "ControllerRevision": "apps/v1",
    "Stage": "kwok.x-k8s.io/v1alpha1", "PersistentVolume": "v1", "PersistentVolumeClaim": "v1",
    "ResourceClaim": "resource.k8s.io/v1", "ReplicationController": "v1", "CronJob": "batch/v1", "ResourceQuota": "v1",
}  # fmt: skip


class Town:
    """A simulated cluster: a registry in memory, controllers in virtual time, and verbs to create, patch and read."""

    def __init__(
        self,
        *objects: Object,
        controllers: Iterable[Controller] = CONTROLLERS,
        seed: int = 0,
        faults: Faults | None = None,
        settled: bool = False,
        after: Town | None = None,
        before: Iterable[Object] = (),
    ) -> None:
        """`after` is a town that this one goes on from, with other controllers and other faults.

        `before` is there before anybody looks, such as definitions and what they define.
        """
        registry = Registry(now=START, seed=seed) if after is None else after.registry
        for obj in before:
            registry.create(registry.resource(obj["apiVersion"], obj["kind"]), obj, now=START)
        now = START if after is None else after.simulation.now
        self.simulation: Simulation = checked_simulation(
            controllers, registry=registry, seed=seed, faults=faults, now=now
        )
        for obj in objects:
            self.create(obj)
        if settled:
            self.run()

    @property
    def registry(self) -> Registry:
        return self.simulation.registry

    def create(self, obj: Object) -> Object:
        resource = self.registry.resource(obj["apiVersion"], obj["kind"])
        namespace = obj["metadata"].get("namespace", "default") if resource.namespaced else None
        return self.registry.create(resource, obj, now=self.simulation.now, namespace=namespace)

    def run(self, seconds: float | None = None) -> Settled:
        return self.simulation.run() if seconds is None else self.simulation.run(timedelta(seconds=seconds))

    def elapsed(self) -> float:
        return (self.simulation.now - START).total_seconds()

    def get(self, kind: str, name: str, namespace: str = "default") -> Object | None:
        resource = self.registry.resource(_VERSIONS[kind], kind)
        return self.registry.find(_VERSIONS[kind], kind, namespace if resource.namespaced else "", name)

    def patch(self, kind: str, name: str, body: Object, subresource: str = "", namespace: str = "default") -> None:
        resource = self.registry.resource(_VERSIONS[kind], kind)
        where = namespace if resource.namespaced else ""
        now = self.simulation.now
        self.registry.patch(resource, where, name, "merge", body, now=now, subresource=subresource)

    def delete(self, kind: str, name: str, namespace: str = "default", **options: Any) -> None:
        resource = self.registry.resource(_VERSIONS[kind], kind)
        where = namespace if resource.namespaced else ""
        self.registry.delete(resource, where, name, now=self.simulation.now, **options)

    def all(self, kind: str) -> list[Object]:
        return list(self.registry.list(self.registry.resource(_VERSIONS[kind], kind)).items)

    def pods(self) -> dict[str, Object]:
        return {pod["metadata"]["name"]: pod for pod in self.all("Pod")}

    def placed(self) -> dict[str, str]:
        """The node of every pod that has one."""
        return {name: pod["spec"]["nodeName"] for name, pod in self.pods().items() if pod["spec"].get("nodeName")}

    def events(self, reason: str) -> list[str]:
        return [event["message"] for event in self.all("Event") if event["reason"] == reason]


def condition(obj: Object | None, kind: str) -> Object:
    assert obj is not None
    return find_condition(conditions_of(obj), kind) or {}
