"""The causes that lie in other pods: host ports, spreading, affinity. Each names the pods or counts in the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from mooring.kube.selectors import Selector
from mooring.placement.filters import Filters, port_conflict
from mooring.placement.labels import LabelColumn
from mooring.placement.plugins.spread import HardConstraint
from mooring.placement.pods import PodInfo

Slots = NDArray[np.int64]

# How many pods, or topology values, a cause names.
MAX_NAMED = 2


def port_cause(filters: Filters, slots: Slots) -> list[str]:
    cluster = filters.cluster
    texts = []
    for wanted in filters.pod.template.ports:
        held = cluster.ports.get((wanted.protocol, wanted.port), {})
        where = [s for s in slots.tolist() if any(port_conflict(wanted, ip) for ip in held.get(s, ()))]
        if not where:
            continue
        holders = (
            pod
            for pod in _pods_on(filters, where)
            if any(p.port == wanted.port and p.protocol == wanted.protocol for p in pod.template.ports)
        )
        texts.append(f"host port {wanted.port}/{wanted.protocol} is held by {_named(holders)}")
    return texts


def _pods_on(filters: Filters, slots: Iterable[int]) -> Iterator[PodInfo]:
    return (pod for slot in slots for pod in filters.cluster.node_pods[slot].values())


def _named(pods: Iterator[PodInfo]) -> str:
    """The first few pods by name. More are not counted, only said to be there."""
    keys = [pod.key for pod in islice(pods, MAX_NAMED + 1)]
    if len(keys) <= MAX_NAMED:
        return " and ".join(keys)
    return ", ".join(keys[:MAX_NAMED]) + " and others"


# Spreading


def spread_causes(filters: Filters, slots: Slots) -> list[str]:
    """The first constraint that each node fails, as the scheduler judges them one after another."""
    spread = filters.spread
    assert spread is not None
    texts = []
    left = slots
    for hard in spread.constraints:
        absent = hard.column.codes[left] < 0
        crowded = hard.crowded()[left] & ~absent
        if absent.any():
            texts.append(f"spread over {hard.constraint.topology_key}: has no such label")
        if crowded.any():
            texts.append(_skew_text(hard, left[crowded]))
        left = left[~(absent | crowded)]
    return texts


def _skew_text(hard: HardConstraint, slots: Slots) -> str:
    constraint = hard.constraint
    key, limit = constraint.topology_key, constraint.max_skew
    domains = np.unique(hard.column.codes[slots])
    counts = hard.counts[domains]
    if domains.size <= MAX_NAMED:
        have = " and ".join(
            f"{_pods(int(count))} in {hard.column.values[code]}" for code, count in zip(domains, counts, strict=True)
        )
    else:
        low, high = int(counts.min()), int(counts.max())
        have = f"{_pods(high) if low == high else f'{low} to {high} pods'} in each of {domains.size} domains"
    minimum = hard.minimum(hard.counts)
    present = np.flatnonzero(hard.present)
    if present.size < constraint.min_domains:
        least = f"the minimum counts as 0 while there are fewer than {constraint.min_domains} domains"
    elif present.size:
        emptiest = present[np.argmin(hard.counts[present])]
        least = f"the fewest are {minimum} in {hard.column.values[emptiest]}"
    else:
        least = "no domain counts"
    return f"spread over {key}: {have}, {least}, maxSkew {limit}"


def _pods(count: int) -> str:
    return "1 pod" if count == 1 else f"{count} pods"


# Affinity


def affinity_cause(filters: Filters, slots: Slots) -> list[str]:
    interpod = filters.interpod
    assert interpod is not None
    texts = []
    somewhere = any(d.total for d in interpod.affinity)
    for term, domains in zip(filters.pod.template.affinity_required, interpod.affinity, strict=True):
        codes = domains.column.codes[slots]
        wanted = _selector_text(term.selector)
        if (codes < 0).all():
            texts.append(f"pod affinity to {wanted}: has no label {term.topology_key}")
        elif not somewhere:
            texts.append(f"pod affinity: no pod on any node matches {wanted}")
        elif (domains.counts[codes] <= 0).any():
            place = _domains(domains.column, term.topology_key, slots)
            texts.append(f"pod affinity: no pod that matches {wanted} in {place}")
    return list(dict.fromkeys(texts))


def anti_affinity_cause(filters: Filters, slots: Slots) -> list[str]:
    interpod = filters.interpod
    assert interpod is not None
    texts = []
    terms = zip(filters.pod.template.anti_required, interpod.anti, interpod.anti_clauses, strict=True)
    for term, domains, clause in terms:
        codes = domains.column.codes[slots]
        met = slots[(codes >= 0) & (domains.counts[codes] > 0)]
        if met.size:
            occupied = {slot for found in filters.cluster.index.classes(clause) for slot in found.slots}
            where = [slot for slot in _domain_slots(domains.column, met) if slot in occupied]
            pods = (p for p in _pods_on(filters, where) if clause.matches(p.namespace, p.labels))
            place = _domains(domains.column, term.topology_key, met)
            texts.append(f"pod anti-affinity to {_selector_text(term.selector)}: {_named(pods)} in {place}")
    return texts


def symmetry_cause(filters: Filters, slots: Slots) -> list[str]:
    """Pods already there whose own anti-affinity keeps the incoming pod away."""
    cluster, pod = filters.cluster, filters.pod
    namespace_labels = cluster.namespaces.get(pod.namespace, {})
    texts = []
    matching = cluster.terms.forbidding.matching(pod.namespace, pod.labels, namespace_labels, cluster.world_version)
    for carrier in matching:
        column = cluster.labels.column(carrier.term.topology_key)
        met = slots[np.isin(column.codes[slots], list(carrier.counts))]
        if met.size:
            term = carrier.term
            pods = (p for p in _pods_on(filters, _domain_slots(column, met)) if term in p.template.anti_required)
            place = _domains(column, term.topology_key, met)
            texts.append(f"anti-affinity of {_named(pods)} refuses {_selector_text(term.selector)} in {place}")
    return texts


def _domain_slots(column: LabelColumn, slots: Slots) -> list[int]:
    """All slots in the domains of some."""
    codes = column.codes[slots]
    return np.flatnonzero(np.isin(column.codes, codes[codes >= 0])).tolist()


def _domains(column: LabelColumn, key: str, slots: Slots) -> str:
    codes = list(dict.fromkeys(column.codes[slots].tolist()))
    if len(codes) > MAX_NAMED:
        return f"its {key}"
    return f"{key} " + " and ".join(column.values[code] if code >= 0 else "(no label)" for code in codes)


def _selector_text(selector: Selector) -> str:
    if selector.nothing:
        return "nothing (it has no labelSelector)"
    return str(selector) or "every pod"
