"""InterPodAffinity: required terms filter in both directions, preferred ones score in both directions."""

from __future__ import annotations

import numpy as np

from mooring.placement.cluster import Cluster
from mooring.placement.labels import LabelColumn, Mask
from mooring.placement.podindex import Counts, PodClause, PodQuery
from mooring.placement.pods import PodInfo, Term
from mooring.placement.spread import per_domain


def clause_of(cluster: Cluster, term: Term) -> PodClause:
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


def matches_term(cluster: Cluster, term: Term, pod: PodInfo) -> bool:
    """Whether a term of the incoming pod selects `pod`."""
    return clause_of(cluster, term).matches(pod.namespace, pod.labels)


class _Domains:
    """Pods per value of a topology key, and the slots' codes to look them up by."""

    __slots__ = ("column", "counts", "total")

    def __init__(self, cluster: Cluster, key: str, counts: Counts) -> None:
        self.column: LabelColumn = cluster.labels.column(key)
        codes, size = self.column.codes, len(self.column.values)
        self.counts = np.append(per_domain(codes, size, codes >= 0, counts), 0)
        self.total = int(self.counts.sum())

    def at(self) -> Counts:
        """The count of each slot's own domain; 0 where the key is absent."""
        return self.counts[self.column.codes]


class InterPodFilter:
    """The required terms that matter for one incoming pod. `None` from `of` means that none does."""

    def __init__(self, cluster: Cluster, pod: PodInfo) -> None:
        self.cluster = cluster
        self.pod = pod
        template = pod.template
        self.affinity: list[_Domains] = []
        self.affinity_query: PodQuery | None = None
        if template.affinity_required:
            clauses = tuple(clause_of(cluster, t) for t in template.affinity_required)
            self.affinity_query = PodQuery(clauses, live_only=False)
            counts = cluster.index.vector(self.affinity_query).counts
            self.affinity = [_Domains(cluster, t.topology_key, counts) for t in template.affinity_required]
        self.anti_clauses = [clause_of(cluster, t) for t in template.anti_required]
        self.anti = [
            _Domains(cluster, t.topology_key, cluster.index.vector(PodQuery((clause,), live_only=False)).counts)
            for t, clause in zip(template.anti_required, self.anti_clauses, strict=True)
        ]
        self.existing: dict[str, Counts] = {}
        namespace_labels = cluster.namespaces.get(pod.namespace, {})
        for carrier in cluster.terms.forbidding.matching(
            pod.namespace, pod.labels, namespace_labels, cluster.world_version
        ):
            if carrier.counts:
                key = carrier.term.topology_key
                table = carrier.table(len(cluster.labels.column(key).values), carrier.counts)
                self.existing[key] = self.existing[key] + table if key in self.existing else table

    @classmethod
    def of(cls, cluster: Cluster, pod: PodInfo) -> InterPodFilter | None:
        made = cls(cluster, pod)
        if made.existing or pod.template.affinity_required or pod.template.anti_required:
            return made
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
                alone |= domains.column.codes < 0 if first else domains.at() <= 0
        repelled = np.zeros(size, dtype=np.bool_)
        for domains in self.anti:
            repelled |= domains.at() > 0
        unwelcome = np.zeros(size, dtype=np.bool_)
        for key, table in self.existing.items():
            unwelcome |= table[self.cluster.labels.column(key).codes] > 0
        repelled &= ~alone
        unwelcome &= ~(alone | repelled)
        return alone, repelled, unwelcome


class InterPodScore:
    """The sum of all preferences between one incoming pod and the pods on nodes."""

    __slots__ = ("raw",)

    def __init__(self, raw: Counts) -> None:
        self.raw = raw

    @classmethod
    def of(cls, cluster: Cluster, pod: PodInfo) -> InterPodScore | None:
        """None where no term, in either direction, meets any pod."""
        template = pod.template
        raw = np.zeros(cluster.size, dtype=np.int64)
        met = False
        weighted = [(w, t) for w, t in template.affinity_preferred] + [(-w, t) for w, t in template.anti_preferred]
        for weight, term in weighted:
            query = PodQuery((clause_of(cluster, term),), live_only=False)
            domains = _Domains(cluster, term.topology_key, cluster.index.vector(query).counts)
            if domains.total:
                met = True
                raw += weight * domains.at()
        namespace_labels = cluster.namespaces.get(pod.namespace, {})
        for carrier in cluster.terms.scoring.matching(
            pod.namespace, pod.labels, namespace_labels, cluster.world_version
        ):
            if carrier.counts:
                met = True
                column = cluster.labels.column(carrier.term.topology_key)
                raw += carrier.table(len(column.values), carrier.weights)[column.codes]
        return cls(raw) if met else None

    def normalised(self, feasible: Mask) -> Counts:
        values = self.raw[feasible]
        result = np.zeros(self.raw.size, dtype=np.int64)
        if values.size:
            least, most = int(values.min()), int(values.max())
            if most > least:
                # The scheduler divides first, in floating point: 29 of 50 gives 57 and not 58.
                result[feasible] = (100.0 * ((values - least) / float(most - least))).astype(np.int64)
        return result
