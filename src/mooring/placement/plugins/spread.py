"""PodTopologySpread: hard constraints filter, soft ones (the pod's own, or the default ones) score."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mooring.placement.labels import Mask
from mooring.placement.plugins.node_matching import NodeMatching, Topology
from mooring.placement.podindex import Counts, CountVector, PodClause, PodQuery
from mooring.placement.pods import HOSTNAME, Constraint, PodInfo
from mooring.placement.scheduler_cache import SchedulerCache

Slots = NDArray[np.int64]

ZONE = "topology.kubernetes.io/zone"

# What the scheduler takes for the minimum when no domain counts at all.
NO_MINIMUM = 2**31 - 1


def default_constraints(cluster: SchedulerCache, pod: PodInfo) -> tuple[Constraint, ...]:
    """The soft constraints of a pod that brings none of its own and belongs to a Service or an owner."""
    selector = cluster.default_selectors.default_selector(pod)
    if selector.empty or selector.nothing:
        return ()
    return (
        Constraint(3, HOSTNAME, selector, 1, honor_affinity=True, honor_taints=False),
        Constraint(5, ZONE, selector, 1, honor_affinity=True, honor_taints=False),
    )


def matching_pods(cluster: SchedulerCache, pod: PodInfo, constraint: Constraint) -> CountVector | None:
    """Counts of the pods a constraint selects; an empty selector counts none, whatever it says it matches."""
    if constraint.selector.empty or constraint.selector.nothing:
        return None
    clause = PodClause(constraint.selector, frozenset((pod.namespace,)))
    return cluster.index.vector(PodQuery((clause,), live_only=True))


def included(matching: NodeMatching, pod: PodInfo, constraint: Constraint, base: Mask) -> Mask:
    """Nodes that a constraint looks at, by its inclusion policies."""
    mask = base
    if constraint.honor_affinity and pod.template.node_terms is not None:
        mask = mask & matching.selected(pod.template.node_terms)
    if constraint.honor_taints:
        mask = mask & ~matching.tainted(pod.template.tolerations)
    return mask


def per_domain(matching: NodeMatching, topology: Topology, mask: Mask, counts: Counts) -> Counts:
    """Pods per topology value over the nodes of `mask`, with one more entry for nodes without the key."""
    # Slots without a node hold no pods, so the mask of all nodes leaves nothing out.
    weights = counts if mask is matching.cluster.valid else counts * mask
    return np.bincount(topology.codes, weights=weights, minlength=topology.size + 1).astype(np.int64)


class HardConstraint:
    """One constraint with the facts its filter needs."""

    __slots__ = ("column", "constraint", "counts", "eligible", "own", "present", "topology")

    def __init__(self, matching: NodeMatching, pod: PodInfo, constraint: Constraint, keyed: Mask) -> None:
        cluster = matching.cluster
        self.constraint = constraint
        self.column = cluster.labels.column(constraint.topology_key)
        self.topology = matching.topology(constraint.topology_key)
        self.eligible = included(matching, pod, constraint, keyed)
        vector = matching_pods(cluster, pod, constraint)
        size = self.topology.size
        if vector is None:
            self.counts = np.zeros(size, dtype=np.int64)
        else:
            self.counts = per_domain(matching, self.topology, self.eligible, vector.counts)[:size]
        if self.eligible is cluster.valid:
            self.present = self.topology.occupied
        else:
            self.present = np.bincount(self.topology.codes[self.eligible], minlength=size)[:size] > 0
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
        return table.take(self.topology.codes)

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

    def __init__(self, matching: NodeMatching, pod: PodInfo) -> None:
        self.pod = pod
        self.keyed = matching.keyed(tuple(c.topology_key for c in pod.template.spread_hard))
        self.constraints = [HardConstraint(matching, pod, c, self.keyed) for c in pod.template.spread_hard]

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
    """The soft constraints of one incoming pod over the slots that passed the filters, in the order they are given."""

    def __init__(
        self, matching: NodeMatching, pod: PodInfo, constraints: tuple[Constraint, ...], found: Slots, strict: bool
    ) -> None:
        cluster = matching.cluster
        keyed = matching.keyed(tuple(c.topology_key for c in constraints)) if strict else cluster.valid
        # Nodes without every key are left out of the score; default spreading takes nodes without a zone along.
        self._judged = None if keyed is cluster.valid else keyed.take(found)
        scored = found if self._judged is None else found[self._judged]
        score = np.zeros(found.size, dtype=np.float64)
        for constraint in constraints:
            topology = matching.topology(constraint.topology_key)
            vector = matching_pods(cluster, pod, constraint)
            if constraint.topology_key == HOSTNAME:
                size = scored.size
                counts = None if vector is None else vector.counts.take(found)
            else:
                codes = topology.codes
                nameless = cluster.labels.column(constraint.topology_key).index.get("")
                if nameless is not None:
                    # Nodes without the key make one domain together, and it is the one of the empty value.
                    codes = np.where(codes == topology.size, nameless, codes)
                    topology = topology._replace(codes=codes)
                size = int(np.count_nonzero(np.bincount(codes.take(scored))))
                counts = None
                if vector is not None:
                    mask = included(matching, pod, constraint, keyed)
                    counts = per_domain(matching, topology, mask, vector.counts).take(codes.take(found))
            part = np.full(found.size, constraint.max_skew - 1.0)
            if counts is not None:
                part += counts * math.log(size + 2)
            if not (strict or topology.complete):
                part *= topology.present.take(found)
            score += part
        self.raw = round_half_up(score)
        if self._judged is not None:
            self.raw *= self._judged

    def normalised(self) -> Counts:
        values = self.raw if self._judged is None else self.raw[self._judged]
        if not values.size:
            return np.zeros(self.raw.size, dtype=np.int64)
        most, least = int(values.max()), int(values.min())
        if most <= 0:
            result = np.full(self.raw.size, 100, dtype=np.int64)
        else:
            # These numbers are small, so the quotients are exact.
            result = ((100 * (most + least) - 100 * self.raw) / most).astype(np.int64)
        if self._judged is not None:
            result *= self._judged
        return result


def round_half_up(values: NDArray[np.float64]) -> Counts:
    """Rounds halves away from zero; the values are never negative."""
    whole = np.floor(values)
    whole += values - whole >= 0.5
    return whole.astype(np.int64)
