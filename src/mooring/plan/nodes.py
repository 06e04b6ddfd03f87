"""The simulated nodes of a plan, as one controller: bound pods start after a delay, pods of Jobs complete.

A plan may begin with tens of thousands of running pods that never change. So a due queue keeps only the pods that have
a write to come, by its time, and one key reconciles all of them.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Collection, Iterator
from datetime import datetime
from functools import partial
from typing import Any

from mooring.api.core.views import Pod
from mooring.api.kinds import Key, Kind
from mooring.nodes.simulated.pods import START_DELAY, due, step
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision
from mooring.runtime.dispatcher.store import Changed
from mooring.runtime.folds import Fold
from mooring.runtime.view import View
from mooring.workloads.kinds import POD

MAX_WRITES_PER_PASS = 1000


class DueQueue:
    """Bound pods by the time at which their next write is due. `endless` pods, by uid, end only when they say when."""

    def __init__(self, endless: Collection[str] = ()) -> None:
        self._endless = endless
        self._moments: list[datetime] = []
        self._pods: dict[datetime, dict[Key, Pod]] = {}

    def change(self, kind: Kind[Any], change: Changed) -> bool | datetime:
        """Apply a change; returns the time of the first write to come, if there is one."""
        before, after = self._due(change.old), self._due(change.new)
        if before is not None and before != after:
            pods = self._pods[before]
            del pods[change.key]
            if not pods:
                del self._pods[before]
                del self._moments[bisect_right(self._moments, before) - 1]
        if after is not None:
            pods = self._pods.setdefault(after, {})
            if not pods:
                insort(self._moments, after)
            pods[change.key] = change.new
        return self._moments[0] if self._moments else False

    def until(self, now: datetime) -> Iterator[Pod]:
        """The pods whose write is due, the longest overdue first."""
        for moment in self._moments[: bisect_right(self._moments, now)]:
            yield from self._pods[moment].values()

    def after(self, now: datetime) -> datetime | None:
        """The time of the next write after now."""
        place = bisect_right(self._moments, now)
        return self._moments[place] if place < len(self._moments) else None

    def _due(self, pod: Pod | None) -> datetime | None:
        if pod is None or not pod.spec.node_name:
            return None
        metadata = pod.metadata
        if metadata.uid in self._endless and not metadata.deleting and not metadata.annotations.duration:
            return None
        return due(pod, START_DELAY)


def controller(endless: Collection[str] = ()) -> Controller:
    """The simulated nodes. Of `endless` pods, by uid, nobody knows when they end, those of Jobs included."""
    queue = Fold("due-queue", (POD,), partial(DueQueue, endless), DueQueue.change)

    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        due_queue = view.fold(queue)
        writes = [step(pod, now) for pod, _ in zip(due_queue.until(now), range(MAX_WRITES_PER_PASS), strict=False)]
        following = due_queue.after(now)
        if following is not None:
            view.reached(following)
        return Decision(children=tuple(writes))

    return Controller("nodes", reconcile, reads=(POD,), writes={POD: ("delete", "status")}, folds=(queue,))
