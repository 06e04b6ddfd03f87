"""The scheduling cycle: filter, score, choose; and when nothing fits, say why, and which pods to preempt.

`Engine` answers for the cluster it is given. `place` gives the node a pod goes to; `explain` gives everything that is
known on the way; neither changes anything. A search begins where the one before it ended, so both are told where and
say where the next one begins: `schedule`, which stands for a cycle of a scheduler at work, keeps that in `start`.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mooring.placement import messages
from mooring.placement.filters import OUTSIDE, Filters, has_room, needs
from mooring.placement.labels import Mask
from mooring.placement.plugins.interpod import InterPodFilter, InterPodScore
from mooring.placement.plugins.node_checks import DYNAMIC_RESOURCES, NO_CHECKS, NodeChecks
from mooring.placement.plugins.node_matching import NodeMatching
from mooring.placement.plugins.runs import SpreadRuns
from mooring.placement.plugins.spread import SpreadFilter, SpreadScore, default_constraints
from mooring.placement.pods import PodInfo
from mooring.placement.preemption import Preemption, preempt, unhelpful
from mooring.placement.prefilters import node_checks
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.placement.scores import WEIGHTS, Score, invalid_score, prioritise
from mooring.placement.selection import MIN_FEASIBLE, heap_ranks, wanted_feasible, winner
from mooring.placement.shapes import Shapes
from mooring.placement.trial import NodeTrial
from mooring.placement.verdicts import ERROR, Rejection, Verdicts

Slots = NDArray[np.int64]

ALL_NODES = 100


class Placement(NamedTuple):
    """Where a pod goes: a slot, or -1 and the reason."""

    slot: int
    message: str = ""
    # How many nodes were looked at, and how many of them were feasible.
    evaluated: int = 0
    feasible: int = 0
    # The place in the order of nodes at which the search of the next cycle begins.
    next_start: int = 0
    # Whether the attempt ended in an error and not in a rejection.
    error: bool = False


class NodeSearch(NamedTuple):
    """Feasible slots in the order in which the scheduler finds them, how many nodes it looked at, where it ended."""

    feasible: Slots
    evaluated: int
    next_start: int
    # What ended the search.
    error: str = ""


class Choice(NamedTuple):
    slot: int
    scores: list[Score]
    totals: NDArray[np.int64]
    error: str


class Explanation(NamedTuple):
    """All that one scheduling cycle knows."""

    pod: PodInfo
    order: Slots
    filters: Filters | None
    verdicts: Verdicts | None
    feasible: Slots
    scores: list[Score]
    totals: NDArray[np.int64]
    best: Slots
    chosen: int
    message: str
    preemption: Preemption | None
    # Why no node was looked at, and the error that ended the attempt.
    rejected: Rejection | None = None
    error: str = ""
    # The place in the order of nodes at which the search of the next cycle would begin.
    next_start: int = 0
    # The claim whose devices are taken back, so that the pod may get others elsewhere.
    deallocated: str = ""


class Engine:
    def __init__(self, cluster: SchedulerCache, percentage: int = ALL_NODES) -> None:
        self.cluster = cluster
        self.percentage = percentage
        self.matching = NodeMatching(cluster)
        self._shapes = Shapes(self.matching)
        self._runs = SpreadRuns(self.matching)
        # Where the search of the next cycle of `schedule` begins.
        self.start = 0

    # One pod after another

    def schedule(self, pod: PodInfo) -> Placement:
        """One cycle: the node a pod goes to, found from where the last cycle ended. The pod is not bound."""
        placed = self.place(pod, self.start)
        self.start = placed.next_start
        return placed

    def place(self, pod: PodInfo, start: int) -> Placement:
        """The node a pod goes to, by the rules of a cycle whose search begins at a place in the order of nodes."""
        cluster = self.cluster
        if not cluster.slots:
            return Placement(-1, messages.NO_NODES, next_start=start)
        placed = self._place_at_once(pod, start % cluster.node_count)
        if placed is not None:
            return placed
        filters = Filters(self.matching, pod)
        if filters.rejection is not None:
            return Placement(-1, messages.rejected(cluster.node_count, filters.rejection), next_start=start)
        feasible, evaluated, next_start, error = self._search(filters, start)
        if error:
            return Placement(-1, error, next_start=next_start, error=True)
        if feasible.size == 1:
            return Placement(int(feasible[0]), "", evaluated, 1, next_start)
        if feasible.size:
            if pod.template.score_error:
                return Placement(-1, pod.template.score_error, next_start=next_start)
            choice = self._choose(filters, feasible)
            if choice.error:
                return Placement(-1, choice.error, next_start=next_start)
            return Placement(choice.slot, "", evaluated, feasible.size, next_start)
        verdicts = self._verdicts(filters)
        reasons = self._histogram(filters, verdicts)
        return Placement(-1, messages.unavailable(cluster.node_count, reasons), next_start=next_start)

    def _place_at_once(self, pod: PodInfo, start: int) -> Placement | None:
        """The same without a look at every node, where that is possible and the pod finds a node."""
        if self.cluster.nominated or pod.nominated or pod.node_name or pod.claims:
            return None
        template = pod.template
        if template.plain:
            if self.percentage != ALL_NODES and self.cluster.node_count >= MIN_FEASIBLE:
                return None
            capacity = self.matching.capacity()
            if not (capacity.cpu.exact and capacity.memory.exact):
                return None
            checks = node_checks(self.cluster, pod)
            if checks.rejection is not None:
                return None
            placed = self._place_plain(pod, start, checks)
            return placed if placed.slot >= 0 else None
        if template.only_node and template.rejection is None and not pod.volumes:
            return self._place_on(template.only_node, pod, start)
        return None

    def _place_on(self, name: str, pod: PodInfo, start: int) -> Placement | None:
        """A pod that names its node, as those of a DaemonSet do: no other node is looked at, and none is scored."""
        cluster, template = self.cluster, pod.template
        slot = cluster.slots.get(name)
        if slot is None or template.spread_hard or not self.matching.admitted_at(template, slot):
            return None
        if not has_room(cluster, template, needs(cluster, template), slot):
            return None
        if InterPodFilter.of(self.matching, pod) is not None:
            return None
        return Placement(slot, "", 1, 1, (start + 1) % cluster.node_count)

    def _place_plain(self, pod: PodInfo, start: int, checks: NodeChecks) -> Placement:
        """A pod for which all nodes are looked at, from what is remembered of pods of its template."""
        cluster, matching, template = self.cluster, self.matching, pod.template
        shape = self._shapes.of(template)
        constraints = template.spread_soft if template.has_spread else default_constraints(cluster, pod)
        interpod = InterPodFilter.of(matching, pod)
        affinity = InterPodScore.of(matching, pod)
        if interpod is None and affinity is None and not template.spread_hard and checks is NO_CHECKS:
            if not constraints:
                return Placement(shape.best(start), "", cluster.node_count, shape.count, start)
            slot = None if template.has_spread else self._runs.best(shape, pod, constraints, start)
            if slot is not None:
                return Placement(slot, "", cluster.node_count, shape.count, start)
        feasible = shape.feasible
        if checks.volumes:
            feasible = feasible.copy()
            if any(check.narrow(feasible) for check in checks.volumes):
                return Placement(-1)
        if template.spread_hard:
            missing, crowded = SpreadFilter(matching, pod).verdicts()
            feasible = feasible & ~(missing | crowded)
        if interpod is not None:
            feasible = feasible & ~np.logical_or.reduce(interpod.verdicts())
        found = np.flatnonzero(feasible)
        if not found.size:
            return Placement(-1)
        totals = shape.base.take(found)
        preference = shape.preference_among(feasible)
        if preference is not None:
            totals += preference.take(found)
        if constraints:
            spread = SpreadScore(matching, pod, constraints, found, strict=template.has_spread)
            totals += spread.normalised() * WEIGHTS["PodTopologySpread"]
        if affinity is not None:
            totals += affinity.normalised(found) * WEIGHTS["InterPodAffinity"]
        best = found[totals == totals.max()]
        slot = int(best[0]) if best.size == 1 else self._first(best, feasible, found.size, start)
        return Placement(slot, "", cluster.node_count, found.size, start)

    def _first(self, tied: Slots, feasible: Mask, count: int, start: int) -> int:
        """Which of the tied slots wins, by their positions in the feasible list, which begins at `start`."""
        positions = self.matching.ranks().take(tied)
        if count < self.cluster.node_count:
            listed = np.cumsum(feasible[self.cluster.order])
            positions = listed.take(positions) - 1
            start = listed.item(start - 1) if start else 0
        if start:
            # Nodes before the start come last; a negative index says just that.
            positions -= start
        return int(tied[np.argmin(heap_ranks(count).take(positions, mode="wrap"))])

    def _search(self, filters: Filters, start: int) -> NodeSearch:
        cluster = self.cluster
        pod = filters.pod
        mask = self._feasible(filters)
        nominated = cluster.slots.get(pod.nominated)
        if nominated is not None and mask[nominated]:
            return NodeSearch(np.array([nominated], dtype=np.int64), 1, start)
        order = cluster.order
        if filters.narrowed is not None:
            order = order[filters.inside()[order]]
        nodes = order.size
        if not nodes:
            return NodeSearch(order, 0, start)
        rotated = np.roll(order, -(start % nodes)) if start else order
        found = rotated[mask[rotated]]
        wanted = wanted_feasible(nodes, self.percentage)
        looked_at = nodes
        if found.size > wanted:
            # The search ends on the first feasible node that it does not want any more; that one is not counted.
            looked_at = int(np.flatnonzero(mask[rotated])[wanted])
            found = found[:wanted]
            if nominated is not None and nominated not in rotated[:looked_at]:
                looked_at += 1
        error = ""
        if filters.errors:
            error = next((e for slot in rotated[:looked_at].tolist() if (e := filters.errors.get(slot))), "")
        return NodeSearch(found, looked_at, (start + looked_at) % cluster.node_count, error)

    def _choose(self, filters: Filters, feasible: Slots) -> Choice:
        mask = np.zeros(self.cluster.size, dtype=np.bool_)
        mask[feasible] = True
        scores = prioritise(self.matching, filters.pod, mask, filters.checks)
        totals = np.zeros(self.cluster.size, dtype=np.int64)
        for score in scores:
            totals += score.weighted
        return Choice(int(feasible[winner(totals[feasible])]), scores, totals, invalid_score(scores, feasible))

    # Everything about one pod

    def explain(self, pod: PodInfo, start: int | None = None) -> Explanation:
        """All that a cycle would find, begun where the next one of `schedule` would begin unless told otherwise."""
        cluster = self.cluster
        order = cluster.order
        start = self.start if start is None else start
        nothing = np.zeros(0, dtype=np.int64)
        empty = Explanation(pod, order, None, None, nothing, [], nothing, nothing, -1, "", None, next_start=start)
        if not cluster.slots:
            return empty._replace(message=messages.NO_NODES)
        filters = Filters(self.matching, pod)
        rejection = filters.rejection
        if rejection is not None:
            message = messages.rejected(cluster.node_count, rejection)
            if rejection.code == ERROR:
                return empty._replace(rejected=rejection, message=message, error=message)
            if rejection.plugin == DYNAMIC_RESOURCES:
                return empty._replace(rejected=rejection, message=f"{message} {unhelpful(filters).message}")
            # Without filters the claims plugin has no state to look at, and its complaint is all that follows.
            return empty._replace(rejected=rejection, message=f"{message} not found")
        verdicts = self._verdicts(filters)
        feasible, _, next_start, error = self._search(filters, start)
        empty = empty._replace(next_start=next_start)
        if error:
            return empty._replace(message=error, error=error)
        if not feasible.size:
            reasons = self._histogram(filters, verdicts)
            message = messages.unavailable(cluster.node_count, reasons)
            devices = filters.checks.devices
            text, deallocated = (messages.NO_CLAIMS, "") if devices is None else devices.post_filter(verdicts, order)
            found = preempt(filters, verdicts, text)
            if found.message:
                message = f"{message} {found.message}"
            explained = empty._replace(filters=filters, verdicts=verdicts, message=message, preemption=found)
            return explained._replace(deallocated=deallocated)
        explained = empty._replace(filters=filters, verdicts=verdicts, feasible=feasible)
        choice = None if pod.template.score_error else self._choose(filters, feasible)
        error = pod.template.score_error if choice is None else choice.error
        if choice is None or error:
            # A single node is taken without being scored, so the error does not come up.
            only = feasible.size == 1
            return (
                explained._replace(chosen=int(feasible[0])) if only else explained._replace(error=error, message=error)
            )
        totals = choice.totals
        best = feasible[totals[feasible] == totals[feasible].max()]
        return explained._replace(scores=choice.scores, totals=totals, best=best, chosen=choice.slot)

    def judge(self, pod: PodInfo) -> tuple[Filters, Verdicts]:
        """What every filter says of every node, for a pod that was not judged because it was rejected before."""
        filters = Filters(self.matching, pod)
        return filters, self._verdicts(filters)

    def fits(self, pod: PodInfo) -> Mask:
        """Nodes that would take the pod; nothing is remembered."""
        filters = Filters(self.matching, pod)
        if filters.rejection is None:
            mask = self._feasible(filters)
            if not filters.errors:
                return mask
        # An error on one node is one for all of them, should the scheduler come to that node.
        return np.zeros(self.cluster.size, dtype=np.bool_)

    def _feasible(self, filters: Filters) -> Mask:
        if not self.cluster.nominated:
            return filters.feasible()
        verdicts = self._verdicts(filters)
        for slot in np.flatnonzero(verdicts.bits).tolist() if verdicts.errors else ():
            if error := verdicts.error_at(slot):
                filters.errors[slot] = error
        mask: Mask = verdicts.bits == 0
        return mask & self.cluster.valid

    def _verdicts(self, filters: Filters) -> Verdicts:
        """Verdicts with nominated pods honoured: where pods of no lower priority are expected, both must fit."""
        verdicts = filters.verdicts()
        pod = filters.pod
        for name, nominated in self.cluster.nominated.items():
            slot = self.cluster.slots.get(name)
            rivals = [p for p in nominated.values() if p.priority >= pod.priority and p.key != pod.key]
            if slot is None or not rivals:
                continue
            trial = NodeTrial(filters, verdicts, slot)
            for rival in rivals:
                trial.add(rival)
            if bits := trial.bits():
                verdicts.bits[slot] = bits
                verdicts.errors.update({(plugin, slot): error for plugin, error in trial.errors.items()})
        return verdicts

    def _histogram(self, filters: Filters, verdicts: Verdicts) -> Counter[str]:
        """How many nodes each reason keeps away, as the event counts them."""
        bits = verdicts.bits
        outside = OUTSIDE.text
        nominated = self.cluster.slots.get(filters.pod.nominated)
        if filters.narrowed is not None and nominated is not None:
            # The nominated node was tried before the others; the plugin that failed there is blamed for all of them.
            bits = bits.copy()
            bits[nominated] &= ~verdicts.bit(OUTSIDE)
            first = verdicts.first(int(bits[nominated]))
            plugins = sorted({"NodeAffinity", *(r.plugin for r in first)})
            outside = f"node(s) didn't satisfy plugin(s) [{' '.join(plugins)}]"
        reasons: Counter[str] = Counter()
        values, counts = np.unique(bits[self.cluster.valid], return_counts=True)
        for value, count in zip(values.tolist(), counts.tolist(), strict=True):
            if value:
                for reason in verdicts.first(value):
                    reasons[outside if reason == OUTSIDE else reason.text] += count
        return reasons
