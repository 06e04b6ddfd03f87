"""What would help: the smallest changes that let a rejected pod in, each confirmed by the engine.

`advise` is complete for fixes of one change. It looks at nodes that one thing alone rejects, because only those are one
change away, derives the changes that would lift that one thing, and asks the engine about each before it is shown.
Where no single change helps, it looks for sets of two and three. The cluster is left exactly as it was.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from mooring.kube.objects import Object
from mooring.placement.advise.devices.requests import device_classes, devices, node_with_devices
from mooring.placement.advise.model import Advice, AdviceKind, CommandTarget, Edit
from mooring.placement.advise.nodes.labels import labels
from mooring.placement.advise.nodes.new_node import new_node, own_node
from mooring.placement.advise.nodes.opening import bring_back, uncordon, untaint
from mooring.placement.advise.nodes.pools import pools
from mooring.placement.advise.others.removals import removals
from mooring.placement.advise.others.residents import Residents
from mooring.placement.advise.pod.affinity import pod_affinity
from mooring.placement.advise.pod.gates import gates, unreadable
from mooring.placement.advise.pod.ports import ports
from mooring.placement.advise.pod.priority import priorities
from mooring.placement.advise.pod.requests import requests
from mooring.placement.advise.pod.selectors import node_name, selectors
from mooring.placement.advise.pod.spreading import spreading
from mooring.placement.advise.pod.tolerations import tolerations
from mooring.placement.advise.ranking import ranked
from mooring.placement.advise.search import Search
from mooring.placement.advise.sets import MOST_CHANGES, SetSearch
from mooring.placement.advise.workload.replicas import Replicas
from mooring.placement.advise.workload.trials import Trials, WorkloadPod
from mooring.placement.engine import Engine, Explanation
from mooring.placement.node_pools import NodePool

__all__ = [
    "MOST_CHANGES",
    "Advice",
    "AdviceKind",
    "Advised",
    "Asked",
    "CommandTarget",
    "Edit",
    "WorkloadPod",
    "advise",
    "weigh",
]


class Advised(NamedTuple):
    """What was found, best first, and where that is nothing, whether there is nothing up to `MOST_CHANGES`."""

    advice: list[Advice]
    is_complete: bool


class Asked(NamedTuple):
    """A rejected pod. `pod` is the object behind `explanation.pod`.

    `priority_classes` are the names and values that the cluster knows, `own` the pods that are no use to delete: those
    of the workload itself. `pools` may be raised.
    """

    explanation: Explanation
    pod: Object
    workload: CommandTarget | None = None
    priority_classes: Mapping[str, int] = MappingProxyType({})
    own: Collection[str] = ()
    pools: Sequence[NodePool] = ()


def advise(engine: Engine, asked: Asked, limit: int = 10, most_changes: int = MOST_CHANGES) -> Advised:
    """Changes that let a pod in; none for a pod that has a place already."""
    if not engine.cluster.node_count and not asked.pools:
        return Advised([], is_complete=True)
    search = Search(engine, asked.explanation, asked.pod, asked.workload, asked.own, pools=asked.pools)

    def changes(relaxed: Search) -> Iterator[Advice]:
        return _allowed(_changes(relaxed), asked.workload)

    def single(changed: Search) -> Iterator[Advice]:
        return _allowed(_found(changed, asked.priority_classes), asked.workload)

    found = list(single(search))
    if not _is_rejected_by_nodes(asked.explanation) or any(not each.last_resort for each in found):
        return Advised(ranked(found, limit), is_complete=False)
    sets = SetSearch(search, changes, single)
    found += sets.run(most_changes)
    return Advised(ranked(found, limit), sets.is_complete and most_changes == MOST_CHANGES)


def weigh(
    engine: Engine,
    advised: Sequence[Advice],
    asked: Asked,
    replicas: Sequence[WorkloadPod],
    template: str,
) -> list[Advice]:
    """The advice for one pod as advice for its workload: what it brings, and what brings all pods a place."""
    search = Search(engine, asked.explanation, asked.pod, asked.workload, asked.own, pools=asked.pools)

    def single(changed: Search) -> list[Advice]:
        found = _allowed(_found(changed, asked.priority_classes), asked.workload)
        return [each for each in found if not each.last_resort]

    trials = Trials(engine, replicas, template, live=asked.workload is not None and asked.workload.live)
    return Replicas(trials, engine, template).weighed(search, advised, single)


def _is_rejected_by_nodes(explanation: Explanation) -> bool:
    return explanation.rejected is None and not explanation.feasible.size and not explanation.error


def _allowed(found: Iterable[Advice], workload: CommandTarget | None) -> Iterator[Advice]:
    """Without what edits a part of the pod that its author cannot."""
    return (
        advice
        for advice in found
        if workload is None or all(edit.target != "pod" or workload.can_edit(edit) for edit in advice.edits)
    )


def _found(search: Search, priority_classes: Mapping[str, int]) -> Iterator[Advice]:
    explanation = search.explanation
    if explanation.rejected is not None:
        yield from selectors(search)
        yield from device_classes(search)
        yield from unreadable(search)
        return
    if explanation.feasible.size:
        if explanation.error and explanation.pod.template.score_error:
            yield from unreadable(search)
        elif explanation.pod.gates:
            yield from gates(search)
        return
    yield from _changes(search)
    yield from pools(search)
    yield from list(new_node(search)) or list(own_node(search)) or node_with_devices(search)
    residents = Residents(search)
    if not search.among:
        yield from priorities(search, residents, priority_classes)
    yield from removals(search, residents)


def _changes(search: Search) -> Iterator[Advice]:
    """Changes of this workload and of nodes, which cost neither machines nor other pods."""
    selected = list(selectors(search))
    yield from selected
    yield from tolerations(search)
    yield from node_name(search)
    yield from requests(search)
    yield from devices(search)
    yield from ports(search)
    yield from spreading(search)
    yield from pod_affinity(search)
    yield from uncordon(search)
    yield from bring_back(search)
    yield from labels(search, misspelt=any(advice.kind is AdviceKind.CORRECT for advice in selected))
    yield from untaint(search)
