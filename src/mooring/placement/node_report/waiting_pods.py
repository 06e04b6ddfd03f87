"""Which of the pods that wait go to one node, and why the others do not.

The pods are placed one after another, each bound before the next is looked at, as a scheduler would. The cluster is
changed by that.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from mooring.placement.causes.nodes import Cause, causes_at
from mooring.placement.engine import Engine, Explanation
from mooring.placement.pods import PodInfo
from mooring.placement.reservations import assume, reservation
from mooring.placement.scheduler_cache import SchedulerCache

__all__ = ["Fate", "WaitingPod", "place_waiting"]


class Fate(Enum):
    """What one node is to a pod that waits."""

    LANDS = "lands"
    # It would take the pod, which goes elsewhere.
    FITS = "fits"
    BLOCKED = "blocked"


class WaitingPod(NamedTuple):
    pod: PodInfo
    fate: Fate
    # Where it goes, which may be elsewhere; empty where it goes nowhere.
    node: str = ""
    victims: tuple[PodInfo, ...] = ()
    causes: tuple[Cause, ...] = ()
    # By how many points the node that it goes to is better; 0 for a tie.
    behind: int = 0


def place_waiting(engine: Engine, slot: int, pods: Iterable[PodInfo]) -> list[WaitingPod]:
    found, start = [], 0
    # Pods of a workload fail alike for as long as nothing was placed.
    failed: dict[object, WaitingPod] = {}
    for pod in pods:
        alike = (pod.template, tuple(sorted(pod.labels.items())), pod.namespace, pod.priority, pod.gates, pod.nominated)
        known = None if pod.volumes or pod.claims else failed.get(alike)
        if known is not None:
            found.append(known._replace(pod=pod))
            continue
        explanation = engine.explain(pod, start)
        start = explanation.next_start
        told = _fate(engine.cluster, slot, explanation)
        found.append(told)
        if told.node and not pod.gates:
            _bind(engine.cluster, told)
            failed.clear()
        else:
            failed[alike] = told
    return found


def _fate(cluster: SchedulerCache, slot: int, explanation: Explanation) -> WaitingPod:
    pod, chosen, preemption = explanation.pod, explanation.chosen, explanation.preemption
    if pod.gates:
        return WaitingPod(pod, Fate.BLOCKED, causes=(Cause("SchedulingGates", f"held back by {', '.join(pod.gates)}"),))
    if explanation.rejected is not None or explanation.error:
        rejected = explanation.rejected
        cause = Cause("", explanation.error) if rejected is None else Cause(rejected.plugin, rejected.text)
        return WaitingPod(pod, Fate.BLOCKED, causes=(cause,))
    if chosen < 0 and preemption is not None and preemption.slot >= 0:
        node, victims = cluster.names[preemption.slot], tuple(preemption.victims)
        if preemption.slot == slot:
            return WaitingPod(pod, Fate.LANDS, node, victims)
        return WaitingPod(pod, Fate.BLOCKED, node, victims, causes_at(explanation, slot))
    if chosen < 0:
        return WaitingPod(pod, Fate.BLOCKED, causes=causes_at(explanation, slot))
    node = cluster.names[chosen]
    if chosen == slot:
        return WaitingPod(pod, Fate.LANDS, node)
    if slot in explanation.feasible:
        totals = explanation.totals
        behind = int(totals[chosen] - totals[slot]) if totals.size else 0
        return WaitingPod(pod, Fate.FITS, node, behind=behind)
    return WaitingPod(pod, Fate.BLOCKED, node, causes=causes_at(explanation, slot))


def _bind(cluster: SchedulerCache, told: WaitingPod) -> None:
    slot = cluster.slots[told.node]
    for victim in told.victims:
        cluster.remove_pod(victim.key)
    assume(cluster, reservation(cluster, told.pod, slot))
    cluster.bind(told.pod, slot)
