"""All nodes of a plan as one: pods that are bound start after a moment, those of Jobs end after a while.

A plan may begin with tens of thousands of pods that run and of which nothing more is to come. So the pods that
something is due for are kept by the time at which it is, and one key tends all of them.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from mooring.api.core.views import Pod
from mooring.api.kinds import Key, Kind
from mooring.nodes.simulated.pods import START_DELAY, due, step
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision
from mooring.runtime.folds import Fold
from mooring.runtime.store import Changed
from mooring.runtime.view import View
from mooring.workloads.kinds import POD

BURST = 1000


class DueQueue:
    """Pods on nodes by the moment at which something is due for them."""

    def __init__(self) -> None:
        self._moments: list[datetime] = []
        self._pods: dict[datetime, dict[Key, Pod]] = {}

    def change(self, kind: Kind[Any], change: Changed) -> bool:
        """Take a change in; whether something is due that was not before."""
        before, after = _due(change.old), _due(change.new)
        if before is not None and before != after:
            pods = self._pods[before]
            del pods[change.key]
            if not pods:
                del self._pods[before]
                del self._moments[bisect_right(self._moments, before) - 1]
        if after is None:
            return False
        pods = self._pods.setdefault(after, {})
        if not pods:
            insort(self._moments, after)
        pods[change.key] = change.new
        return True

    def until(self, now: datetime) -> Iterator[Pod]:
        """The pods for which something is due, those that have waited longest first."""
        for moment in self._moments[: bisect_right(self._moments, now)]:
            yield from self._pods[moment].values()

    def after(self, now: datetime) -> datetime | None:
        """The next moment at which something will be due."""
        place = bisect_right(self._moments, now)
        return self._moments[place] if place < len(self._moments) else None


def _due(pod: Pod | None) -> datetime | None:
    return None if pod is None or not pod.spec.node_name else due(pod, START_DELAY)


DUE_QUEUE = Fold("due-queue", (POD,), DueQueue, DueQueue.change)


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    agenda = view.fold(DUE_QUEUE)
    writes = [step(pod, now) for pod, _ in zip(agenda.until(now), range(BURST), strict=False)]
    following = agenda.after(now)
    if following is not None:
        view.reached(following)
    return Decision(children=tuple(writes))


CONTROLLER: Final = Controller("nodes", reconcile, reads=(POD,), writes={POD: ("delete", "status")}, folds=(DUE_QUEUE,))
