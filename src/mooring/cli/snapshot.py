"""Reads a snapshot into a cluster, and takes a pod out of it that is to be explained."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from mooring.api.core.types import PodStatus
from mooring.cli.errors import InputError
from mooring.cli.subjects import Source, Subject, remarks
from mooring.kube.errors import MooringError
from mooring.manifests import read_views
from mooring.placement.snapshot import VIEWS, Snapshot, describe, to_object


def load_snapshot(files: Iterable[str], wanted: str = "") -> Snapshot:
    snapshot = Snapshot(wanted=wanted)
    names = []
    for file in files:
        names.append(file)
        for document in read_views(file, VIEWS):
            try:
                snapshot.add(document.value)
            except MooringError as error:
                raise document.error(f"{describe(document.value)}: {error}") from None
    if not snapshot.cluster.slots:
        raise InputError(
            f"{', '.join(names)}: holds no nodes; take the snapshot with "
            "kubectl get nodes,pods,namespaces,services,statefulsets,replicasets -A -o yaml"
        )
    return snapshot


def live_subject(snapshot: Snapshot, name: str, namespace: str, files: Sequence[str]) -> Subject:
    """A pod of the snapshot. One that is bound is taken off its node, as if it had not been placed yet."""
    view = snapshot.pod
    if view is None:
        raise InputError(_unknown_pod(snapshot, name, namespace, ", ".join(files)))
    notes = []
    info = snapshot.cluster.pods[f"{namespace}/{name}"]
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
    return Subject(pod, view, Source("Pod", namespace, name, live=True), notes=notes)


def _unknown_pod(snapshot: Snapshot, name: str, namespace: str, file: str) -> str:
    pods = snapshot.cluster.pods.values()
    problem = f'no pod "{name}" in namespace "{namespace}" of {file}'
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
