"""What advice brings to the whole workload: all of its pods are placed again, one after another, with the change made.

Advice is found for one pod that was rejected. A node that takes this one may be full with it, so what people want to
know is how many pods of the workload have a place afterwards, and what else it takes until all have one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec

from mooring.api.core.types import Pod
from mooring.placement.advise.model import Advice, AdviceKind, pod_target
from mooring.placement.advise.nodes.changed_nodes import added_nodes, edited_nodes
from mooring.placement.advise.nodes.new_node import more_like
from mooring.placement.advise.nodes.pools import raised_to
from mooring.placement.advise.ranking import ranked
from mooring.placement.advise.search import Search
from mooring.placement.advise.sets import MOST_CHANGES, joined, together
from mooring.placement.advise.workload.templates import in_template, of_template
from mooring.placement.advise.workload.trials import TRIAL, Trials, edited_pod
from mooring.placement.engine import Engine

__all__ = ["Replicas"]

# How many nodes more are counted up to.
MOST_NODES: Final = 64
# How many pods are placed on behalf of one workload, over all advice.
_MOST_PLACED: Final = 4_000
# How much of the advice is carried on until all pods have a place.
_MOST_CARRIED_ON: Final = 3
# How many ways to bring all of them are shown.
_MOST_SHOWN: Final = 5

# Single changes for a pod that is rejected with the cluster as it is: the engine knows it, and so does the search.
Single = Callable[[Search], list[Advice]]


class Replicas:
    """The pods of one workload. `template` is that of the pod that advice was found for."""

    def __init__(self, trials: Trials, engine: Engine, template: str) -> None:
        self._trials = trials
        self._engine = engine
        self._template = template
        self._count = len(trials.replicas)

    def weighed(self, search: Search, advice: Sequence[Advice], single: Single) -> list[Advice]:
        """The advice with what it brings, and what brings all pods a place, which comes first."""
        most = max(1, _MOST_PLACED // (self._count * self._trials.courses))
        known = [each for each in advice[:most] if each.kind is not AdviceKind.PRIORITISE]
        found = [self._in_all_templates(search, self._on_more_nodes(self._enough(search, each))) for each in known]
        if not any(self._is_enough(each) for each in found):
            found += self._carried_on(search, found, single)
        rest = [each for each in advice if each not in known]
        return sorted([*found, *rest], key=lambda each: not self._is_enough(each))

    def _is_enough(self, advice: Advice) -> bool:
        return advice.brings is not None and len(advice.brings) == self._count

    def _in_all_templates(self, search: Search, advice: Advice) -> Advice:
        """The same change in the other templates of the workload too, where that brings more of it a place."""
        if self._is_enough(advice):
            return advice
        for other in self._trials.replicas:
            if other.template != self._template:
                changed = in_template(search, advice, other.pod, other.template)
                if changed is not None:
                    weighed = self._enough(search, changed)
                    return weighed if len(weighed.brings or ()) > len(advice.brings or ()) else advice
        return advice

    def _carried_on(self, search: Search, advice: Sequence[Advice], single: Single) -> list[Advice]:
        """Advice that brings some pods a place, with the change for the next one, until all have a place."""
        found: list[Advice] = []
        begun = list(advice[:_MOST_CARRIED_ON])
        while begun:
            further = [more for each in begun for more in self._further(search, each, single)]
            found = [each for each in further if self._is_enough(each)]
            if found:
                return ranked(found, _MOST_SHOWN)
            begun = ranked([each for each in further if each.changes < MOST_CHANGES], _MOST_CARRIED_ON)
        return found

    def _further(self, search: Search, advice: Advice, single: Single) -> Iterator[Advice]:
        if advice.changes >= MOST_CHANGES:
            return
        with self._trials.first(advice.edits) as trial:
            rejected = trial.rejected
            if rejected is None:
                return
            pod = edited_pod(rejected.pod, self._trials.edits_of(advice.edits, rejected))
            info = self._engine.cluster.compiler.compile(msgspec.convert(pod, Pod))
            own = {*search.own, *(key + TRIAL for key in trial.landed)}
            pools = [] if any(part.pool is not None for part in advice.parts or (advice,)) else search.pools
            imagined = added_nodes(advice.edits)
            explanation = self._engine.explain(info)
            after = Search(
                self._engine,
                explanation,
                pod,
                search.workload,
                own,
                pools=pools,
                imagined=imagined,
                changed=edited_nodes(advice.edits),
            )
            more = [each for each in single(after) if each.kind is not AdviceKind.PRIORITISE]
        before = len(advice.brings or ())
        for each in more:
            change = of_template(each, pod_target(rejected.template, self._template))
            weighed = self._in_all_templates(search, self._enough(search, together(search, advice, change)))
            if len(weighed.brings or ()) > before:
                yield weighed

    def _enough(self, search: Search, advice: Advice) -> Advice:
        """The advice with what it brings, and with as many new nodes as the pods need where it adds one."""

        def brought(count: int) -> Advice:
            changed = advice if count == 1 else _with_more_nodes(search, advice, count)
            return msgspec.structs.replace(changed, brings=self._trials.worst(changed.edits).landed)

        first = brought(1)
        low, high = 2, min(MOST_NODES, self._count, _most_new_nodes(advice))
        if self._is_enough(first) or low > high:
            return first
        most = brought(high)
        if len(most.brings or ()) <= len(first.brings or ()):
            return first
        while low < high:
            middle = (low + high) // 2
            if len(brought(middle).brings or ()) >= len(most.brings or ()):
                high = middle
            else:
                low = middle + 1
        return brought(high)

    def _on_more_nodes(self, advice: Advice) -> Advice:
        """The advice, or the same edit of as few more nodes as bring most pods a place."""
        best = advice
        for wider in advice.wider:
            if self._is_enough(best):
                break
            landed = self._trials.worst(wider.edits).landed
            if len(landed) > len(best.brings or ()):
                best = msgspec.structs.replace(wider, brings=landed)
        return best


def _most_new_nodes(advice: Advice) -> int:
    """How many nodes can be added where one is: as many as one likes, as many as a pool has to spare, or none."""
    found = [
        MOST_NODES if part.pool is None or part.pool.raisable is None else part.pool.raisable.to_spare
        for part in advice.parts or (advice,)
        if _adds_one(part)
    ]
    return min(found, default=0)


def _adds_one(part: Advice) -> bool:
    return sum(edit.op == "addNode" for edit in part.edits) == 1


def _with_more_nodes(search: Search, advice: Advice, count: int) -> Advice:
    parts = tuple(_more_nodes(part, count) for part in advice.parts or (advice,))
    if len(parts) == 1:
        return parts[0]
    joint = joined(search, parts)
    return msgspec.structs.replace(joint, nodes=advice.nodes, node_count=advice.node_count, victims=advice.victims)


def _more_nodes(part: Advice, count: int) -> Advice:
    if not _adds_one(part):
        return part
    return more_like(part, count) if part.pool is None else raised_to(part, count)
