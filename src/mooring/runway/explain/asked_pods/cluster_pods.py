"""Pods of the cluster that `explain` is asked about by name, and the pods of a workload of the cluster."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from mooring.api.core.types import Pod, PodStatus
from mooring.catalog import CATALOG
from mooring.kube.errors import InputError
from mooring.kube.near_names import did_you_mean
from mooring.kube.objects import Object
from mooring.placement.snapshot import Snapshot, to_object
from mooring.runtime.settings import Configuration
from mooring.runway.explain.asked_pods.found_pods import FoundPods
from mooring.runway.explain.asked_pods.manifest_pods import workload_pods
from mooring.runway.explain.asked_pods.unplaced_pods import (
    DEFAULT_SCHEDULER,
    PodSource,
    UnplacedPod,
    remarks,
    scheduler_unknowns,
)
from mooring.runway.explain.explain_target import ExplainTarget
from mooring.runway.sources.cluster_source import ClusterSource, top_owner, workload_object

__all__ = ["MissingObject", "find_cluster_pods", "wanted_by"]


class MissingObject(InputError):
    """What is asked about is not in the cluster."""


def wanted_by(target: ExplainTarget | None, namespace: str | None) -> Callable[[Pod], bool]:
    """A predicate for the pods that are asked about; without a namespace, in all namespaces."""

    def wanted(pod: Pod) -> bool:
        if target is None or target.kind != "Pod" or namespace not in (None, pod.metadata.namespace):
            return False
        return pod.metadata.name == target.name if target.name else _waits(pod)

    return wanted


def _waits(pod: Pod) -> bool:
    return (
        not pod.spec.node_name
        and pod.status.phase in ("", "Pending")
        and pod.metadata.deletion_timestamp is None
        and pod.spec.scheduler_name in ("", DEFAULT_SCHEDULER)
    )


def find_cluster_pods(
    cluster_source: ClusterSource,
    snapshot: Snapshot,
    target: ExplainTarget,
    namespace: str | None,
    configuration: Configuration,
) -> FoundPods:
    """The pods to explain."""
    if target.kind != "Pod":
        return workload_pods(snapshot, _workload(cluster_source, target, namespace), configuration)
    if not target.name:
        pods = sorted(snapshot.kept.values(), key=lambda pod: -(pod.spec.priority or 0))
        return FoundPods([_pod(cluster_source, snapshot, pod) for pod in pods])
    if not snapshot.kept:
        raise MissingObject(_unknown_pod(snapshot, target.name, namespace, cluster_source.name))
    _require_one(target, [pod.metadata.namespace for pod in snapshot.kept.values()])
    return FoundPods([_pod(cluster_source, snapshot, pod) for pod in snapshot.kept.values()])


def _workload(cluster_source: ClusterSource, target: ExplainTarget, namespace: str | None) -> Object:
    found = cluster_source.find(target.kind, target.name, namespace)
    if not found:
        where = "in any namespace" if namespace is None else f'in namespace "{namespace}"'
        hint = did_you_mean(target.name, cluster_source.names(target.kind, namespace))
        raise MissingObject(f'{target.kind} "{target.name}" not found {where} of {cluster_source.name}{hint}')
    _require_one(target, [view.metadata.namespace for view in found])
    api_version = CATALOG.workloads()[target.kind].api_version
    return workload_object(api_version, target.kind, found[0])


def _require_one(target: ExplainTarget, namespaces: list[str]) -> None:
    if len(namespaces) > 1:
        raise InputError(f"there is a {target} in {', '.join(sorted(namespaces))}: choose one with -n")


def _pod(cluster_source: ClusterSource, snapshot: Snapshot, view: Pod) -> UnplacedPod:
    """A pod of the cluster. One that is bound is taken off its node, as if it had not been placed yet."""
    name, namespace = view.metadata.name, view.metadata.namespace
    notes = []
    info = snapshot.cluster.pods[f"{namespace}/{name}"]
    find = partial(top_owner, cluster_source, view)
    if info.node_name or info.finished:
        snapshot.cluster.remove_pod(info.key)
        state = f"runs on {info.node_name}" if not info.finished else f"has ended ({info.phase})"
        notes.append(f"the pod {state}; explained as if not yet placed")
        spec = msgspec.structs.replace(view.spec, node_name="")
        view = msgspec.structs.replace(view, spec=spec, status=PodStatus())
    if info.terminating:
        notes.append("the pod is being deleted; a scheduler would leave it alone")
    pod = {"apiVersion": "v1", "kind": "Pod", **to_object(view)}
    notes += remarks(pod["spec"], snapshot.cluster.slots)
    unknowns = scheduler_unknowns(pod["spec"])
    source = PodSource("Pod", namespace, name, live=True)
    return UnplacedPod(pod, view, source, notes=notes, unknowns=unknowns, top_owner=find)


def _unknown_pod(snapshot: Snapshot, name: str, namespace: str | None, place: str) -> str:
    pods = snapshot.cluster.pods.values()
    if namespace is None:
        return f'pod "{name}" not found in any namespace of {place}'
    problem = f'pod "{name}" not found in namespace "{namespace}" of {place}'
    elsewhere = sorted(p.namespace for p in pods if p.name == name)
    if elsewhere:
        return f"{problem}; there is one in {', '.join(elsewhere[:3])}: add -n {elsewhere[0]}"
    names = [p.name for p in pods if p.namespace == namespace]
    if not names:
        return f"{problem}, which holds no pods of that namespace"
    return f"{problem}{did_you_mean(name, names)}"
