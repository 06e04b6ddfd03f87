"""The nodes that a workload chose, as data: how many it needs, which match, and which count."""

from __future__ import annotations

from typing import Any

from mooring.kube.errors import unique_texts
from mooring.placement.workloads.known_cluster import NodeSelection
from mooring.runway.explain.asked_pods.found_pods import FoundWorkload

__all__ = ["selection_data", "workload_data"]


def selection_data(selection: NodeSelection) -> dict[str, Any]:
    data: dict[str, Any] = {
        "labels": selection.labels,
        "required": selection.required or None,
        "reason": selection.reason,
        "matching": list(selection.matching),
        selection.counted_as: list(selection.counted),
        "notCounted": [node._asdict() for node in selection.uncounted],
    }
    if selection.claimed_type:
        data["claims"] = {"count": selection.claims, "type": selection.claimed_type}
    return data


def workload_data(workload: FoundWorkload) -> dict[str, Any]:
    source = workload.source
    data: dict[str, Any] = {"kind": source.kind, "namespace": source.namespace, "name": source.name}
    if workload.errors:
        data["invalid"] = unique_texts(workload.errors)
    if workload.waits:
        data["waits"] = workload.waits
    if workload.selection is not None:
        data["nodes"] = selection_data(workload.selection)
    return data
