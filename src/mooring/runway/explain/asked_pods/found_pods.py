"""The pods that `explain` was asked about, with the workloads of which there is more to tell than their pods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from typing import NamedTuple

from mooring.kube.errors import FieldError
from mooring.kube.objects import Object
from mooring.placement.workloads.expansion import Expansion
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
    _names: set[tuple[str, str]] = field(default_factory=set)

    def take_name(self, metadata: Object, expansion: Expansion) -> None:
        """Keep apart pods of workloads of one name: their names end in numbers here, where a cluster draws ends."""
        name, kind = metadata["name"], expansion.kind.lower()
        for each in chain((name, f"{name}-{kind}"), (f"{name}-{kind}-{number}" for number in count(2))):
            if (expansion.namespace, each) not in self._names:
                self._names.add((expansion.namespace, each))
                metadata["name"] = each
                return


def any_held_up(workloads: Iterable[FoundWorkload]) -> bool:
    return any(workload.errors or workload.waits for workload in workloads)
