"""A higher priority: the smallest one with which preemption makes room, and the pods it would evict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from mooring.placement.advise import commands as kubectl
from mooring.placement.advise.model import Advice, AdviceKind, Edit
from mooring.placement.advise.others.residents import Residents
from mooring.placement.advise.pointers import edited, pointer
from mooring.placement.advise.search import Search
from mooring.placement.advise.wording import listed
from mooring.placement.filters import CORDONED
from mooring.placement.labels import Mask
from mooring.placement.preemption import Preemption, preempt
from mooring.placement.verdicts import Verdicts
from mooring.placement.writes import Commands

# Beyond this, priorities belong to Kubernetes itself.
MAX_USER_PRIORITY = 1_000_000_000

# How many priorities are tried from the first that has the resources, and on how many nodes. The scheduler itself
# stops looking once it has a hundred candidates.
MAX_LEVELS = 6
MAX_NODES = 100
MAX_NODES_WITH_TERMS = 300


def priorities(search: Search, residents: Residents, classes: Mapping[str, int]) -> Iterator[Advice]:
    info, current = search.info, search.explanation.preemption
    if not info.preempts or not residents.pods or (current is not None and current.slot >= 0):
        return
    best: tuple[int, Preemption] | None = None
    for priority, room in _levels(search, residents):
        found = _preempt(search, priority, room)
        if _evicts_its_own(search, found):
            continue
        if found.slot >= 0 and (best is None or found.violations < best[1].violations):
            best = priority, found
            if not found.violations:
                break
    if best is not None:
        priority, found = best
        what = f"Raise the pod's priority from {info.priority} to {priority}"
        yield _named(search, residents, priority, classes) or _advice(
            search, what, found, (_edit(search, priority),), ()
        )


def _levels(search: Search, residents: Residents) -> Iterator[tuple[int, Mask]]:
    """Priorities just above those of residents, lowest first, with the nodes that would then have the resources."""
    above = np.unique(residents.priorities[residents.priorities >= search.info.priority]) + 1
    above = above[above <= MAX_USER_PRIORITY]

    def room(index: int) -> Mask:
        mask: Mask = residents.near & residents.room_without(residents.priorities < above[index])
        return mask

    low, high = 0, above.size
    while low < high:
        middle = (low + high) // 2
        if room(middle).any():
            high = middle
        else:
            low = middle + 1
    for index in range(low, min(low + MAX_LEVELS, above.size)):
        yield int(above[index]), room(index)


def _evicts_its_own(search: Search, found: Preemption) -> bool:
    """Pods of one workload share their priority, so a higher one would not set them against each other."""
    owner, namespace = search.info.owner, search.info.namespace
    return any(
        p.key in search.own or (owner is not None and p.owner == owner and p.namespace == namespace)
        for p in found.victims
    )


def _edit(search: Search, priority: int) -> Edit:
    return Edit("pod", "prioritise", pointer("spec", "priority"), search.spec.get("priority"), priority)


def _preempt(search: Search, priority: int, room: Mask) -> Preemption:
    """The scheduler's own preemption, kept to nodes that would have the resources: on all others it fails."""
    info = search.compile(edited(search.pod, (_edit(search, priority),)))
    filters, verdicts = search.engine.judge(info)
    relational = filters.spread is not None or filters.interpod is not None or bool(info.template.ports)
    slots = search.in_order(room)[: MAX_NODES_WITH_TERMS if relational else MAX_NODES]
    kept = Verdicts(search.cluster.size)
    kept.reasons = verdicts.reasons
    kept.bits[:] = verdicts.bit(CORDONED)
    kept.bits[slots] = verdicts.bits[slots]
    return preempt(filters, kept)


def _named(search: Search, residents: Residents, priority: int, classes: Mapping[str, int]) -> Advice | None:
    """The same with the lowest class that is high enough, where the cluster has one."""
    enough = [(value, name) for name, value in classes.items() if priority <= value <= MAX_USER_PRIORITY]
    if not enough:
        return None
    value, name = min(enough)
    found = _preempt(search, value, residents.near & residents.room_without(residents.priorities < value))
    if found.slot < 0 or _evicts_its_own(search, found):
        return None
    before = search.spec.get("priorityClassName")
    chosen = Edit("pod", "prioritise", pointer("spec", "priorityClassName"), before, name)
    commands = kubectl.patch(search.workload, search.pod, (chosen,))
    what = f"Give the pod priorityClassName {name} ({value})"
    return _advice(search, what, found, (chosen, _edit(search, value)), commands)


def _advice(search: Search, what: str, found: Preemption, edits: tuple[Edit, ...], commands: Commands) -> Advice:
    node = search.cluster.names[found.slot]
    victims = tuple(pod.key for pod in found.victims)
    title = f"{what}: it would evict {'pod' if len(victims) == 1 else 'pods'} {listed(victims)} from node {node}"
    if found.violations:
        title += f", against {found.violations} disruption budget{'s' if found.violations > 1 else ''}"
    return Advice(AdviceKind.PRIORITISE, title, edits, commands, (node,), 1, victims)
