"""What it costs to evict pods, played out: who owns them, where they go, and what their disruption budgets allow."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from mooring.placement.advise import commands
from mooring.placement.advise.model import Advice, AdviceKind, Edit
from mooring.placement.advise.search import Search
from mooring.placement.advise.wording import MAX_NAMED, listed
from mooring.placement.pods import PodInfo
from mooring.placement.preemption import by_budget

__all__ = ["evictions"]


def evictions(search: Search, pods: Sequence[PodInfo], nodes: tuple[str, ...], count: int) -> Advice:
    """Advice to evict pods, after which `count` nodes would take the incoming one."""
    edits = tuple(Edit("pods", "evict", "", pod.key, None) for pod in pods)
    victims = tuple(pod.key for pod in pods)
    leaving = [pod for pod in pods if not pod.terminating]
    where = sorted({pod.node_name or pod.nominated for pod in pods})
    place = f"node {where[0]}" if len(where) == 1 else f"nodes {', '.join(where[:MAX_NAMED])}"
    if not leaving:
        noun = "pod" if len(pods) == 1 else "pods"
        title = f"Wait until terminating {noun} {listed([pod.key for pod in pods])} left {place}"
        return Advice(AdviceKind.EVICT, title, edits, (), nodes, count, victims)
    broken, _ = by_budget(search.cluster, leaving)
    sentences = [_whereabouts(search, leaving)]
    if broken:
        sentences.append(f"the disruption budget of {listed([pod.key for pod in broken])} does not allow it now")
    title = f"Disruptive: evict {listed([_described(pod) for pod in leaving])} from {place}; {'; '.join(sentences)}"
    command = () if broken else commands.evict(leaving)
    return Advice(AdviceKind.EVICT, title, edits, command, nodes, count, victims)


def _described(pod: PodInfo) -> str:
    owner = "" if pod.owner is None else f"{pod.owner.kind} {pod.owner.name}, "
    return f"pod {pod.key} ({owner}priority {pod.priority})"


def _whereabouts(search: Search, leaving: Sequence[PodInfo]) -> str:
    """What becomes of the pods, once the incoming one has its place."""
    lost = [pod for pod in leaving if pod.owner is None]
    homeless: list[str] = []
    found: list[str] = []
    with search.cluster.pretending((), [pod.key for pod in leaving]):
        incoming = _again(search.info)
        taken = search.engine.place(incoming, 0)
        if taken.slot >= 0:
            search.cluster.bind(incoming, taken.slot)
        placed = []
        for pod in leaving:
            if pod.owner is None:
                continue
            again = _again(pod)
            again.node_name, again.nominated = "", ""
            slot = search.engine.place(again, 0).slot
            if slot < 0:
                homeless.append(pod.key)
                continue
            found.append(search.cluster.names[slot])
            search.cluster.bind(again, slot)
            placed.append(again)
        for each in reversed(placed):
            search.cluster.remove_pod(each.key)
        if taken.slot >= 0:
            search.cluster.remove_pod(incoming.key)
    told = []
    if lost:
        told.append(f"nothing makes {'it' if len(leaving) == 1 else listed([pod.key for pod in lost])} again")
    if homeless:
        told.append(f"{'it' if len(leaving) == 1 else listed(homeless)} would find no other node")
    if found:
        told.append(f"{'it' if len(leaving) == 1 else 'others'} would go to {listed(list(dict.fromkeys(found)))}")
    return ", ".join(told)


def _again(pod: PodInfo) -> PodInfo:
    """The same pod under another name, so that it is not taken for the one that is there."""
    again = copy.copy(pod)
    again.key = f"{pod.key}-again"
    return again
