"""Which nodes match what a pod's spec asks of nodes alone: taints, node selectors, node affinity, images.

Answers are vectors over node slots, computed once per distinct question. A change of any node clears them all: asking
again costs microseconds, and node changes are rare beside pods.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from mooring.api.core.types import Taint, Toleration
from mooring.kube.nodeselectors import NodeSelectorTerm
from mooring.placement.labels import Mask
from mooring.placement.plugins.taints import UNSCHEDULABLE_TAINT, tolerated, untolerated
from mooring.placement.pods import CompiledTemplate, NodeTerms
from mooring.placement.scheduler_cache import Amounts, SchedulerCache
from mooring.placement.selection import tie_order

Scores = NDArray[np.int64]
T = TypeVar("T")

# An image counts from 23 MiB on, and no container earns more than 1000 MiB.
MIN_IMAGE_BYTES = 23 * 1024 * 1024
MAX_IMAGE_BYTES = 1000 * 1024 * 1024

# Answers that are cached, over all questions.
MAX_ANSWERS = 4096

# Below this, percentages of integers are exact in floating point too, which is several times faster.
EXACT_FLOAT_LIMIT = 2**46


class Divisor(NamedTuple):
    """What nodes have of a resource, ready to divide by: 1 where they have none."""

    integers: Amounts
    floats: NDArray[np.float64]
    exact: bool


class Topology(NamedTuple):
    """The values of one label key over all slots, ready to count by: slots without the key have the code `size`."""

    codes: NDArray[np.int64]
    size: int
    present: Mask
    # Values that some node has.
    occupied: Mask
    # Whether every node has the key, and whether no two share a value, as with host names.
    complete: bool
    unique: bool


class Capacity(NamedTuple):
    cpu: Divisor
    memory: Divisor
    # Whether every node has both.
    complete: bool


class NodeMatching:
    """Cached answers about nodes. Every answer holds for `cluster.nodes_version`, and is forgotten when it grows."""

    def __init__(self, cluster: SchedulerCache) -> None:
        self.cluster = cluster
        self._version = -1
        self._answers: dict[Hashable, object] = {}

    def _answer(self, key: Hashable, compute: Callable[[], T]) -> T:
        if self._version != self.cluster.nodes_version or len(self._answers) > MAX_ANSWERS:
            self._answers.clear()
            self._version = self.cluster.nodes_version
        found = self._answers.get(key)
        if found is None:
            found = self._answers[key] = compute()
        return cast(T, found)

    def cordoned(self, tolerations: tuple[Toleration, ...]) -> Mask:
        """Nodes that are unschedulable for a pod."""
        if tolerated(tolerations, UNSCHEDULABLE_TAINT):
            return np.zeros(self.cluster.size, dtype=np.bool_)
        return self.cluster.unschedulable

    def tainted(self, tolerations: tuple[Toleration, ...]) -> Mask:
        """Nodes with a taint that keeps the pod off."""
        return self._answer(
            ("tainted", tolerations),
            lambda: np.array([bool(untolerated(tolerations, t)) for t in self.cluster.taint_sets], dtype=np.bool_)[
                self.cluster.taint_set
            ],
        )

    def soft_taints(self, tolerations: tuple[Toleration, ...]) -> Scores:
        """How many PreferNoSchedule taints of each node the pod does not tolerate."""

        def count(taints: tuple[Taint, ...]) -> int:
            relevant = tuple(t for t in tolerations if t.effect in ("", "PreferNoSchedule"))
            return sum(t.effect == "PreferNoSchedule" and not tolerated(relevant, t) for t in taints)

        return self._answer(
            ("soft taints", tolerations),
            lambda: np.array([count(t) for t in self.cluster.taint_sets], dtype=np.int64)[self.cluster.taint_set],
        )

    def selected(self, wanted: NodeTerms) -> Mask:
        """Nodes that match the node selector and the required node affinity."""

        def compute() -> Mask:
            return self.cluster.labels.node_terms(wanted, self.named)

        # Every pod of a DaemonSet names another node, so what one of them asks is not asked again.
        return compute() if wanted.named is not None else self._answer(("selected", wanted), compute)

    def preferred(self, terms: tuple[tuple[int, NodeSelectorTerm], ...]) -> Scores:
        """The sum of the weights of the preferred node affinity terms that match."""

        def compute() -> Scores:
            total = np.zeros(self.cluster.size, dtype=np.int64)
            for weight, term in terms:
                total += weight * self.cluster.labels.term(term, self.named)
            return total

        return self._answer(("preferred", terms), compute)

    def admitted(self, template: CompiledTemplate, node_name: str) -> Mask:
        """Nodes that none of the filters on node facts rejects."""

        def compute() -> Mask:
            mask = self.cluster.valid & ~self.cordoned(template.tolerations) & ~self.tainted(template.tolerations)
            if node_name:
                mask &= self.named(node_name)
            if template.node_terms is not None:
                mask &= self.selected(template.node_terms)
            return mask

        if template.node_terms is not None and template.node_terms.named is not None:
            return compute()
        return self._answer(("admitted", template.tolerations, template.node_terms, node_name), compute)

    def admitted_at(self, template: CompiledTemplate, slot: int) -> bool:
        """The same for one node."""
        cluster, tolerations = self.cluster, template.tolerations
        if cluster.unschedulable.item(slot) and not tolerated(tolerations, UNSCHEDULABLE_TAINT):
            return False
        if cluster.taint_set.item(slot) and self.tainted(tolerations).item(slot):
            return False
        terms, node = template.node_terms, cluster.nodes[slot]
        assert node is not None
        return terms is None or terms.matches(node.metadata.labels or {}, node.metadata.name)

    def named(self, name: str) -> Mask:
        mask = np.zeros(self.cluster.size, dtype=np.bool_)
        slot = self.cluster.slots.get(name)
        if slot is not None:
            mask[slot] = True
        return mask

    def capacity(self) -> Capacity:
        """What nodes have, as the resource scores need it."""
        return self._answer("capacity", self._capacity)

    def _capacity(self) -> Capacity:
        def divisor(allocatable: Amounts) -> Divisor:
            whole = np.maximum(allocatable, 1)
            return Divisor(whole, whole.astype(np.float64), bool(whole.max() < EXACT_FLOAT_LIMIT))

        cpu, memory = self.cluster.alloc_cpu, self.cluster.alloc_memory
        complete = bool((((cpu != 0) & (memory != 0)) | ~self.cluster.valid).all())
        return Capacity(divisor(cpu), divisor(memory), complete)

    def topology(self, key: str) -> Topology:
        def compute() -> Topology:
            column, valid = self.cluster.labels.column(key), self.cluster.valid
            size = len(column.values)
            codes = column.codes.astype(np.int64)
            codes[codes < 0] = size
            present = column.present & valid
            sharing = np.bincount(codes[present], minlength=size)
            complete = bool(np.array_equal(present, valid))
            return Topology(codes, size, present, sharing > 0, complete, bool(sharing.max(initial=0) <= 1))

        return self._answer(("topology", key), compute)

    def keyed(self, keys: tuple[str, ...]) -> Mask:
        """Nodes that have every one of some labels; the cluster's own mask where all have them."""
        found = [self.topology(key) for key in keys]
        if all(topology.complete for topology in found):
            return self.cluster.valid
        mask: Mask = np.logical_and.reduce([topology.present for topology in found])
        return mask

    def ties(self, start: int) -> Scores:
        """The tie order of each slot when every node is feasible and the search begins at a place in the order."""
        nodes = self.cluster.node_count
        # Only the last one is kept: a place that was left comes back after a whole round.
        known = self._answer("ties", dict[int, Scores])
        found = known.get(start)
        if found is None:
            known.clear()
            found = known[start] = tie_order(nodes, nodes, start).take(self.ranks(), mode="clip")
        return found

    def ranks(self) -> Scores:
        """The place of each slot in the scheduler's order."""

        def compute() -> Scores:
            ranks = np.zeros(self.cluster.size, dtype=np.int64)
            ranks[self.cluster.order] = np.arange(self.cluster.order.size)
            return ranks

        return self._answer("ranks", compute)

    def repels_softly(self, tolerations: tuple[Toleration, ...]) -> bool:
        """Whether any node has a PreferNoSchedule taint that the pod does not tolerate."""
        return self._answer(
            ("repels softly", tolerations), lambda: bool(self.soft_taints(tolerations)[self.cluster.valid].any())
        )

    def everywhere(self, key: str) -> bool:
        """Whether every node has a label."""
        return self._answer(
            ("everywhere", key), lambda: bool(self.cluster.labels.present(key)[self.cluster.valid].all())
        )

    def image_locality(self, template: CompiledTemplate) -> Scores:
        """How much of the pod's images each node has already, weighed by how far each image has spread."""

        def compute() -> Scores:
            total = np.zeros(self.cluster.size, dtype=np.int64)
            nodes = self.cluster.node_count
            for name in template.images:
                state = self.cluster.images.get(name)
                if state is not None:
                    total[list(state.slots)] += int(float(state.size) * (len(state.slots) / nodes))
            ceiling = MAX_IMAGE_BYTES * template.containers
            np.clip(total, MIN_IMAGE_BYTES, ceiling, out=total)
            return 100 * (total - MIN_IMAGE_BYTES) // (ceiling - MIN_IMAGE_BYTES)

        return self._answer(("images", template.images), compute)
