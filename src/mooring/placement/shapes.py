"""Where pods of one template fit and how they score there by themselves, kept up to date slot by slot.

Scheduling the next pod of a template differs from the last one only where pods came or went meanwhile. A `Shape`
remembers the fit and the scores that do not look at other pods, replays the cluster's journal for the slots that
changed, and holds one number per slot that sorts nodes by score first and by the scheduler's tie order second, so that
the winner is a single `argmax`. Where the search begins touches the tie order only, which is added anew when it moves;
while it moves from pod to pod, as it does with a DaemonSet's pods between, each search adds it to a copy.
"""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray

from mooring.placement.filters import has_room, needs, taken_ports
from mooring.placement.labels import Mask
from mooring.placement.plugins.node_matching import NodeMatching, Scores
from mooring.placement.pods import CompiledTemplate
from mooring.placement.scores import EVERYWHERE, WEIGHTS, Where, balanced_allocation, least_allocated, normalised
from mooring.placement.selection import tie_order

# Bits below the score that hold the tie order: enough for two million nodes.
TIE_BITS = 21
INFEASIBLE = -(1 << 50)

# Up to this many changed slots are looked at one by one, more of them together, and beyond a share of all of them
# starting afresh is quicker.
MAX_SLOTS_ONE_BY_ONE = 12
MAX_SHARE_REPLAYED = 0.25
MAX_SHAPES = 256


class Shape:
    """One template against all nodes."""

    def __init__(self, matching: NodeMatching, template: CompiledTemplate) -> None:
        self._matching = matching
        self._cluster = matching.cluster
        self._template = template
        self._nodes_version = -1
        self.position = 0
        self.feasible: Mask
        self.base: Scores
        self.preference: Scores | None
        self.keys: Scores
        self.count = 0
        # Where the search began last, what ties are worth from there, and the places in the feasible list: none are
        # kept while every node is in it. A node that is not feasible has the place of the one before it.
        self._start = 0
        self._ranked = False
        self._ties: Scores
        # Where the search before this one began, and what `keys` are without ties, in the scheduler's order: kept from
        # the first search on that begins elsewhere, while every node is feasible.
        self._asked = 0
        self._in_order: Scores | None = None
        self._places: Scores | None = None

    def refresh(self) -> None:
        """Catch up with the cluster."""
        cluster = self._cluster
        behind = self.position - cluster.journal_start
        changed = cluster.journal[behind:] if behind >= 0 else None
        stale = self._nodes_version != cluster.nodes_version
        if stale or changed is None or len(changed) > MAX_SHARE_REPLAYED * cluster.size:
            self._rebuild()
        elif len(changed) > MAX_SLOTS_ONE_BY_ONE:
            self._patch_all(np.array(changed))
        else:
            for slot in set(changed):
                self._patch(slot)
        self.position = cluster.journal_start + len(cluster.journal)

    def best(self, start: int) -> int:
        """The slot that wins on these scores alone, or -1."""
        if not self.count:
            return -1
        moved = self._ranked and self._places is None and start not in (self._start, self._asked)
        self._asked = start
        if moved:
            return self._best_from(start)
        self.turn(start)
        return int(self.keys.argmax())

    def _best_from(self, start: int) -> int:
        """The same without turning `keys`, for a place that may not be asked for again."""
        order = self._cluster.order
        if self._in_order is None:
            self._in_order = (self.keys - self._ties).take(order)
            self._order_of = self._matching.ranks()
            self._turned = np.empty(order.size, dtype=np.int64)
        np.add(self._in_order, tie_order(order.size, order.size, start), out=self._turned)
        return int(order.item(self._turned.argmax()))

    def turn(self, start: int) -> None:
        """Bring `keys` up to date for a search that begins at a place in the scheduler's order."""
        if not self._ranked:
            self._start = start
            self._rank()
        elif start != self._start:
            self._start = start
            self.keys -= self._ties
            self._ties = self._tie_order()
            self.keys += self._ties

    def _tie_order(self) -> Scores:
        if self._places is None:
            return self._matching.ties(self._start)
        offset = 0
        if self._start and self.count:
            # Those of the feasible list that come before the start move behind all others together.
            offset = (self._places.item(self._cluster.order.item(self._start - 1)) + 1) % self.count
        return tie_order(self._cluster.node_count, max(self.count, 1), offset).take(self._places, mode="clip")

    def _rebuild(self) -> None:
        cluster, matching, template = self._cluster, self._matching, self._template
        self._nodes_version = cluster.nodes_version
        self._admitted = matching.admitted(template, "")
        self._needs = needs(cluster, template)
        self._images = matching.image_locality(template)
        self.feasible = self._fits(EVERYWHERE)
        self.base = self._scores(EVERYWHERE)
        self._recount()
        capacity = matching.capacity()
        self._even = capacity.complete and capacity.cpu.exact and capacity.memory.exact
        self._soft_taints = matching.soft_taints(template.tolerations)
        self._preferred = matching.preferred(template.node_preferred) if template.node_preferred else None
        self._plain = self._preferred is None and not matching.repels_softly(template.tolerations)

    def _fits(self, at: Where) -> Mask:
        """Where pods of the template fit."""
        cluster = self._cluster
        mask = self._admitted[at] & (cluster.pod_count[at] < cluster.alloc_pods[at])
        for need in self._needs:
            mask &= need.allocatable[at] - need.used[at] >= need.amount
        if self._template.ports:
            mask &= ~taken_ports(cluster, self._template.ports)[at]
        return mask

    def _scores(self, at: Where) -> Scores:
        """`base` of some slots."""
        resources = self._template.resources
        scores = least_allocated(self._matching, *resources.score, at)
        scores += self._images[at]
        if any(resources.balanced):
            scores += balanced_allocation(self._matching, *resources.balanced, at)
        return scores

    def _recount(self) -> None:
        """The feasible list is another one: every score that is relative to it, and every tie, may have moved."""
        self.count = int(np.count_nonzero(self.feasible))
        self._ranked = False
        self._in_order = None

    def _rank(self) -> None:
        """Number the feasible list, and sort by that what scores the same."""
        cluster = self._cluster
        self._ranked = True
        self.preference = self.preference_among(self.feasible)
        self._places = None
        if self.count < cluster.node_count:
            self._places = np.zeros(cluster.size, dtype=np.int64)
            self._places[cluster.order] = np.cumsum(self.feasible[cluster.order]) - 1
        keys = (self.base if self.preference is None else self.base + self.preference) << TIE_BITS
        np.copyto(keys, INFEASIBLE, where=~self.feasible)
        self._ties = self._tie_order()
        keys += self._ties
        self.keys = keys

    def preference_among(self, feasible: Mask) -> Scores | None:
        """Scores by taints and node affinity, relative to the best feasible node; None where all nodes get the same."""
        if self._plain:
            return None
        total = normalised(self._soft_taints, feasible, reverse=True) * WEIGHTS["TaintToleration"]
        if self._preferred is not None:
            total += normalised(self._preferred, feasible, reverse=False) * WEIGHTS["NodeAffinity"]
        return total

    def _patch(self, slot: int) -> None:
        """Bring one slot up to date."""
        fits = self._admitted.item(slot) and has_room(self._cluster, self._template, self._needs, slot)
        if fits:
            self.base[slot] = self._score(slot)
        if fits != self.feasible.item(slot):
            self.feasible[slot] = fits
            self._recount()
        elif self._ranked and fits:
            preference = 0 if self.preference is None else self.preference.item(slot)
            total = (self.base.item(slot) + preference) << TIE_BITS
            self.keys[slot] = total + self._ties.item(slot)
            if self._in_order is not None:
                self._in_order[self._order_of.item(slot)] = total

    def _patch_all(self, slots: NDArray[np.int64]) -> None:
        """The same for many slots at once."""
        fits, base = self._fits(slots), self._scores(slots)
        self.base[slots] = base
        if not np.array_equal(fits, self.feasible[slots]):
            self.feasible[slots] = fits
            self._recount()
        elif self._ranked:
            if self.preference is not None:
                base += self.preference[slots]
            keys = (base << TIE_BITS) + self._ties[slots]
            self.keys[slots] = np.where(fits, keys, self.keys[slots])
            self._in_order = None

    def _score(self, slot: int) -> int:
        """`base` of one slot, by the formulas of `scores`."""
        cluster, resources = self._cluster, self._template.resources
        cpu: int = cluster.alloc_cpu.item(slot)
        memory: int = cluster.alloc_memory.item(slot)
        if not self._even:
            return self._score_oddly(slot)
        free_cpu = max(cpu - cluster.nonzero_cpu.item(slot) - resources.score[0], 0)
        free_memory = max(memory - cluster.nonzero_memory.item(slot) - resources.score[1], 0)
        score = (free_cpu * 100 // cpu + free_memory * 100 // memory) // 2 + self._images.item(slot)
        more_cpu, more_memory = resources.balanced
        if more_cpu or more_memory:
            cpu_share = min((cluster.used_cpu.item(slot) + more_cpu) / cpu, 1.0)
            memory_share = min((cluster.used_memory.item(slot) + more_memory) / memory, 1.0)
            score += int((1 - abs((cpu_share - memory_share) / 2)) * 100.0)
        return int(score)

    def _score_oddly(self, slot: int) -> int:
        """The same for a node without cpu or memory, or with more of it than floating point is exact for."""
        matching, template = self._matching, self._template
        score = least_allocated(matching, *template.resources.score)[slot] + self._images[slot]
        if any(template.resources.balanced):
            score += balanced_allocation(matching, *template.resources.balanced)[slot]
        return int(score)


class Shapes:
    """The shapes in use, least recently used dropped first."""

    def __init__(self, matching: NodeMatching) -> None:
        self._matching = matching
        self._shapes: OrderedDict[CompiledTemplate, Shape] = OrderedDict()

    def of(self, template: CompiledTemplate) -> Shape:
        shape = self._shapes.get(template)
        if shape is None:
            shape = self._shapes[template] = Shape(self._matching, template)
            if len(self._shapes) > MAX_SHAPES:
                self._shapes.popitem(last=False)
        else:
            self._shapes.move_to_end(template)
        shape.refresh()
        return shape
