"""InterPodAffinity: required terms filter in both directions, preferred ones score in both directions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mooring.placement.labels import LabelColumn, Mask
from mooring.placement.plugins.node_matching import NodeMatching
from mooring.placement.plugins.spread import per_domain
from mooring.placement.plugins.terms import Carrier, TermTable
from mooring.placement.podindex import Counts, PodClause, PodQuery
from mooring.placement.pods import PodInfo, Term
from mooring.placement.scheduler_cache import SchedulerCache


def clause_of(cluster: SchedulerCache, term: Term) -> PodClause:
    """A term of the incoming pod, with its namespace selector resolved to names.

    A namespace selector that accepts a namespace without labels (`{}`, NotIn, DoesNotExist) reaches pods of every
    namespace: that is how the scheduler of 1.35 reads it.
    """
    if term.namespace_selector.matches({}):
        return PodClause(term.selector, None)
    chosen = term.namespaces
    if not term.namespace_selector.nothing:
        chosen = chosen | {
            name for name, labels in cluster.namespaces.items() if term.namespace_selector.matches(labels)
        }
    return PodClause(term.selector, chosen)


class Domains:
    """Pods per value of a topology key, and the slots' codes to look them up by."""

    __slots__ = ("_counts", "column", "counts", "topology", "total")

    def __init__(self, matching: NodeMatching, key: str, counts: Counts) -> None:
        self.column: LabelColumn = matching.cluster.labels.column(key)
        self.topology = matching.topology(key)
        self._counts = counts
        if self.topology.unique and self.topology.complete:
            # Every node is a domain of its own.
            self.counts = np.zeros(self.topology.size + 1, dtype=np.int64)
            self.counts[self.topology.codes] = counts
        else:
            self.counts = per_domain(matching, self.topology, matching.cluster.valid, counts)
        self.counts[self.topology.size] = 0
        self.total = int(self.counts.sum())

    def at(self) -> Counts:
        """The count of each slot's own domain; 0 where the key is absent."""
        if self.topology.unique and self.topology.complete:
            return self._counts
        return self.counts.take(self.topology.codes)


class InterPodFilter:
    """The required terms that matter for one incoming pod. `None` from `of` means that none does."""

    def __init__(self, matching: NodeMatching, pod: PodInfo, forbidding: list[Carrier]) -> None:
        cluster = matching.cluster
        self.cluster = cluster
        self.pod = pod
        template = pod.template
        self.affinity: list[Domains] = []
        self.affinity_query: PodQuery | None = None
        if template.affinity_required:
            clauses = tuple(clause_of(cluster, t) for t in template.affinity_required)
            self.affinity_query = PodQuery(clauses, live_only=False)
            counts = cluster.index.vector(self.affinity_query).counts
            self.affinity = [Domains(matching, t.topology_key, counts) for t in template.affinity_required]
        self.anti_clauses = [clause_of(cluster, t) for t in template.anti_required]
        self.anti = [
            Domains(matching, t.topology_key, cluster.index.vector(PodQuery((clause,), live_only=False)).counts)
            for t, clause in zip(template.anti_required, self.anti_clauses, strict=True)
        ]
        self.existing: dict[str, Counts] = {}
        for carrier in forbidding:
            key = carrier.term.topology_key
            table = carrier.dense_counts(matching.topology(key).size)
            self.existing[key] = self.existing[key] + table if key in self.existing else table
        self._matching = matching

    @classmethod
    def of(cls, matching: NodeMatching, pod: PodInfo) -> InterPodFilter | None:
        forbidding = _carriers(matching.cluster, matching.cluster.terms.forbidding, pod)
        template = pod.template
        if forbidding or template.affinity_required or template.anti_required:
            return cls(matching, pod, forbidding)
        return None

    @property
    def matches_itself(self) -> bool:
        """A pod that its own affinity selects may be the first of its kind."""
        query = self.affinity_query
        return query is not None and all(c.matches(self.pod.namespace, self.pod.labels) for c in query.clauses)

    def verdicts(self) -> tuple[Mask, Mask, Mask]:
        """Slots that miss the pod's affinity, break its anti-affinity, or break that of a pod already there."""
        size = self.cluster.size
        alone = np.zeros(size, dtype=np.bool_)
        if self.affinity:
            first = not any(d.total for d in self.affinity) and self.matches_itself
            for domains in self.affinity:
                alone |= ~domains.topology.present if first else domains.at() <= 0
        repelled = np.zeros(size, dtype=np.bool_)
        for domains in self.anti:
            repelled |= domains.at() > 0
        unwelcome = np.zeros(size, dtype=np.bool_)
        for key, table in self.existing.items():
            unwelcome |= (table > 0).take(self._matching.topology(key).codes)
        repelled &= ~alone
        unwelcome &= ~(alone | repelled)
        return alone, repelled, unwelcome


def _carriers(cluster: SchedulerCache, table: TermTable, pod: PodInfo) -> list[Carrier]:
    """The terms of pods on nodes that select the incoming pod."""
    if not table.carriers:
        return []
    namespace_labels = cluster.namespaces.get(pod.namespace, {})
    found = table.matching(pod.namespace, pod.labels, namespace_labels, cluster.world_version)
    return [carrier for carrier in found if carrier.counts]


class InterPodScore:
    """The sum of all preferences between one incoming pod and the pods on nodes."""

    __slots__ = ("raw",)

    def __init__(self, raw: Counts) -> None:
        self.raw = raw

    @classmethod
    def of(cls, matching: NodeMatching, pod: PodInfo) -> InterPodScore | None:
        """None where no term, in either direction, meets any pod."""
        cluster, template = matching.cluster, pod.template
        raw: Counts | None = None
        if not (template.affinity_preferred or template.anti_preferred or cluster.terms.scoring.carriers):
            return None
        wishes = [(w, t) for w, t in template.affinity_preferred] + [(-w, t) for w, t in template.anti_preferred]
        for weight, term in wishes:
            query = PodQuery((clause_of(cluster, term),), live_only=False)
            domains = Domains(matching, term.topology_key, cluster.index.vector(query).counts)
            if domains.total:
                part = weight * domains.at()
                raw = part if raw is None else raw + part
        for carrier in _carriers(cluster, cluster.terms.scoring, pod):
            topology = matching.topology(carrier.term.topology_key)
            part = carrier.dense_weights(topology.size).take(topology.codes)
            raw = part if raw is None else raw + part
        return None if raw is None else cls(raw)

    def normalised(self, found: NDArray[np.int64]) -> Counts:
        """The scores of some slots, relative to the least and the most of them."""
        values = self.raw.take(found)
        least, most = int(values.min()), int(values.max())
        if most == least:
            return np.zeros(found.size, dtype=np.int64)
        # The scheduler divides first, in floating point: 29 of 50 gives 57 and not 58.
        return (100.0 * ((values - least) / float(most - least))).astype(np.int64)
