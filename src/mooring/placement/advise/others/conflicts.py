"""Pods that keep the incoming one out of a whole domain: by its anti-affinity, by theirs, or by crowding it.

They may stand on other nodes than the one that would take the pod, so they are looked for by domain.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mooring.placement.advise.search import Search
from mooring.placement.filters import CROWDED, REPELLED, UNWELCOME
from mooring.placement.labels import LabelColumn, Mask
from mooring.placement.plugins.interpod import InterPodFilter
from mooring.placement.plugins.spread import HardConstraint
from mooring.placement.pods import PodInfo

# How many domains are looked at, and how many pods may have to go from one.
MAX_DOMAINS = 8
MAX_PODS = 20


def conflicting(search: Search) -> Iterator[list[PodInfo]]:
    """For some domains, the pods that would have to go before any node there takes the pod."""
    near = search.only(REPELLED, UNWELCOME, CROWDED)
    if not near.any():
        return
    for slot in _one_of_each(search, near):
        found: dict[str, PodInfo] = {}
        interpod, spread = search.filters.interpod, search.filters.spread
        if interpod is not None:
            for pod in (*_repelling(search, interpod, slot), *_unwelcoming(search, interpod, slot)):
                found[pod.key] = pod
        for hard in spread.constraints if spread is not None else ():
            for pod in _crowding(search, hard, slot, found):
                found[pod.key] = pod
        if 0 < len(found) <= MAX_PODS:
            yield list(found.values())


def _one_of_each(search: Search, near: Mask) -> list[int]:
    """A node of every combination of domains, those with the fewest pods in the way first."""
    slots = search.in_order(near)
    interpod, spread = search.filters.interpod, search.filters.spread
    columns: list[LabelColumn] = []
    weight = np.zeros(slots.size, dtype=np.int64)
    if interpod is not None:
        for domains in interpod.anti:
            columns.append(domains.column)
            weight += domains.at()[slots]
        for key, table in interpod.existing.items():
            columns.append(search.cluster.labels.column(key))
            weight += table[columns[-1].codes[slots]]
    for hard in spread.constraints if spread is not None else ():
        columns.append(hard.column)
        weight += np.append(hard.counts, 0)[hard.column.codes[slots]]
    rows = np.stack([weight, *(column.codes[slots] for column in columns)], axis=1)
    _, first = np.unique(rows, axis=0, return_index=True)
    chosen: list[int] = slots[first[:MAX_DOMAINS]].tolist()
    return chosen


def _pods_in(search: Search, column: LabelColumn, slot: int, having: Mask | None = None) -> Iterator[PodInfo]:
    code = column.codes[slot]
    if code < 0:
        return
    mask = search.cluster.valid & (column.codes == code)
    for other in np.flatnonzero(mask if having is None else mask & having).tolist():
        yield from search.cluster.node_pods[other].values()


def _repelling(search: Search, interpod: InterPodFilter, slot: int) -> Iterator[PodInfo]:
    for domains, clause in zip(interpod.anti, interpod.anti_clauses, strict=True):
        if domains.at()[slot] > 0:
            for pod in _pods_in(search, domains.column, slot):
                if clause.matches(pod.namespace, pod.labels):
                    yield pod


def _unwelcoming(search: Search, interpod: InterPodFilter, slot: int) -> Iterator[PodInfo]:
    incoming = search.info
    namespace_labels = search.cluster.namespaces.get(incoming.namespace, {})
    for key in interpod.existing:
        for pod in _pods_in(search, search.cluster.labels.column(key), slot):
            if any(
                term.topology_key == key and term.matches(incoming.namespace, incoming.labels, namespace_labels)
                for term in pod.template.anti_required
            ):
                yield pod


def _crowding(search: Search, hard: HardConstraint, slot: int, gone: dict[str, PodInfo]) -> list[PodInfo]:
    """As many pods of the domain as are above the skew, the least important first."""
    code = int(hard.column.codes[slot])
    if code < 0:
        return []
    constraint = hard.constraint
    excess = int(hard.counts[code]) + hard.own - hard.minimum(hard.counts) - constraint.max_skew
    if excess <= 0:
        return []
    counted = [
        pod
        for pod in _pods_in(search, hard.column, slot, hard.eligible)
        if pod.namespace == search.info.namespace and not pod.terminating and constraint.selector.matches(pod.labels)
    ]
    excess -= sum(pod.key in gone for pod in counted)
    left = sorted((pod for pod in counted if pod.key not in gone), key=lambda pod: pod.priority)
    return left[: max(excess, 0)]
