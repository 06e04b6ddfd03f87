"""PodTopologySpread: hard constraints filter, soft ones (the pod's own, or the default ones) score."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mooring.placement.cluster import Cluster
from mooring.placement.labels import Mask
from mooring.placement.podindex import Counts, CountVector, PodClause, PodQuery
from mooring.placement.pods import HOSTNAME, Constraint, PodInfo
from mooring.placement.static import StaticFacts

ZONE = "topology.kubernetes.io/zone"

# What the scheduler takes for the minimum when no domain counts at all.
NO_MINIMUM = 2**31 - 1


def default_constraints(cluster: Cluster, pod: PodInfo) -> tuple[Constraint, ...]:
    """The soft constraints of a pod that brings none of its own and belongs to a Service or an owner."""
    selector = cluster.default_selector(pod)
    if selector.empty or selector.nothing:
        return ()
    return (
        Constraint(3, HOSTNAME, selector, 1, honor_affinity=True, honor_taints=False),
        Constraint(5, ZONE, selector, 1, honor_affinity=True, honor_taints=False),
    )


def matching_pods(cluster: Cluster, pod: PodInfo, constraint: Constraint) -> CountVector | None:
    """Counts of the pods a constraint selects; an empty selector counts none, whatever it says it matches."""
    if constraint.selector.empty or constraint.selector.nothing:
        return None
    clause = PodClause(constraint.selector, frozenset((pod.namespace,)))
    return cluster.index.vector(PodQuery((clause,), live_only=True))


def included(static: StaticFacts, pod: PodInfo, constraint: Constraint, base: Mask) -> Mask:
    """Nodes that a constraint looks at, by its inclusion policies."""
    mask = base
    if constraint.honor_affinity and pod.template.node_terms is not None:
        mask = mask & static.selected(pod.template.node_terms)
    if constraint.honor_taints:
        mask = mask & ~static.tainted(pod.template.tolerations)
    return mask


def per_domain(codes: NDArray[np.integer], size: int, mask: Mask, counts: Counts | None) -> Counts:
    """Pods per topology value over the nodes of `mask`, whose codes are below `size`."""
    if counts is None:
        return np.zeros(size, dtype=np.int64)
    return np.bincount(codes[mask], weights=counts[mask], minlength=size).astype(np.int64)


class HardConstraint:
    """One constraint with the facts its filter needs."""

    __slots__ = ("column", "constraint", "counts", "eligible", "own", "present")

    def __init__(self, static: StaticFacts, pod: PodInfo, constraint: Constraint, keyed: Mask) -> None:
        cluster = static.cluster
        self.constraint = constraint
        self.column = cluster.labels.column(constraint.topology_key)
        self.eligible = included(static, pod, constraint, keyed)
        vector = matching_pods(cluster, pod, constraint)
        codes, size = self.column.codes, len(self.column.values)
        self.counts = per_domain(codes, size, self.eligible, None if vector is None else vector.counts)
        self.present = np.bincount(codes[self.eligible], minlength=size) > 0
        self.own = int(constraint.selector.matches(pod.labels))

    def minimum(self, counts: Counts) -> int:
        found = counts[self.present]
        if found.size < self.constraint.min_domains:
            return 0
        return int(found.min()) if found.size else NO_MINIMUM

    def crowded(self) -> Mask:
        """Slots whose domain would be too far above the least one; the key being absent is not judged here."""
        limit = self.constraint.max_skew - self.own + self.minimum(self.counts)
        table = np.append(self.counts > limit, False)
        return table[self.column.codes]

    def crowded_at(self, slot: int, delta: int) -> bool:
        """The same for one slot after `delta` more matching pods on it."""
        code = int(self.column.codes[slot])
        counts = self.counts
        if delta:
            counts = counts.copy()
            counts[code] += delta
        return int(counts[code]) + self.own - self.minimum(counts) > self.constraint.max_skew


class SpreadFilter:
    """All hard constraints of one incoming pod."""

    __slots__ = ("constraints", "keyed", "pod")

    def __init__(self, static: StaticFacts, pod: PodInfo) -> None:
        cluster = static.cluster
        keyed = cluster.valid.copy()
        for constraint in pod.template.spread_hard:
            keyed &= cluster.labels.present(constraint.topology_key)
        self.pod = pod
        self.keyed = keyed
        self.constraints = [HardConstraint(static, pod, c, keyed) for c in pod.template.spread_hard]

    def verdicts(self) -> tuple[Mask, Mask]:
        """Slots that lack a label, and slots whose domain is crowded; the first constraint that fails decides."""
        missing = np.zeros(self.keyed.size, dtype=np.bool_)
        crowded = np.zeros(self.keyed.size, dtype=np.bool_)
        for hard in self.constraints:
            absent = hard.column.codes < 0
            missing |= absent & ~crowded
            crowded |= hard.crowded() & ~missing
        return missing, crowded


class SpreadScore:
    """The soft constraints of one incoming pod over the nodes that passed the filters."""

    __slots__ = ("_cluster", "_ignored", "_parts", "feasible")

    def __init__(
        self, static: StaticFacts, pod: PodInfo, constraints: tuple[Constraint, ...], feasible: Mask, strict: bool
    ) -> None:
        cluster = static.cluster
        self._cluster = cluster
        self.feasible = feasible
        labels = cluster.labels
        keyed = cluster.valid
        if strict:
            keyed = keyed.copy()
            for constraint in constraints:
                keyed &= labels.present(constraint.topology_key)
        # Nodes without every key are left out of the score; default spreading takes nodes without a zone along.
        self._ignored = feasible & ~keyed if strict else None
        scored = feasible & keyed
        self._parts: list[tuple[Mask | None, Counts, float, int]] = []
        for constraint in constraints:
            column = labels.column(constraint.topology_key)
            vector = matching_pods(cluster, pod, constraint)
            counts = None if vector is None else vector.counts
            if constraint.topology_key == HOSTNAME:
                size = int(np.count_nonzero(scored))
                per_slot = np.zeros(feasible.size, dtype=np.int64) if counts is None else counts
            else:
                # Nodes without the key make one domain together, the one of the empty value.
                codes = np.where(column.codes < 0, column.index.get("", len(column.values)), column.codes)
                seen = np.bincount(codes[scored])
                size = int(np.count_nonzero(seen))
                mask = included(static, pod, constraint, keyed)
                domains = per_domain(codes, len(column.values) + 1, mask, counts)
                per_slot = domains[codes]
            present = None if strict else column.present
            self._parts.append((present, per_slot, math.log(size + 2), constraint.max_skew - 1))

    def raw(self) -> Counts:
        score = np.zeros(self.feasible.size, dtype=np.float64)
        for present, counts, weight, slack in self._parts:
            part = counts * weight + slack
            score += part if present is None else np.where(present, part, 0.0)
        rounded = round_half_up(score)
        if self._ignored is not None:
            rounded[self._ignored] = 0
        return rounded

    def normalised(self, raw: Counts) -> Counts:
        judged = self.feasible if self._ignored is None else self.feasible & ~self._ignored
        values = raw[judged]
        result = np.zeros(raw.size, dtype=np.int64)
        if not values.size:
            return result
        most, least = int(values.max()), int(values.min())
        if most <= 0:
            result[judged] = 100
        else:
            result[judged] = 100 * (most + least - values) // most
        return result


def round_half_up(values: NDArray[np.float64]) -> Counts:
    """Rounds halves away from zero; the values are never negative."""
    whole = np.floor(values)
    whole += values - whole >= 0.5
    return whole.astype(np.int64)
