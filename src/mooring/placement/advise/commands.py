"""Commands to paste, with the writes that do the same: what their advice was verified with, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from mooring.api.core.types import Taint
from mooring.kube.objects import Object
from mooring.placement.advise.model import CommandTarget, Edit
from mooring.placement.advise.pointers import json_patch, resolve, tests_of, untested
from mooring.placement.node_pools import Replicated
from mooring.placement.plugins.taints import taint_text
from mooring.placement.pods import PodInfo
from mooring.placement.writes import Commands, KubectlCommand, Write, WriteVerb

_REQUESTS = "/resources/requests/"
_LIMITS = "/resources/limits/"
# Of a pod that exists, the API lets nothing else about placement be changed.
_IN_PLACE = ("/spec/tolerations", "/spec/schedulingGates")
# A Job's template never changes, and that of these others only for pods that are yet to be made.
_NEVER_RENEWED = ("Job", "ReplicaSet", "ReplicationController")


def patch(workload: CommandTarget | None, pod: Object, edits: tuple[Edit, ...]) -> Commands:
    """A patch of the workload's manifest, or of the workload in the cluster; nothing where neither can be patched."""
    if workload is None:
        return ()
    operations = _in_object(workload, edits) if workload.fields else _in_templates(workload, pod, edits)
    if operations is None:
        return ()
    text = _json(untested(operations))
    if workload.file is not None:
        return (KubectlCommand(("patch", "-f", workload.file, "--local", "--type=json", "-p", text, "-o", "yaml")),)
    if not workload.live or not _patchable(workload, edits):
        return ()
    arguments = ("patch", *_place(workload), "--type=json", "-p", text)
    command = KubectlCommand(arguments, _written_to(workload, "patch", operations))
    return (command, _renewal(workload)) if workload.kind == "StatefulSet" else (command,)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _place(workload: CommandTarget) -> tuple[str, ...]:
    return workload.kind.lower(), workload.name, "-n", workload.namespace or "default"


def _written_to(workload: CommandTarget, verb: WriteVerb, operations: Iterable[Object]) -> tuple[Write, ...]:
    if not workload.api_version:
        return ()
    namespace = workload.namespace or "default"
    return (Write(verb, workload.api_version, workload.kind, workload.name, namespace, tuple(operations)),)


def _renewal(workload: CommandTarget) -> KubectlCommand:
    """Takes away a pod if it waits: its StatefulSet changes no pod before this one has become ready."""
    namespace, pod = workload.namespace or "default", workload.waiting
    chosen = f"metadata.name={pod},status.phase=Pending"
    arguments = ("delete", "pods", "-n", namespace, "--field-selector", chosen)
    return KubectlCommand(arguments, (Write("delete", "v1", "Pod", pod, namespace),))


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


def scale(workload: CommandTarget, field: str, before: int, count: int) -> Commands:
    """Another number of replicas: `field` is where it stands in the workload's spec."""
    text = _json({"spec": {field: count}})
    if workload.file is not None:
        return (KubectlCommand(("patch", "-f", workload.file, "--local", "--type=merge", "-p", text, "-o", "yaml")),)
    if not workload.live:
        return ()
    operations = _counted(field, before, count)
    if field == "replicas":
        arguments = ("scale", *_place(workload), f"--replicas={count}")
        return (KubectlCommand(arguments, _written_to(workload, "scale", operations)),)
    arguments = ("patch", *_place(workload), "--type=merge", "-p", text)
    return (KubectlCommand(arguments, _written_to(workload, "patch", operations)),)


def _counted(field: str, before: int, count: int) -> list[Object]:
    path = f"/spec/{field}"
    # The API leaves out a number of replicas that is 0, or does not: it cannot be tested.
    return [*(tests_of(path, before) if before else ()), {"op": "add", "path": path, "value": count}]


def raise_pool(pool: Replicated, count: int) -> Commands:
    arguments = ("scale", pool.kind.lower(), pool.name, "-n", pool.namespace, f"--replicas={count}")
    body = tuple(_counted("replicas", pool.replicas, count))
    return (KubectlCommand(arguments, (Write("scale", pool.api_version, pool.kind, pool.name, pool.namespace, body),)),)


def uncordon(nodes: Sequence[str], edits: Iterable[Edit]) -> Commands:
    """The taint goes with the field: the node controller takes it away."""
    return _on_nodes(("uncordon", *nodes), [edit for edit in edits if edit.path == "/spec/unschedulable"])


def untaint(nodes: Sequence[str], taint: Taint, edits: Iterable[Edit]) -> Commands:
    return _on_nodes(("taint", "nodes", *nodes, f"{taint_text(taint)}-"), edits)


def label(nodes: Sequence[str], key: str, value: str, edits: Iterable[Edit], overwrite: bool) -> Commands:
    forced = ("--overwrite",) if overwrite else ()
    return _on_nodes(("label", "node", *nodes, f"{key}={value}", *forced), edits)


def unlabel(nodes: Sequence[str], key: str, edits: Iterable[Edit]) -> Commands:
    return _on_nodes(("label", "node", *nodes, f"{key}-"), edits)


def _on_nodes(arguments: tuple[str, ...], edits: Iterable[Edit]) -> Commands:
    bodies: dict[str, list[Object]] = {}
    for edit in edits:
        bodies.setdefault(edit.target.removeprefix("node/"), []).extend(_node_operations(edit))
    writes = tuple(Write("patch", "v1", "Node", name, body=tuple(body)) for name, body in bodies.items())
    return (KubectlCommand(arguments, writes),)


def _node_operations(edit: Edit) -> Iterator[Object]:
    yield from tests_of(edit.path, edit.before)
    if edit.after is None:
        yield {"op": "remove", "path": edit.path}
    else:
        yield {"op": "add", "path": edit.path, "value": edit.after}


def evict(pods: Iterable[PodInfo]) -> Commands:
    """Through the eviction API, which disruption budgets have a say in; kubectl has no command of its own for it."""
    return tuple(_eviction(pod.namespace or "default", pod.name) for pod in pods)


def _eviction(namespace: str, name: str) -> KubectlCommand:
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": namespace}}
    path = f"/api/v1/namespaces/{namespace}/pods/{name}/eviction"
    write = Write("evict", "v1", "Pod", name, namespace)
    return KubectlCommand(("create", "--raw", path, "-f", "-"), (write,), _json(body))
