"""What a Machine keeps in step on its Node: labels, annotations and taints, and a record of which of them are its own.

The record, in annotations of the Node, is what lets go of a label that the template does not have any more without
touching those that other programs and people have put there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from mooring.api.core.views import Taint
from mooring.api.kinds import key_of
from mooring.features.machines.api.machines import Machine
from mooring.features.machines.api.names import (
    ANNOTATIONS_FROM_MACHINE,
    CLUSTER_NAME,
    LABELS_FROM_MACHINE,
    NODE_CLUSTER_NAMESPACE,
    NODE_MACHINE,
    NODE_OWNER_KIND,
    NODE_OWNER_NAME,
    TAINTS_FROM_MACHINE,
    UNINITIALIZED_TAINT,
)
from mooring.features.machines.api.propagation import node_labels
from mooring.features.machines.kinds import MACHINE_NODE, MachineNode
from mooring.kube.objects import Object
from mooring.runtime.decision import Patch

__all__ = ["belongs_to", "synced_node"]

# Annotations of these domains are about the Machine, or belong to a program that reads them there.
_KEPT_DOMAINS: Final = ("x-k8s.io", "k8s.io", "kubernetes.io", "mooring.dev")


def belongs_to(node: MachineNode, machine: Machine) -> bool:
    """Whether a Node is that of this very Machine: a host that was cleaned comes back under its name."""
    annotations = node.metadata.annotations
    owner = annotations.get(NODE_CLUSTER_NAMESPACE, ""), annotations.get(NODE_MACHINE, "")
    return owner == (machine.metadata.namespace, machine.metadata.name)


def _node_annotations(machine: Machine) -> dict[str, str]:
    found = machine.metadata.annotations.items()
    return {name: value for name, value in found if not _domain(name).endswith(_KEPT_DOMAINS)}


def _domain(name: str) -> str:
    return name.partition("/")[0] if "/" in name else ""


def synced_node(machine: Machine, node: MachineNode) -> tuple[Patch, ...]:
    """The write that brings a Node in step; none where it is."""
    labels, annotations = node_labels(machine.metadata.labels), _node_annotations(machine)
    known, meta = node.metadata.annotations, node.metadata
    owner = machine.metadata.controller
    records = {
        NODE_MACHINE: machine.metadata.name,
        CLUSTER_NAME: machine.spec.cluster_name,
        NODE_CLUSTER_NAMESPACE: machine.metadata.namespace,
        NODE_OWNER_KIND: owner.kind if owner is not None else "",
        NODE_OWNER_NAME: owner.name if owner is not None else "",
        LABELS_FROM_MACHINE: ",".join(sorted(labels)),
        ANNOTATIONS_FROM_MACHINE: ",".join(sorted(annotations)),
        TAINTS_FROM_MACHINE: ",".join(f"{key}:{effect}" for key, effect in sorted(_always(machine))),
    }
    metadata: Object = {}
    if changed := _changes(meta.labels, labels, _listed(known, LABELS_FROM_MACHINE)):
        metadata["labels"] = changed
    wanted = {**annotations, **records}
    if changed := _changes(known, wanted, _listed(known, ANNOTATIONS_FROM_MACHINE)):
        metadata["annotations"] = changed
    body: Object = {"metadata": metadata} if metadata else {}
    taints = _taints(machine, node)
    if taints != list(node.spec.taints or ()):
        body["spec"] = {"taints": [_taint(each) for each in taints] or None}
    return (Patch(MACHINE_NODE, key_of(node), body),) if body else ()


def _listed(annotations: dict[str, str], record: str) -> list[str]:
    return [name for name in annotations.get(record, "").split(",") if name]


def _changes(there: dict[str, str], wanted: dict[str, str], managed: Iterable[str]) -> dict[str, str | None]:
    """A merge patch of a map: what is missing or different, and None for what is managed and not wanted any more."""
    gone: dict[str, str | None] = {name: None for name in managed if name in there and name not in wanted}
    return gone | {name: value for name, value in wanted.items() if there.get(name) != value}


def _always(machine: Machine) -> set[tuple[str, str]]:
    return {(each.key, each.effect) for each in machine.spec.taints if each.propagation == "Always"}


def _taints(machine: Machine, node: MachineNode) -> list[Taint]:
    """The taints that the Node should have: others' as they are, and the Machine's own."""
    known = node.metadata.annotations
    managed = {tuple(each.rpartition(":")[::2]) for each in _listed(known, TAINTS_FROM_MACHINE)}
    # A Node that has no record is new to its Machine: now is the time for what is put there once.
    first = TAINTS_FROM_MACHINE not in known or not belongs_to(node, machine)
    wanted = {
        (each.key, each.effect): Taint(each.key, each.value, each.effect)
        for each in machine.spec.taints
        if each.propagation == "Always" or first
    }
    kept = []
    for taint in node.spec.taints or ():
        identity = taint.key, taint.effect
        if taint.key == UNINITIALIZED_TAINT or (identity in managed and identity not in wanted):
            continue
        own = wanted.pop(identity, None)
        kept.append(taint if own is None or own.value == taint.value else own)
    return [*kept, *wanted.values()]


def _taint(taint: Taint) -> Object:
    return {name: value for name, value in msgspec.to_builtins(taint).items() if value or name in ("key", "effect")}
