"""What advice brings to the whole workload: all of its pods are placed again, one after another, with the change made.

Advice is found for one pod that was rejected. A node that takes this one may be full with it, so what people want to
know is how many pods of the workload have a place afterwards, and what else it takes until all have one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

import msgspec

from mooring.api.core.types import Pod
from mooring.kube.objects import Object
from mooring.placement.advise.changed_nodes import changed_nodes
from mooring.placement.advise.model import Advice, AdviceKind, Edit
from mooring.placement.advise.newnode import more_like
from mooring.placement.advise.pointers import edited
from mooring.placement.advise.ranking import ranked
from mooring.placement.advise.search import Search
from mooring.placement.advise.sets import MOST_CHANGES, together
from mooring.placement.engine import Engine
from mooring.placement.reservations import assume, reservation

__all__ = ["Replicas", "WorkloadPod"]

# How many nodes more are counted up to.
MOST_NODES: Final = 64
# How many pods are placed on behalf of one workload, over all advice.
_MOST_PLACED: Final = 4_000
# How much of the advice is carried on until all pods have a place.
_MOST_CARRIED_ON: Final = 3
# A pod that is tried must not be taken for the one that is there.
_TRIAL: Final = "-trial"

# Single changes for a pod that is rejected with the cluster as it is: the engine knows it, and so does the search.
Single = Callable[[Search], list[Advice]]


class WorkloadPod(NamedTuple):
    """A pod of a workload. `template` says where its template stands in the workload; `placed` that it has a node."""

    key: str
    pod: Object
    template: str
    placed: bool


class _Trial(NamedTuple):
    """The pods that landed, and the first that did not."""

    landed: frozenset[str]
    rejected: WorkloadPod | None


class Replicas:
    """The pods of one workload, in the order in which they are placed."""

    def __init__(self, engine: Engine, replicas: Sequence[WorkloadPod]) -> None:
        self._engine = engine
        self._cluster = engine.cluster
        self._replicas = replicas
        self._claims = {claim for each in replicas for claim in _claims(each.pod)}

    def weighed(self, search: Search, advice: Sequence[Advice], template: str, single: Single) -> list[Advice]:
        """The advice for a pod of one template, with what it brings, and what brings all of them, which comes first."""
        most = max(1, _MOST_PLACED // len(self._replicas))
        known = [each for each in advice[:most] if each.kind is not AdviceKind.PRIORITISE]
        found = [self._on_more_nodes(self._enough(each, template), template) for each in known]
        if not any(self._is_enough(each) for each in found):
            found += self._carried_on(search, found, template, single)
        rest = [each for each in advice if each not in known]
        return sorted([*found, *rest], key=lambda each: not self._is_enough(each))

    def _is_enough(self, advice: Advice) -> bool:
        return advice.brings is not None and len(advice.brings) == len(self._replicas)

    def _carried_on(self, search: Search, advice: Sequence[Advice], template: str, single: Single) -> list[Advice]:
        """Advice that brings some pods a place, with the change for the next one, until all have a place."""
        found: list[Advice] = []
        begun = list(advice[:_MOST_CARRIED_ON])
        while begun:
            further = [more for each in begun for more in self._further(search, each, template, single)]
            found = [each for each in further if self._is_enough(each)]
            if found:
                return ranked(found, _MOST_CARRIED_ON)
            begun = ranked([each for each in further if each.changes < MOST_CHANGES], _MOST_CARRIED_ON)
        return found

    def _further(self, search: Search, advice: Advice, template: str, single: Single) -> Iterator[Advice]:
        if advice.changes >= MOST_CHANGES:
            return
        with self._tried(advice.edits, template) as trial:
            if trial.rejected is None or trial.rejected.template != template:
                return
            pod = _on_trial(trial.rejected.pod, _of_pod(advice.edits))
            info = self._cluster.compiler.compile(msgspec.convert(pod, Pod))
            own = {*search.own, *(key + _TRIAL for key in trial.landed)}
            after = Search(self._engine, self._engine.explain(info), pod, search.workload, own)
            more = [each for each in single(after) if each.kind is not AdviceKind.PRIORITISE]
        before = len(advice.brings or ())
        for each in more:
            weighed = self._enough(together(search, advice, each), template)
            if len(weighed.brings or ()) > before:
                yield weighed

    def _enough(self, advice: Advice, template: str) -> Advice:
        """The advice with what it brings, and with as many new nodes as the pods need where it adds one."""

        def brought(count: int) -> Advice:
            changed = advice if count == 1 else more_like(advice, count)
            with self._tried(changed.edits, template) as trial:
                return msgspec.structs.replace(changed, brings=trial.landed)

        first = brought(1)
        low, high = 2, min(MOST_NODES, len(self._replicas))
        if self._is_enough(first) or low > high or not any(edit.op == "addNode" for edit in advice.edits):
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

    def _on_more_nodes(self, advice: Advice, template: str) -> Advice:
        """The advice, or the same edit of as few more nodes as bring most pods a place."""
        best = advice
        for wider in advice.wider:
            if self._is_enough(best):
                break
            with self._tried(wider.edits, template) as trial:
                if len(trial.landed) > len(best.brings or ()):
                    best = msgspec.structs.replace(wider, brings=trial.landed)
        return best

    @contextmanager
    def _tried(self, edits: Sequence[Edit], template: str) -> Iterator[_Trial]:
        """The cluster with these edits made and the workload's pods placed, for the length of a `with` block."""
        gone = [edit.before for edit in edits if edit.op == "evict"]
        gone += [each.key for each in self._replicas if each.placed]
        start, landed, rejected = 0, [], None
        storage = self._cluster.storage
        with (
            self._cluster.pretending(changed_nodes(self._cluster, edits), gone),
            storage.reconsidering(self._claims),
        ):
            for replica in self._replicas:
                pod = _on_trial(replica.pod, _of_pod(edits) if replica.template == template else ())
                info = self._cluster.compiler.compile(msgspec.convert(pod, Pod))
                placement = self._engine.place(info, start)
                start = placement.next_start
                if placement.slot >= 0:
                    # Replicas that share a claim go where the first of them took its volume.
                    assume(self._cluster, reservation(self._cluster, info, placement.slot))
                    self._cluster.bind(info, placement.slot)
                    landed.append(replica.key)
                elif rejected is None:
                    rejected = replica
            try:
                yield _Trial(frozenset(landed), rejected)
            finally:
                for key in reversed(landed):
                    self._cluster.remove_pod(key + _TRIAL)


def _claims(pod: Object) -> Iterator[str]:
    namespace = pod["metadata"].get("namespace") or "default"
    for volume in pod["spec"].get("volumes") or ():
        if "persistentVolumeClaim" in volume:
            yield f"{namespace}/{volume['persistentVolumeClaim']['claimName']}"


def _of_pod(edits: Sequence[Edit]) -> list[Edit]:
    return [edit for edit in edits if edit.target == "pod"]


def _on_trial(pod: Object, edits: Sequence[Edit]) -> Object:
    changed = edited(pod, edits)
    return {**changed, "metadata": {**changed["metadata"], "name": changed["metadata"]["name"] + _TRIAL}}
