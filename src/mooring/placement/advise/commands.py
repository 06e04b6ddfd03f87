"""Commands to paste. Each does what its advice was verified with, and nothing else."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

import msgspec

from mooring.api.core.types import Taint
from mooring.kube.objects import Object
from mooring.placement.advise.model import CommandTarget, Edit
from mooring.placement.advise.pointers import json_patch, resolve
from mooring.placement.plugins.taints import taint_text
from mooring.placement.pods import PodInfo

# Of a pod that exists, the API lets nothing else about placement be changed.
_IN_PLACE = ("/spec/tolerations", "/spec/schedulingGates")


def patch(workload: CommandTarget | None, pod: Object, edits: tuple[Edit, ...]) -> str | None:
    """A patch of the workload's manifest, or of the workload in the cluster; None where neither can be patched."""
    if workload is None:
        return None
    if workload.manifest is not None:
        template = workload.manifest if not workload.pod_path else resolve(workload.manifest, workload.pod_path)
        pod = template if isinstance(template, dict) else {}
    operations = _in_object(workload, edits) if workload.fields else json_patch(pod, edits, workload.pod_path)
    if operations is None:
        return None
    text = shlex.quote(msgspec.json.encode(operations).decode())
    if workload.file is not None:
        return f"kubectl patch -f {shlex.quote(workload.file)} --local --type=json -p {text} -o yaml"
    if not workload.live or not _patchable(workload, edits):
        return None
    namespace = shlex.quote(workload.namespace or "default")
    return f"kubectl patch {workload.kind.lower()} {shlex.quote(workload.name)} -n {namespace} --type=json -p {text}"


def _in_object(workload: CommandTarget, edits: tuple[Edit, ...]) -> list[Object] | None:
    found = [made for edit in edits if (made := workload.edit_in_object(edit)) is not None]
    return None if workload.manifest is None else json_patch(workload.manifest, found)


def _patchable(workload: CommandTarget, edits: tuple[Edit, ...]) -> bool:
    """Whether the API accepts the change of an object that exists; a Job's template never changes."""
    if workload.kind == "Pod":
        return all(edit.path.startswith(_IN_PLACE) for edit in edits)
    return workload.kind != "Job"


def uncordon(node: str) -> str:
    return f"kubectl uncordon {shlex.quote(node)}"


def untaint(node: str, taint: Taint) -> str:
    return f"kubectl taint nodes {shlex.quote(node)} {shlex.quote(taint_text(taint) + '-')}"


def label(node: str, key: str, value: str, overwrite: bool) -> str:
    command = f"kubectl label node {shlex.quote(node)} {shlex.quote(f'{key}={value}')}"
    return f"{command} --overwrite" if overwrite else command


def unlabel(node: str, key: str) -> str:
    return f"kubectl label node {shlex.quote(node)} {shlex.quote(key + '-')}"


def delete(pods: Iterable[PodInfo]) -> str:
    by_namespace: dict[str, list[str]] = {}
    for pod in pods:
        by_namespace.setdefault(pod.namespace or "default", []).append(shlex.quote(pod.name))
    return " && ".join(
        f"kubectl delete pod -n {shlex.quote(namespace)} {' '.join(names)}" for namespace, names in by_namespace.items()
    )
