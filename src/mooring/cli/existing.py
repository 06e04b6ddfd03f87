"""The pods that are asked about by name: those of the cluster itself, and those that a workload of it would make."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from mooring.api.core.types import Pod, PodStatus
from mooring.catalog import CATALOG
from mooring.cli.pictures import Picture, describe_workload, maker
from mooring.cli.subjects import DEFAULT_SCHEDULER, Source, Subject, remarks, workload_subjects
from mooring.cli.targets import Target
from mooring.kube.errors import InputError
from mooring.placement.snapshot import Snapshot, to_object

__all__ = ["existing_subjects", "wanted_by"]


def wanted_by(target: Target | None, namespace: str | None) -> Callable[[Pod], bool]:
    """Whether a pod is asked about; without a namespace, those of all namespaces are."""

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


def existing_subjects(
    picture: Picture, snapshot: Snapshot, target: Target, namespace: str | None
) -> tuple[list[Subject], list[str]]:
    """What to explain, and notes."""
    if target.kind != "Pod":
        return _workload(picture, snapshot, target, namespace)
    if not target.name:
        pods = sorted(snapshot.kept.values(), key=lambda pod: -(pod.spec.priority or 0))
        return [_pod(picture, snapshot, pod) for pod in pods], []
    if not snapshot.kept:
        raise InputError(_unknown_pod(snapshot, target.name, namespace, picture.name))
    _require_one(target, [pod.metadata.namespace for pod in snapshot.kept.values()])
    return [_pod(picture, snapshot, pod) for pod in snapshot.kept.values()], []


def _workload(
    picture: Picture, snapshot: Snapshot, target: Target, namespace: str | None
) -> tuple[list[Subject], list[str]]:
    found = picture.find(target.kind, target.name, namespace)
    if not found:
        where = "in any namespace" if namespace is None else f'in namespace "{namespace}"'
        raise InputError(f'no {target.kind} "{target.name}" {where} of {picture.name}')
    _require_one(target, [view.metadata.namespace for view in found])
    api_version = CATALOG.workloads()[target.kind].api_version
    return workload_subjects(snapshot, describe_workload(api_version, target.kind, found[0]))


def _require_one(target: Target, namespaces: list[str]) -> None:
    if len(namespaces) > 1:
        raise InputError(f"there is a {target} in {', '.join(sorted(namespaces))}: choose one with -n")


def _pod(picture: Picture, snapshot: Snapshot, view: Pod) -> Subject:
    """A pod of the cluster. One that is bound is taken off its node, as if it had not been placed yet."""
    name, namespace = view.metadata.name, view.metadata.namespace
    notes = []
    info = snapshot.cluster.pods[f"{namespace}/{name}"]
    find = partial(maker, picture, view)
    if info.node_name or info.finished:
        snapshot.cluster.remove_pod(info.key)
        state = f"runs on {info.node_name}" if not info.finished else f"has ended ({info.phase})"
        notes.append(f"the pod {state}; explained as if not yet placed")
        spec = msgspec.structs.replace(view.spec, node_name="")
        view = msgspec.structs.replace(view, spec=spec, status=PodStatus())
    if info.terminating:
        notes.append("the pod is being deleted; a scheduler would leave it alone")
    pod = {"apiVersion": "v1", "kind": "Pod", **to_object(view)}
    notes += remarks(pod["spec"])
    return Subject(pod, view, Source("Pod", namespace, name, live=True), notes=notes, maker=find)


def _unknown_pod(snapshot: Snapshot, name: str, namespace: str | None, place: str) -> str:
    pods = snapshot.cluster.pods.values()
    if namespace is None:
        return f'no pod "{name}" in any namespace of {place}'
    problem = f'no pod "{name}" in namespace "{namespace}" of {place}'
    elsewhere = sorted(p.namespace for p in pods if p.name == name)
    if elsewhere:
        return f"{problem}; there is one in {', '.join(elsewhere[:3])}: add -n {elsewhere[0]}"
    names = [p.name for p in pods if p.namespace == namespace]
    if not names:
        return f"{problem}, which holds no pods of that namespace"
    # Asked for rarely, so it does not slow down every start.
    from difflib import get_close_matches

    near = [n for n in names if n.startswith(name)][:3] or get_close_matches(name, names, 3)
    return f"{problem}; did you mean {' or '.join(near)}?" if near else problem
