"""Eviction by taint: pods leave a node with NoExecute taints, at once or when the time they tolerate them is up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final, NamedTuple

from mooring.api.core.views import Pod, Taint
from mooring.api.kinds import Key, key_of
from mooring.kube.times import moment
from mooring.placement.plugins.taints import tolerates
from mooring.runtime.controller import Controller
from mooring.runtime.controllermetrics import Counter
from mooring.runtime.decision import Decision, Delete, Event, Write
from mooring.runtime.view import View
from mooring.workloads.conditions import bound_at, disruption_mark
from mooring.workloads.kinds import NODE, POD
from mooring.workloads.taints import OUTAGES

POD_DELETIONS: Final = Counter(
    "mooring_taint_eviction_pod_deletions_total", "Pods deleted because of a NoExecute taint."
)


class Countdown(NamedTuple):
    """Since when each taint counts, and the pods whose time is running out."""

    since: Mapping[str, datetime]
    waiting: tuple[Key, ...]


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    node = view.get(NODE, *key)
    known = view.memory(Countdown) or Countdown({}, ())
    taints = [taint for taint in (node.spec.taints or ()) if taint.effect == "NoExecute"] if node is not None else []
    if node is None or not taints:
        return Decision(events=tuple(_event(pod, "Cancelling deletion of Pod") for pod in known.waiting))
    since = _since(taints, known, now)
    writes: list[Write] = []
    events: list[Event] = []
    waiting: list[Key] = []
    for pod in view.list(POD, "node", node.metadata.name):
        if pod.metadata.deleting:
            continue
        deadline = _deadline(pod, taints, since)
        if deadline is None:
            continue
        if not view.reached(deadline):
            waiting.append(key_of(pod))
            continue
        # The condition comes before the deletion: a controller that watches the pod reads why it ended.
        mark = disruption_mark(pod, now, "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint")
        if mark is not None:
            writes.append(mark)
        else:
            writes.append(Delete(POD, key_of(pod)))
            events.append(_event(key_of(pod), "Marking for deletion Pod"))
    memory = Countdown(MappingProxyType(since), tuple(waiting))
    deletions = sum(isinstance(write, Delete) for write in writes)
    counted = (POD_DELETIONS.add(amount=deletions),) if deletions else ()
    return Decision(children=tuple(writes), events=tuple(events), memory=memory, metrics=counted)


def _clock(taint: Taint) -> str:
    """An outage is one, whether the node says that it is not ready or says nothing."""
    return "outage" if taint.key in OUTAGES else f"{taint.key}={taint.value}"


def _since(taints: Iterable[Taint], known: Countdown, now: datetime) -> dict[str, datetime]:
    found: dict[str, datetime] = {}
    for taint in taints:
        added = moment(taint.time_added) if taint.time_added else now
        found[_clock(taint)] = known.since.get(_clock(taint), added)
    return found


def _deadline(pod: Pod, taints: Iterable[Taint], since: Mapping[str, datetime]) -> datetime | None:
    """When a pod must go; None if it may stay. Of several tolerations of one taint the first counts."""
    here = bound_at(pod)
    moments = []
    for taint in taints:
        toleration = next((each for each in pod.spec.tolerations or () if tolerates(each, taint)), None)
        if toleration is None:
            return here
        if toleration.toleration_seconds is not None:
            start = max(since[_clock(taint)], here)
            moments.append(start + timedelta(seconds=max(0, toleration.toleration_seconds)))
    return min(moments, default=None)


def _event(pod: Key, what: str) -> Event:
    return Event(POD, pod, "Normal", "TaintManagerEviction", f"{what} {pod}")


CONTROLLER: Final = Controller(
    "taint-eviction",
    reconcile,
    of=NODE,
    reads=(POD,),
    writes={POD: ("delete", "status")},
    reporter="taint-eviction-controller",
    memory=Countdown,
    metrics=(POD_DELETIONS,),
)
