"""A cluster in memory that starts as a snapshot and goes on by itself.

The controllers are those of the product, the API semantics those of its registry; only the nodes are simulated: a pod
that is bound starts after a moment, and one of a Job ends after a while. Nothing is collected as garbage, because a
snapshot rarely holds the owners of everything in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from mooring.builtin import deployment, replicaset, statefulset
from mooring.builtin.claims import CLAIMS
from mooring.builtin.job import JOB_CONTROLLER
from mooring.builtin.job_orphans import JOB_ORPHANS
from mooring.builtin.kinds import POD
from mooring.builtin.nodes_pods import START_DELAY, tend
from mooring.builtin.scheduler import SCHEDULER
from mooring.kube.status import AlreadyExistsError, NotFoundError
from mooring.registry import Registry
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision
from mooring.runtime.kinds import Key
from mooring.runtime.simulation import START, Simulation
from mooring.runtime.view import View

Object = dict[str, Any]

MANAGER = "mooring-plan"


def _run_pod(key: Key, view: View, now: datetime) -> Decision:
    """What a node does for one of its pods. Nodes of a plan need no Lease and no conditions of their own."""
    pod = view.get(POD, *key)
    if pod is None or not pod.spec.node_name:
        return Decision()
    write = tend(pod, view, START_DELAY)
    return Decision(children=() if write is None else (write,))


NODES = Controller("nodes", _run_pod, of=POD, writes=(POD,))

CREW = (
    deployment.CONTROLLER,
    replicaset.CONTROLLER,
    statefulset.CONTROLLER,
    CLAIMS,
    JOB_CONTROLLER,
    JOB_ORPHANS,
    SCHEDULER,
    NODES,
)


class World:
    """`inert` are objects of kinds that nothing here acts on; `assumed` the namespaces that nobody declared."""

    def __init__(self, snapshot: Iterable[Object], *, seed: int = 0) -> None:
        self.registry = Registry(now=START, seed=seed)
        self.inert: list[str] = []
        self.assumed: list[str] = []
        for obj in snapshot:
            self._restore(obj)
        self.simulation = Simulation(CREW, registry=self.registry, seed=seed, events=False)

    def _restore(self, obj: Object) -> None:
        namespace = obj.get("metadata", {}).get("namespace")
        if namespace:
            self._ensure_namespace(namespace, note=False)
        try:
            self.registry.restore(obj, now=START)
        except AlreadyExistsError:
            # What every cluster has from the start: its default namespaces and priority classes.
            return
        except NotFoundError:
            return

    def apply(self, obj: Object, namespace: str) -> None:
        """Do what `kubectl apply` does. Raises ApiError in the API's words."""
        try:
            resource = self.registry.resource(obj["apiVersion"], obj["kind"])
        except NotFoundError:
            self.inert.append(f"{obj['kind']} {obj.get('metadata', {}).get('name', '')}".strip())
            return
        metadata = dict(obj.get("metadata") or {})
        if resource.namespaced:
            metadata.setdefault("namespace", namespace)
            self._ensure_namespace(metadata["namespace"], note=True)
        body = {**obj, "metadata": metadata}
        now = self.simulation.now
        name = metadata.get("name", "")
        if name and self.registry.find(obj["apiVersion"], obj["kind"], metadata.get("namespace", ""), name) is not None:
            home = metadata.get("namespace", "")
            self.registry.patch(resource, home, name, "apply", body, now=now, manager=MANAGER, force=True)
        else:
            self.registry.create(resource, body, now=now, manager=MANAGER)

    def _ensure_namespace(self, name: str, *, note: bool) -> None:
        if self.registry.find("v1", "Namespace", "", name) is None:
            namespaces = self.registry.resource("v1", "Namespace")
            self.registry.create(namespaces, {"metadata": {"name": name}}, now=START, manager=MANAGER)
            if note:
                self.assumed.append(name)

    def objects(self, api_version: str, kind: str) -> list[Object]:
        return list(self.registry.list(self.registry.resource(api_version, kind)).items)
