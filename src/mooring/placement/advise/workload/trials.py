"""Trials of a change on a whole workload: its pods are placed one after another with the change made.

Which pods come first is not in our hands where a workload has units of several pods, such as groups: a scheduler may
see one unit after another, or the pods of all units in turn, and a live workload renews one unit at a time and stops
at the first that does not become whole. All of these are tried, and what comes of the worst is what is promised.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain, zip_longest
from typing import Final, NamedTuple

import msgspec

from mooring.api.core.types import Pod
from mooring.kube.objects import Object
from mooring.placement.advise.model import Edit, is_of_pod, pod_target
from mooring.placement.advise.nodes.changed_nodes import changed_nodes
from mooring.placement.advise.pointers import edited
from mooring.placement.engine import Engine
from mooring.placement.reservations import assume, reservation

__all__ = ["TrialOutcome", "Trials", "WorkloadPod", "edited_pod"]

# A pod that is tried must not be taken for the one that is there.
TRIAL: Final = "-trial"


class WorkloadPod(NamedTuple):
    """A pod of a workload. `template` says where its template stands in the workload; `placed` that it has a node.

    `unit` is what it is part of and of no use without; empty where every pod is of use.
    """

    key: str
    pod: Object
    template: str
    placed: bool
    unit: str = ""


class TrialOutcome(NamedTuple):
    """The pods that landed, the first that did not, and how many units are whole."""

    landed: frozenset[str]
    rejected: WorkloadPod | None
    whole: int


class _Step(NamedTuple):
    """Pods that go at once, and those that come after them."""

    leaving: Sequence[str]
    coming: Sequence[WorkloadPod]


class Trials:
    """The pods of one workload, in the order in which they are made. A `live` one renews its units one by one."""

    def __init__(self, engine: Engine, replicas: Sequence[WorkloadPod], template: str, *, live: bool) -> None:
        self._engine = engine
        self._cluster = engine.cluster
        self._template = template
        self._live = live
        self.replicas = replicas
        self._claims = {claim for each in replicas for claim in _claims(each.pod)}
        self._units: dict[str, list[WorkloadPod]] = {}
        for each in replicas:
            self._units.setdefault(each.unit or each.key, []).append(each)
        # How many trials one change takes at most.
        self.courses = 1 if len(self._units) == len(replicas) else 2 + live

    def worst(self, edits: Sequence[Edit]) -> TrialOutcome:
        found = []
        for course in self._courses(edits):
            with self._tried(edits, course) as trial:
                found.append(trial)
        return min(found, key=lambda trial: (trial.whole, len(trial.landed)))

    @contextmanager
    def first(self, edits: Sequence[Edit]) -> Iterator[TrialOutcome]:
        """The cluster with these edits made and the pods placed in their order, for the length of a `with` block."""
        with self._tried(edits, self._courses(edits)[0]) as trial:
            yield trial

    def edits_of(self, edits: Iterable[Edit], replica: WorkloadPod) -> list[Edit]:
        """The edits that change this pod."""
        target = pod_target(replica.template, self._template)
        return [edit for edit in edits if edit.target == target]

    def _courses(self, edits: Sequence[Edit]) -> list[list[_Step]]:
        leaving = [each.key for each in self.replicas if each.placed]
        found = [[_Step(leaving, self.replicas)]]
        if len(self._units) == len(self.replicas):
            return found
        in_turn = chain.from_iterable(zip_longest(*self._units.values()))
        found.append([_Step(leaving, [each for each in in_turn if each is not None])])
        if self._live and any(map(is_of_pod, edits)):
            renewed = reversed(self._units.values())
            found.append([_Step([each.key for each in unit if each.placed], unit) for unit in renewed])
        return found

    @contextmanager
    def _tried(self, edits: Sequence[Edit], course: Sequence[_Step]) -> Iterator[TrialOutcome]:
        # A pod that came later may have preempted some of them meanwhile.
        evicted = [edit.before for edit in edits if edit.op == "evict" and edit.before in self._cluster.pods]
        there = {each.key for each in self.replicas if each.placed}
        start, rejected = 0, None
        with ExitStack() as undone:
            undone.enter_context(self._cluster.pretending(changed_nodes(self._cluster, edits), evicted))
            undone.enter_context(self._cluster.storage.reconsidering(self._claims))
            for step in course:
                undone.enter_context(self._cluster.pretending((), step.leaving))
                there -= set(step.leaving)
                for replica in step.coming:
                    pod = edited_pod(replica.pod, self.edits_of(edits, replica))
                    info = self._cluster.compiler.compile(msgspec.convert(pod, Pod))
                    placement = self._engine.place(info, start)
                    start = placement.next_start
                    if placement.slot >= 0:
                        # Replicas that share a claim go where the first of them took its volume.
                        assume(self._cluster, reservation(self._cluster, info, placement.slot))
                        self._cluster.bind(info, placement.slot)
                        undone.callback(self._cluster.remove_pod, info.key)
                        there.add(replica.key)
                    elif rejected is None:
                        rejected = replica
                if rejected is not None:
                    break
            whole = sum(all(each.key in there for each in unit) for unit in self._units.values())
            yield TrialOutcome(frozenset(there), rejected, whole)


def _claims(pod: Object) -> Iterator[str]:
    namespace = pod["metadata"].get("namespace") or "default"
    for volume in pod["spec"].get("volumes") or ():
        if "persistentVolumeClaim" in volume:
            yield f"{namespace}/{volume['persistentVolumeClaim']['claimName']}"


def edited_pod(pod: Object, edits: Sequence[Edit]) -> Object:
    """The pod with edits, under a name of its own."""
    changed = edited(pod, edits)
    return {**changed, "metadata": {**changed["metadata"], "name": changed["metadata"]["name"] + TRIAL}}
