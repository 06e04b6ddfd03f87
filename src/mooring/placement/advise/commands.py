"""Commands to paste. Each does what its advice was verified with, and nothing else."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from mooring.api.core.types import Taint
from mooring.kube.objects import Object
from mooring.placement.advise.model import CommandTarget, Edit
from mooring.placement.advise.pointers import json_patch, resolve
from mooring.placement.node_pools import Replicated
from mooring.placement.plugins.taints import taint_text
from mooring.placement.pods import PodInfo

_REQUESTS = "/resources/requests/"
_LIMITS = "/resources/limits/"
# Of a pod that exists, the API lets nothing else about placement be changed.
_IN_PLACE = ("/spec/tolerations", "/spec/schedulingGates")
# A Job's template never changes, and that of these others only for pods that are yet to be made.
_NEVER_RENEWED = ("Job", "ReplicaSet", "ReplicationController")


def patch(workload: CommandTarget | None, pod: Object, edits: tuple[Edit, ...]) -> str | None:
    """A patch of the workload's manifest, or of the workload in the cluster; None where neither can be patched."""
    if workload is None:
        return None
    operations = _in_object(workload, edits) if workload.fields else _in_templates(workload, pod, edits)
    if operations is None:
        return None
    text = shlex.quote(msgspec.json.encode(operations).decode())
    if workload.file is not None:
        return f"kubectl patch -f {shlex.quote(workload.file)} --local --type=json -p {text} -o yaml"
    if not workload.live or not _patchable(workload, edits):
        return None
    namespace = shlex.quote(workload.namespace or "default")
    command = f"kubectl patch {workload.kind.lower()} {shlex.quote(workload.name)} -n {namespace} --type=json -p {text}"
    return f"{command} && {_renewal(workload.waiting, namespace)}" if workload.kind == "StatefulSet" else command


def _renewal(pod: str, namespace: str) -> str:
    """Takes away a pod if it waits: its StatefulSet changes no pod before this one has become ready."""
    chosen = shlex.quote(f"metadata.name={pod},status.phase=Pending")
    return f"kubectl delete pods -n {namespace} --field-selector {chosen}"


def _written(pod: Object, edits: Sequence[Edit]) -> list[Edit]:
    """Without edits of requests that nobody wrote: they follow the limits, which are edited too."""
    paths = {edit.path for edit in edits}
    return [
        edit
        for edit in edits
        if _REQUESTS not in edit.path
        or resolve(pod, edit.path.rpartition("/")[0]) is not None
        or edit.path.replace(_REQUESTS, _LIMITS) not in paths
    ]


def _in_templates(workload: CommandTarget, pod: Object, edits: tuple[Edit, ...]) -> list[Object] | None:
    found: list[Object] = []
    for target in dict.fromkeys(edit.target for edit in edits):
        # Other templates than that of the pod stand in the target, as they do in the workload.
        named = target.partition("/")[2]
        path = f"/{named.replace('.', '/')}" if named else workload.pod_path
        template: Any = pod if not named else {}
        if workload.manifest is not None:
            template = workload.manifest if not path else resolve(workload.manifest, path)
        template = template if isinstance(template, dict) else {}
        operations = json_patch(template, _written(template, [each for each in edits if each.target == target]), path)
        if operations is None:
            return None
        found += operations
    return found


def _in_object(workload: CommandTarget, edits: tuple[Edit, ...]) -> list[Object] | None:
    found = [made for edit in edits if (made := workload.edit_in_object(edit)) is not None]
    return None if workload.manifest is None else json_patch(workload.manifest, found)


def _patchable(workload: CommandTarget, edits: tuple[Edit, ...]) -> bool:
    """Whether a change of an object that exists is accepted by the API, and reaches its pods."""
    if workload.kind == "Pod":
        return all(edit.path.startswith(_IN_PLACE) for edit in edits)
    return workload.kind not in _NEVER_RENEWED


def scale(workload: CommandTarget, field: str, count: int) -> str | None:
    """Another number of replicas: `field` is where it stands in the workload's spec."""
    if workload.file is not None:
        text = shlex.quote(msgspec.json.encode({"spec": {field: count}}).decode())
        return f"kubectl patch -f {shlex.quote(workload.file)} --local --type=merge -p {text} -o yaml"
    if not workload.live:
        return None
    place = f"-n {shlex.quote(workload.namespace or 'default')}"
    if field == "replicas":
        return f"kubectl scale {workload.kind.lower()} {shlex.quote(workload.name)} {place} --replicas={count}"
    text = shlex.quote(msgspec.json.encode({"spec": {field: count}}).decode())
    return f"kubectl patch {workload.kind.lower()} {shlex.quote(workload.name)} {place} --type=merge -p {text}"


def raise_pool(pool: Replicated, count: int) -> str:
    place = f"{shlex.quote(pool.name)} -n {shlex.quote(pool.namespace)}"
    return f"kubectl scale {pool.kind.lower()} {place} --replicas={count}"


def uncordon(nodes: Sequence[str]) -> str:
    return f"kubectl uncordon {shlex.join(nodes)}"


def untaint(nodes: Sequence[str], taint: Taint) -> str:
    return f"kubectl taint nodes {shlex.join(nodes)} {shlex.quote(taint_text(taint) + '-')}"


def label(nodes: Sequence[str], key: str, value: str, overwrite: bool) -> str:
    command = f"kubectl label node {shlex.join(nodes)} {shlex.quote(f'{key}={value}')}"
    return f"{command} --overwrite" if overwrite else command


def unlabel(nodes: Sequence[str], key: str) -> str:
    return f"kubectl label node {shlex.join(nodes)} {shlex.quote(key + '-')}"


def evict(pods: Iterable[PodInfo]) -> str:
    """Through the eviction API, which disruption budgets have a say in; kubectl has no command of its own for it."""
    return " && ".join(_eviction(pod.namespace or "default", pod.name) for pod in pods)


def _eviction(namespace: str, name: str) -> str:
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": namespace}}
    path = shlex.quote(f"/api/v1/namespaces/{namespace}/pods/{name}/eviction")
    return f"echo {shlex.quote(msgspec.json.encode(body).decode())} | kubectl create --raw {path} -f -"
