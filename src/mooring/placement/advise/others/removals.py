"""Pods that are in the way: the smallest set whose removal from one node, or one domain, lets the pod in.

DaemonSets' and static pods are left out, since they come back to the same node. Of equal sets, the one with the lowest
priority and the least resources is chosen, and kube-system is touched last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from mooring.placement.advise.model import Advice
from mooring.placement.advise.others.conflicts import conflicting
from mooring.placement.advise.others.eviction import evictions
from mooring.placement.advise.others.residents import Residents, is_system, movable
from mooring.placement.advise.search import Search
from mooring.placement.labels import Mask
from mooring.placement.pods import PodInfo
from mooring.placement.trial import NodeTrial

# On how many nodes the pods are tried one by one; the most promising come first.
MAX_NODES = 40
# How many sets are put to the engine before giving up.
MAX_SETS = 8

Cost = tuple[int, int, int, int]


def removals(search: Search, residents: Residents) -> Iterator[Advice]:
    found = list(_on_one_node(search, residents))
    found += [pods for pods in conflicting(search) if pods and not any(map(search.stays, pods))]
    for pods in sorted(found, key=_cost)[:MAX_SETS]:
        keys = [pod.key for pod in pods]
        nodes, count = search.after((), keys)
        if count:
            yield evictions(search, pods, nodes, count)
            return


def _cost(pods: list[PodInfo]) -> Cost:
    return (
        sum(map(is_system, pods)),
        sum(not pod.terminating for pod in pods),
        max(pod.priority for pod in pods),
        sum(map(_size, pods)),
    )


def _size(pod: PodInfo) -> int:
    """Resources in one number, a GPU weighing far more than processors and memory."""
    held = pod.template.resources.node
    return held.cpu + held.memory // 2**20 + 100_000 * sum(amount for _, amount in held.scalars)


def _on_one_node(search: Search, residents: Residents) -> Iterator[list[PodInfo]]:
    near = search.only(*movable(search))
    if not near.any():
        return
    for slot in _promising(search, residents, near):
        found = _fewest(search, slot)
        if found:
            yield found


def _promising(search: Search, residents: Residents, near: Mask) -> list[int]:
    """Nodes that could be freed: first those where one pod is enough, by the priority and size of that pod."""
    possible = near & residents.room_without(residents.leaving)
    if not possible.any():
        return []
    slots, missing = residents.slots, residents.missing()
    enough = (residents.held >= missing[slots]).all(axis=1) & (residents.missing_places()[slots] <= 1)
    singles = np.flatnonzero(enough & residents.leaving & possible[slots])
    costs = [(_cost([residents.pods[i]]), i) for i in _cheap(residents, singles)]
    listed = dict.fromkeys(int(slots[i]) for _, i in sorted(costs))
    largest = np.zeros_like(missing)
    np.maximum.at(largest, slots[residents.leaving], residents.held[residents.leaving])
    rounds = np.where(missing > 0, -(-missing // np.maximum(largest, 1)), 0)
    least = np.maximum(rounds.max(axis=1, initial=0), residents.missing_places())
    rest = search.in_order(possible)
    rest = rest[np.argsort(least[rest], kind="stable")]
    listed |= dict.fromkeys(rest[:MAX_NODES].tolist())
    return list(listed)[:MAX_NODES]


def _cheap(residents: Residents, singles: Iterable[int]) -> list[int]:
    """The single pods of lowest priority, so that not all of a large cluster are weighed."""
    chosen = np.asarray(singles, dtype=np.int64)
    cheap: list[int] = chosen[np.argsort(residents.priorities[chosen], kind="stable")][: 50 * MAX_NODES].tolist()
    return cheap


def _fewest(search: Search, slot: int) -> list[PodInfo]:
    """The cheapest set on one node: a single pod if one will do, else what is left when others are put back."""
    trial = NodeTrial(search.filters, search.verdicts, slot)
    rivals = search.rivals(slot)
    for rival in rivals:
        trial.add(rival)
    pods = [pod for pod in (*search.cluster.node_pods[slot].values(), *rivals) if not search.stays(pod)]
    if not trial.bits():
        return []
    for pod in sorted(pods, key=lambda pod: _cost([pod])):
        trial.remove(pod)
        if not trial.bits():
            return [pod]
        trial.add(pod)
    for pod in pods:
        trial.remove(pod)
    if trial.bits():
        return []
    found = []
    # Small pods kept first leave few large ones to go; large ones kept first leave little to go.
    for sign in (1, -1):
        kept, gone = [], []
        for pod in sorted(pods, key=lambda pod: (not is_system(pod), -pod.priority, sign * _size(pod))):
            trial.add(pod)
            if trial.bits():
                trial.remove(pod)
                gone.append(pod)
            else:
                kept.append(pod)
        for pod in kept:
            trial.remove(pod)
        found.append(gone)
    return min(found, key=_cost)
