"""The affinity terms that pods on nodes carry, counted by the topology value they act on.

A term of an existing pod acts on every node of that pod's domain. So a term keeps, per value of its topology key, how
many pods carry it there and what their weights add up to; an incoming pod then asks only for the terms that select it.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from mooring.placement.labels import LabelColumns
from mooring.placement.pods import CompiledTemplate, PodInfo, Term

# An existing pod's required affinity pulls others with this weight (hardPodAffinityWeight of the default profile).
HARD_AFFINITY_WEIGHT = 1


class Carrier:
    """One distinct term and where its carriers are. Codes are those of the topology key's label column."""

    __slots__ = ("_dense", "counts", "term", "weights")

    def __init__(self, term: Term) -> None:
        self.term = term
        self.counts: dict[int, int] = {}
        self.weights: dict[int, int] = {}
        # Counts and weights as arrays over codes, once they are asked for.
        self._dense: NDArray[np.int64] | None = None

    def change(self, code: int, count: int, weight: int) -> None:
        left = self.counts.get(code, 0) + count
        if left:
            self.counts[code] = left
            self.weights[code] = self.weights.get(code, 0) + weight
        else:
            del self.counts[code]
            del self.weights[code]
        if self._dense is not None:
            if code >= self._dense.shape[1]:
                self._dense = None
            else:
                self._dense[0, code] = left
                self._dense[1, code] = self.weights.get(code, 0)

    def dense_counts(self, size: int) -> NDArray[np.int64]:
        """Counts by code, with an entry of 0 at `size`, the code of nodes without the key."""
        return self._table(size)[0, : size + 1]

    def dense_weights(self, size: int) -> NDArray[np.int64]:
        return self._table(size)[1, : size + 1]

    def _table(self, size: int) -> NDArray[np.int64]:
        if self._dense is None or self._dense.shape[1] <= size:
            self._dense = np.zeros((2, size + 1 + size // 4), dtype=np.int64)
            if self.counts:
                codes = list(self.counts)
                self._dense[0, codes] = list(self.counts.values())
                self._dense[1, codes] = list(self.weights.values())
        return self._dense


class TermTable:
    """All terms of one kind, found by what they select."""

    def __init__(self) -> None:
        self.carriers: dict[Term, Carrier] = {}
        self.version = 0
        self._by_label: dict[tuple[str, str], list[Carrier]] = {}
        self._others: list[Carrier] = []
        # Keyed by the identity of the labels, which the entry keeps alive.
        self._matching: dict[tuple[str, int, int], tuple[dict[str, str], list[Carrier]]] = {}
        self._matching_version = -1

    def carrier(self, term: Term) -> Carrier:
        found = self.carriers.get(term)
        if found is None:
            found = self.carriers[term] = Carrier(term)
            self.version += 1
            for requirement in term.selector.requirements:
                if requirement.op == "In":
                    for value in requirement.values:
                        self._by_label.setdefault((requirement.key, value), []).append(found)
                    break
            else:
                self._others.append(found)
        return found

    def matching(
        self, namespace: str, labels: dict[str, str], namespace_labels: dict[str, str], world: int
    ) -> list[Carrier]:
        """The terms that select a pod; `world` changes whenever namespace labels do."""
        if self._matching_version != self.version:
            self._matching.clear()
            self._matching_version = self.version
        key = (namespace, id(labels), world)
        found = self._matching.get(key)
        if found is None:
            if len(self._matching) > 10_000:
                self._matching.clear()
            carriers = [c for c in self._candidates(labels) if c.term.matches(namespace, labels, namespace_labels)]
            found = self._matching[key] = (labels, carriers)
        return found[1]

    def _candidates(self, labels: dict[str, str]) -> Iterable[Carrier]:
        for pair in labels.items():
            yield from self._by_label.get(pair, ())
        yield from self._others


class ExistingTerms:
    """The terms carried by the pods on nodes: those that forbid, and those that score."""

    def __init__(self) -> None:
        self.forbidding = TermTable()
        self.scoring = TermTable()
        self._carriers: dict[CompiledTemplate, tuple[list[Carrier], list[tuple[Carrier, int]]]] = {}

    def change(self, pod: PodInfo, slot: int, labels: LabelColumns, sign: int) -> None:
        if not pod.template.carries_terms:
            return
        forbidding, scoring = self._of(pod.template)
        for carrier in forbidding:
            code = int(labels.column(carrier.term.topology_key).codes[slot])
            if code >= 0:
                carrier.change(code, sign, 0)
        for carrier, weight in scoring:
            code = int(labels.column(carrier.term.topology_key).codes[slot])
            if code >= 0:
                carrier.change(code, sign, sign * weight)

    def _of(self, template: CompiledTemplate) -> tuple[list[Carrier], list[tuple[Carrier, int]]]:
        found = self._carriers.get(template)
        if found is None:
            scoring = [(t, HARD_AFFINITY_WEIGHT) for t in template.affinity_required]
            scoring += [(t, w) for w, t in template.affinity_preferred]
            scoring += [(t, -w) for w, t in template.anti_preferred]
            found = self._carriers[template] = (
                [self.forbidding.carrier(t) for t in template.anti_required],
                [(self.scoring.carrier(t), w) for t, w in scoring],
            )
        return found
