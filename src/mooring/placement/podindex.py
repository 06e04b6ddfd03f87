"""How many pods of which labels are on which node, kept as vectors that follow every change.

Pods fall into classes of equal namespace, labels and life (terminating or not). A `PodQuery` asks for the pods that
match some selectors; its answer is a vector of counts per node slot. Classes are found through an inverted index when
a query is new, and from then on a pod that comes or goes touches only the vectors that its class belongs to.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from mooring.kube.selectors import Selector
from mooring.placement.pods import PodInfo

Counts = NDArray[np.int64]
E = TypeVar("E")

# Vectors are dropped, least recently used first, beyond this many: 1,000 of 5,000 nodes are 40 MB.
MAX_VECTORS = 1000


class PodClause(NamedTuple):
    """A selector and the namespaces it looks into; None means every namespace."""

    selector: Selector
    namespaces: frozenset[str] | None

    def matches(self, namespace: str, labels: dict[str, str]) -> bool:
        return (self.namespaces is None or namespace in self.namespaces) and self.selector.matches(labels)


class PodQuery(NamedTuple):
    """Pods that match every clause. Spreading leaves terminating pods out, affinity counts them."""

    clauses: tuple[PodClause, ...]
    live_only: bool

    def matches(self, pods: PodClass) -> bool:
        if self.live_only and pods.terminating:
            return False
        return all(clause.matches(pods.namespace, pods.labels) for clause in self.clauses)


class PodClass:
    """The pods that no selector can tell apart, as a count per slot."""

    __slots__ = ("labels", "namespace", "slots", "terminating", "total", "vectors")

    def __init__(self, namespace: str, labels: dict[str, str], terminating: bool) -> None:
        self.namespace = namespace
        self.labels = labels
        self.terminating = terminating
        self.slots: dict[int, int] = {}
        self.total = 0
        self.vectors: list[CountVector] = []


class CountVector:
    """The answer to one query."""

    __slots__ = ("anchor", "counts", "query", "version")

    def __init__(self, query: PodQuery, size: int, anchor: Anchor | None) -> None:
        self.query = query
        # A label that every match carries, by which a new class finds the vector; None where there is no such label.
        self.anchor = anchor
        self.counts: Counts = np.zeros(size, dtype=np.int64)
        # Counts changes, so that what was derived from the vector can tell whether it still holds.
        self.version = 0


_ClassKey = tuple[str, int, bool]
Anchor = tuple[str, str]


class PodIndex:
    def __init__(self, size: int) -> None:
        self.size = size
        self._classes: dict[_ClassKey, PodClass] = {}
        self._namespaces: dict[str, set[PodClass]] = {}
        self._by_label: dict[tuple[str, str, str], set[PodClass]] = {}
        self._by_key: dict[tuple[str, str], set[PodClass]] = {}
        self._vectors: OrderedDict[PodQuery, CountVector] = OrderedDict()
        # The same by their anchors. With a thousand groups of pods there are a thousand queries, of which a pod
        # matches one or two; asking all of them takes longer than placing the pod.
        self._anchored: dict[Anchor | None, dict[PodQuery, CountVector]] = {}

    def grow(self, size: int) -> None:
        for vector in self._vectors.values():
            grown = np.zeros(size, dtype=np.int64)
            grown[: self.size] = vector.counts
            vector.counts = grown
        self.size = size

    def add(self, pod: PodInfo, slot: int) -> None:
        key = (pod.namespace, id(pod.labels), pod.terminating)
        pods = self._classes.get(key)
        if pods is None:
            pods = self._classes[key] = self._new_class(pod)
        pods.slots[slot] = pods.slots.get(slot, 0) + 1
        pods.total += 1
        for vector in pods.vectors:
            vector.counts[slot] += 1
            vector.version += 1

    def remove(self, pod: PodInfo, slot: int) -> None:
        key = (pod.namespace, id(pod.labels), pod.terminating)
        pods = self._classes[key]
        left = pods.slots[slot] - 1
        if left:
            pods.slots[slot] = left
        else:
            del pods.slots[slot]
        pods.total -= 1
        for vector in pods.vectors:
            vector.counts[slot] -= 1
            vector.version += 1
        if not pods.total:
            del self._classes[key]
            self._forget(pods)

    def vector(self, query: PodQuery) -> CountVector:
        found = self._vectors.get(query)
        if found is not None:
            self._vectors.move_to_end(query)
            return found
        vector = self._vectors[query] = CountVector(query, self.size, self._anchor(query))
        self._anchored.setdefault(vector.anchor, {})[query] = vector
        for pods in self._candidates(query.clauses[0]):
            if query.matches(pods):
                pods.vectors.append(vector)
                for slot, count in pods.slots.items():
                    vector.counts[slot] += count
        if len(self._vectors) > MAX_VECTORS:
            _, dropped = self._vectors.popitem(last=False)
            del self._anchored[dropped.anchor][dropped.query]
            for pods in self._candidates(dropped.query.clauses[0]):
                if dropped in pods.vectors:
                    pods.vectors.remove(dropped)
        return vector

    def classes(self, clause: PodClause) -> Iterable[PodClass]:
        """The classes that match one clause."""
        return (pods for pods in self._candidates(clause) if clause.matches(pods.namespace, pods.labels))

    def _new_class(self, pod: PodInfo) -> PodClass:
        pods = PodClass(pod.namespace, pod.labels, pod.terminating)
        self._namespaces.setdefault(pod.namespace, set()).add(pods)
        for key, value in pod.labels.items():
            self._by_label.setdefault((pod.namespace, key, value), set()).add(pods)
            self._by_key.setdefault((pod.namespace, key), set()).add(pods)
        pods.vectors = [vector for vector in self._within_reach(pod.labels) if vector.query.matches(pods)]
        return pods

    def _within_reach(self, labels: dict[str, str]) -> Iterable[CountVector]:
        """The vectors that labels may count in."""
        for anchor in (None, *labels.items()):
            yield from self._anchored.get(anchor, {}).values()

    def _anchor(self, query: PodQuery) -> Anchor | None:
        """The label that all matches of a query carry and that the fewest other queries ask for."""
        asked = [
            (requirement.key, next(iter(requirement.values)))
            for clause in query.clauses
            for requirement in clause.selector.requirements
            if requirement.op == "In" and len(requirement.values) == 1
        ]
        return min(asked, key=lambda label: len(self._anchored.get(label, ())), default=None)

    def _forget(self, pods: PodClass) -> None:
        self._namespaces[pods.namespace].discard(pods)
        for key, value in pods.labels.items():
            _discard(self._by_label, (pods.namespace, key, value), pods)
            _discard(self._by_key, (pods.namespace, key), pods)

    def _candidates(self, clause: PodClause) -> Iterable[PodClass]:
        namespaces = self._namespaces if clause.namespaces is None else clause.namespaces
        for namespace in list(namespaces):
            yield from list(self._narrowest(namespace, clause.selector))

    def _narrowest(self, namespace: str, selector: Selector) -> set[PodClass]:
        """The smallest set that the index holds and that contains every match."""
        best = self._namespaces.get(namespace, set())
        for requirement in selector.requirements:
            if requirement.op == "In":
                found: set[PodClass] = set()
                for value in requirement.values:
                    found |= self._by_label.get((namespace, requirement.key, value), set())
            elif requirement.op == "Exists":
                found = self._by_key.get((namespace, requirement.key), set())
            else:
                continue
            if len(found) < len(best):
                best = found
        return best


def _discard(table: dict[E, set[PodClass]], entry: E, pods: PodClass) -> None:
    members = table[entry]
    members.discard(pods)
    if not members:
        del table[entry]
