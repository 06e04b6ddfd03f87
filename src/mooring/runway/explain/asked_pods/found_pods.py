"""The pods that `explain` was asked about, with the workloads of which there is more to tell than their pods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mooring.kube.errors import FieldError
from mooring.placement.workloads.known_cluster import NodeSelection
from mooring.runway.explain.asked_pods.unplaced_pods import PodSource, UnplacedPod

__all__ = ["FoundPods", "FoundWorkload", "any_held_up"]


class FoundWorkload(NamedTuple):
    """A workload that chose its nodes, or one that comes to no pods."""

    source: PodSource
    selection: NodeSelection | None
    # Why the API refuses it; nothing where it has pods, each of which says so itself.
    errors: Sequence[FieldError] = ()
    # What it waits for before it makes pods.
    waits: str = ""


@dataclass
class FoundPods:
    pods: list[UnplacedPod] = field(default_factory=list)
    workloads: list[FoundWorkload] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def any_held_up(workloads: Iterable[FoundWorkload]) -> bool:
    return any(workload.errors or workload.waits for workload in workloads)
