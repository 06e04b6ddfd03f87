"""Makes a plan: applies workloads to a simulated cluster, and lists where and when every pod lands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import NamedTuple

import msgspec

from mooring.catalog import CATALOG
from mooring.kube.objects import Object
from mooring.kube.times import moment
from mooring.placement.node_pools import NodePool
from mooring.plan.gc_threshold import raised_gc_threshold
from mooring.plan.simulated_cluster import SimulatedCluster
from mooring.runtime.drivers.simulation import Settled


class PlannedPod(NamedTuple):
    """One pod that was not on a node before. Times count from the start of the plan."""

    key: str
    object: Object
    node: str = ""
    bound: timedelta | None = None
    running: timedelta | None = None

    @property
    def phase(self) -> str:
        return str(self.object.get("status", {}).get("phase", "Pending"))

    @property
    def lands(self) -> bool:
        return bool(self.node)


class PlannedNode(NamedTuple):
    """One node that was not there before."""

    name: str
    object: Object
    came: timedelta | None


class PlannedWorkload(NamedTuple):
    """An object to apply, and the file it came from, where one holds it as it is."""

    object: Object
    file: str | None


@dataclass
class Plan:
    """The result: the pods that were placed or are pending, and the pods of the start that were evicted."""

    cluster: SimulatedCluster
    settled: Settled
    pods: list[PlannedPod] = field(default_factory=list)
    nodes: list[PlannedNode] = field(default_factory=list)
    evicted: list[str] = field(default_factory=list)
    workloads: list[PlannedWorkload] = field(default_factory=list)
    # The namespace of workloads that name none.
    namespace: str = "default"
    # What to know of the start.
    notes: list[str] = field(default_factory=list)

    def origin(self, pod: PlannedPod) -> tuple[Object, PlannedWorkload | None]:
        """The top owner of a pod, and the workload of the plan that it is."""
        top = pod.object
        while (owner := _owner(top)) is not None:
            home = top["metadata"].get("namespace", "")
            above = self.cluster.registry.find(owner["apiVersion"], owner["kind"], home, owner["name"])
            if above is None:
                break
            top = above
        name = top["metadata"]["name"]
        for workload in self.workloads:
            wanted = workload.object
            if wanted["kind"] == top["kind"] and wanted.get("metadata", {}).get("name") == name:
                return top, workload
        return top, None

    @property
    def pending(self) -> list[PlannedPod]:
        return [pod for pod in self.pods if not pod.lands]

    @property
    def unfinished(self) -> list[str]:
        """The workloads that were not complete at the horizon, with their progress."""
        if not self.settled.moving:
            return []
        return [said for obj in self.objects if (said := _on_its_way(obj))]

    @property
    def waiting(self) -> list[str]:
        """The workloads that wait for nodes before they make pods, with what they say of it."""
        if self.settled.moving:
            return []
        started = {self.origin(pod)[0]["metadata"]["uid"] for pod in self.pods}
        return [
            said
            for obj in self.objects
            if obj["metadata"]["uid"] not in started and _tells_what_it_waits_for(obj) and (said := _on_its_way(obj))
        ]

    @property
    def objects(self) -> list[Object]:
        """The workloads as they are at the end."""
        find = self.cluster.registry.find
        found = (
            find(w.object["apiVersion"], w.object["kind"], *_place(w.object, self.namespace)) for w in self.workloads
        )
        return [obj for obj in found if obj is not None]

    @cached_property
    def pools(self) -> list[NodePool]:
        """The pools that bring nodes, as the plan leaves them."""
        served = {(each.api_version, each.kind) for each in self.cluster.registry.resources}
        found: list[NodePool] = []
        for kinds in CATALOG.node_pools():
            objects = {
                kind: [msgspec.convert(obj, view) for obj in self.cluster.objects(api_version, kind)]
                if (api_version, kind) in served
                else []
                for (api_version, kind), view in kinds.views.items()
            }
            found += kinds.pools_of(objects)
        return found

    @cached_property
    def pool_decisions(self) -> Mapping[str, str]:
        """What was decided about pools in the course of the plan."""
        found = self.cluster.registry.find("v1", "ConfigMap", *CATALOG.pool_report().decisions)
        return {} if found is None else found.get("data") or {}

    @property
    def took(self) -> timedelta:
        return self.settled.now - self.cluster.start


def make_plan(cluster: SimulatedCluster, workloads: list[PlannedWorkload], namespace: str, horizon: timedelta) -> Plan:
    """Apply workloads to a cluster and simulate it until it is quiet, or to the horizon."""
    before = {_key(pod): pod for pod in cluster.objects("v1", "Pod")}
    named = {node["metadata"]["name"] for node in cluster.objects("v1", "Node")}
    named |= {w.object.get("metadata", {}).get("name") for w in workloads if w.object["kind"] == "Node"}
    waiting = ((pod, pod["metadata"].get("namespace", "")) for pod in before.values() if not _node(pod))
    cluster.stand_in([*((w.object, _place(w.object, namespace)[0]) for w in workloads), *waiting])
    for workload in workloads:
        cluster.apply(workload.object, namespace)
    with raised_gc_threshold():
        settled = cluster.simulation.run(horizon)
    after = {_key(pod): pod for pod in cluster.objects("v1", "Pod")}
    plan = Plan(cluster, settled, workloads=workloads, namespace=namespace)
    for key, pod in after.items():
        known = before.get(key)
        if known is not None and _node(known) == _node(pod) and (_node(pod) or _ended(pod)):
            continue
        plan.pods.append(_planned(key, pod, cluster.start))
    for node in cluster.objects("v1", "Node"):
        metadata = node["metadata"]
        if metadata["name"] not in named:
            came = _since(metadata.get("creationTimestamp"), cluster.start)
            plan.nodes.append(PlannedNode(metadata["name"], node, came))
    plan.evicted = sorted(key for key, pod in before.items() if key not in after and not _ended(pod))
    return plan


def _tells_what_it_waits_for(obj: Object) -> bool:
    kind = CATALOG.workloads().get(obj["kind"])
    return kind is not None and (kind.waits_for_nodes or kind.withdraws_pods)


def _place(obj: Object, namespace: str) -> tuple[str, str]:
    metadata = obj.get("metadata") or {}
    return metadata.get("namespace") or namespace, metadata.get("name", "")


def _on_its_way(obj: Object) -> str:
    """The progress of a workload; empty where it is complete, or its kind reports none."""
    meta = obj["metadata"]
    said = CATALOG.progress(obj)
    return f"{obj['kind']} {meta.get('namespace', '')}/{meta['name']}: {said}" if said else ""


def _planned(key: str, pod: Object, start: datetime) -> PlannedPod:
    status = pod.get("status", {})
    node = _node(pod)
    scheduled = [each for each in status.get("conditions", ()) if each["type"] == "PodScheduled"]
    bound = scheduled[0].get("lastTransitionTime") if scheduled and scheduled[0]["status"] == "True" else None
    return PlannedPod(key, pod, node, _since(bound, start) if node else None, _since(status.get("startTime"), start))


def _since(text: str | None, start: datetime) -> timedelta | None:
    if text is None:
        return None
    when: datetime = moment(text)
    return when - start


def _key(pod: Object) -> str:
    return f"{pod['metadata'].get('namespace', '')}/{pod['metadata']['name']}"


def _node(pod: Object) -> str:
    return str(pod.get("spec", {}).get("nodeName", ""))


def _owner(obj: Object) -> Object | None:
    for reference in obj["metadata"].get("ownerReferences", ()):
        if reference.get("controller"):
            found: Object = reference
            return found
    return None


def _ended(pod: Object) -> bool:
    return pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
