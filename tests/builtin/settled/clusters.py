"""The two clusters that a case is played in: Mooring's controllers in virtual time, and a real control plane.

Neither has kubelets: what those would say and do is part of the case.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any, Protocol

from mooring.kube.objects import Object
from mooring.kube.status import ApiError
from mooring.registry import Registry
from mooring.runtime.controller import Controller
from mooring.runtime.drivers.simulation import START, Simulation
from mooring.testing.http import Answer, Api

# Longer than a collector of garbage waits before it believes that an owner is gone.
_LONG_ENOUGH = timedelta(seconds=35)
# Where each kind is, by its plural.
PATHS = {
    "Pod": "api/v1 pods", "Service": "api/v1 services", "Endpoints": "api/v1 endpoints", "Event": "api/v1 events",
    "ReplicationController": "api/v1 replicationcontrollers", "ResourceQuota": "api/v1 resourcequotas",
    "PersistentVolumeClaim": "api/v1 persistentvolumeclaims", "Deployment": "apis/apps/v1 deployments",
    "ReplicaSet": "apis/apps/v1 replicasets", "StatefulSet": "apis/apps/v1 statefulsets",
    "DaemonSet": "apis/apps/v1 daemonsets", "ControllerRevision": "apis/apps/v1 controllerrevisions",
    "Job": "apis/batch/v1 jobs", "EndpointSlice": "apis/discovery.k8s.io/v1 endpointslices",
    "PodDisruptionBudget": "apis/policy/v1 poddisruptionbudgets",
}  # fmt: skip


class Cluster(Protocol):
    """One namespace of a cluster. What is asked of it answers with the reason of a refusal, or nothing."""

    def list(self, kind: str) -> list[Object]: ...

    def create(self, obj: Object) -> str: ...

    def patch(self, kind: str, name: str, body: Object, subresource: str = "") -> str: ...

    def delete(self, kind: str, name: str, propagation: str | None = None, grace: int | None = None) -> str: ...

    def bind(self, pod: str, node: str) -> str: ...


class Simulated:
    """The same in virtual time."""

    def __init__(self, controllers: Iterable[Controller], nodes: Iterable[Object] = ()) -> None:
        self.registry = Registry(now=START, seed=0)
        self.simulation = Simulation(controllers, registry=self.registry)
        for node in nodes:
            self.create(node)
            spec = {"spec": {"taints": node["spec"].get("taints") or None}}
            self.patch("Node", node["metadata"]["name"], spec)

    def settle(self) -> None:
        end = self.simulation.now + _LONG_ENOUGH
        self.simulation.run(_LONG_ENOUGH)
        self.simulation.now = end

    def list(self, kind: str) -> list[Object]:
        return [
            o for o in self.registry.list(self._resource(kind)).items if o["metadata"].get("namespace") == "default"
        ]

    def create(self, obj: Object) -> str:
        resource = self._resource(obj["kind"])
        where = "default" if resource.namespaced else None
        return _reason(lambda: self.registry.create(resource, obj, now=self.simulation.now, namespace=where))

    def patch(self, kind: str, name: str, body: Object, subresource: str = "") -> str:
        resource = self._resource(kind)
        where = "default" if resource.namespaced else ""
        now, registry = self.simulation.now, self.registry
        return _reason(lambda: registry.patch(resource, where, name, "merge", body, now=now, subresource=subresource))

    def delete(self, kind: str, name: str, propagation: Any = None, grace: int | None = None) -> str:
        resource, now, registry = self._resource(kind), self.simulation.now, self.registry
        return _reason(
            lambda: registry.delete(resource, "default", name, now=now, propagation=propagation, grace=grace)
        )

    def bind(self, pod: str, node: str) -> str:
        return _reason(lambda: self.registry.bind(_binding(pod, node, "default"), now=self.simulation.now))

    def _resource(self, kind: str) -> Any:
        return next(each for each in self.registry.resources if each.kind == kind)


def _reason(ask: Callable[[], object]) -> str:
    try:
        ask()
    except ApiError as error:
        return error.reason
    return ""


def _binding(pod: str, node: str, namespace: str) -> Object:
    target = {"apiVersion": "v1", "kind": "Node", "name": node}
    return {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod, "namespace": namespace}, "target": target}


class RealPlane:
    """All objects of a real control plane, as they were when they were looked at last."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self._found: dict[tuple[str, str], list[Object]] = {}

    def look(self) -> object:
        """Look again; gives what changes whenever something does."""
        self._found = {}
        versions = []
        for kind, path in PATHS.items():
            found = self.api.get(f"/{path.replace(' ', '/')}").body
            for item in found["items"]:
                meta = item["metadata"]
                known = {"apiVersion": found["apiVersion"], "kind": kind, **item}
                self._found.setdefault((kind, meta["namespace"]), []).append(known)
                if kind != "Event":
                    versions.append((meta["uid"], meta["resourceVersion"]))
        return versions

    def settle(self, quiet_seconds: float = 3.0) -> None:
        """Until nothing has changed for a while."""
        before, since = self.look(), time.monotonic()
        while time.monotonic() - since < quiet_seconds:
            time.sleep(0.3)
            now = self.look()
            if now != before:
                before, since = now, time.monotonic()

    def list(self, kind: str, namespace: str) -> list[Object]:
        return self._found.get((kind, namespace), [])


class Real:
    """A namespace of a real control plane."""

    def __init__(self, plane: RealPlane, namespace: str) -> None:
        self._plane, self._api, self.namespace = plane, plane.api, namespace

    def list(self, kind: str) -> list[Object]:
        return self._plane.list(kind, self.namespace)

    def create(self, obj: Object) -> str:
        return _said(self._api.post(self._path(obj["kind"]), obj))

    def patch(self, kind: str, name: str, body: Object, subresource: str = "") -> str:
        return _said(self._api.patch(f"{self._path(kind)}/{name}/{subresource}".rstrip("/"), "merge", body))

    def delete(self, kind: str, name: str, propagation: str | None = None, grace: int | None = None) -> str:
        options: Object = {"kind": "DeleteOptions", "apiVersion": "v1"}
        options |= {} if propagation is None else {"propagationPolicy": propagation}
        options |= {} if grace is None else {"gracePeriodSeconds": grace}
        return _said(self._api.delete(f"{self._path(kind)}/{name}", options))

    def bind(self, pod: str, node: str) -> str:
        body = _binding(pod, node, self.namespace)
        return _said(self._api.post(f"{self._path('Pod')}/{pod}/binding", body))

    def _path(self, kind: str) -> str:
        group, _, plural = PATHS[kind].partition(" ")
        return f"/{group}/namespaces/{self.namespace}/{plural}"


def _said(answer: Answer) -> str:
    return "" if answer.code < 300 else str(answer.body["reason"])
