"""DefaultPreemption: the pods to evict so that another one fits, and the node to nominate.

Only nodes whose rejection could be lifted are tried. On each, all pods of lower priority are taken away; if the pod
then fits, as many as possible are put back, those whose disruption budget would be broken first, important ones first.
What remains are the victims, and the node that loses least is nominated.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from mooring.placement import messages
from mooring.placement.filters import Filters
from mooring.placement.pods import PodInfo, view_selector
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.placement.trial import NodeTrial
from mooring.placement.verdicts import ERROR, UNSCHEDULABLE, Verdicts, code_of, failed

MIN_CANDIDATES_PERCENT = 10
MIN_CANDIDATES = 100


class Candidate(NamedTuple):
    slot: int
    victims: list[PodInfo]
    violations: int


class Preemption(NamedTuple):
    """The nominated slot and its victims, or -1 and what the event says."""

    slot: int = -1
    victims: tuple[PodInfo, ...] = ()
    violations: int = 0
    message: str = ""
    # Slots that lose no more than the nominated one; the scheduler takes any of them.
    tied: tuple[int, ...] = ()
    # Whether the pod may preempt at all. Where it may not, an earlier nomination stays.
    is_eligible: bool = True


def preempt(filters: Filters, verdicts: Verdicts, claims: str = messages.NO_CLAIMS) -> Preemption:
    """`claims` is what was said of the pod's claims just before, which the event repeats."""
    cluster = filters.cluster
    if reason := _ineligible(filters, verdicts):
        return Preemption(message=f"{claims}, preemption: {reason}", is_eligible=False)
    bits = verdicts.bits[cluster.order]
    resolvable = [each for each in set(bits.tolist()) if code_of(verdicts.first(each)) == UNSCHEDULABLE]
    potential: list[int] = cluster.order[np.isin(bits, resolvable)].tolist()
    wanted = min(max(len(potential) * MIN_CANDIDATES_PERCENT // 100, MIN_CANDIDATES), len(potential))
    candidates: list[Candidate] = []
    reasons: Counter[str] = Counter()
    tried = 0
    errors = []
    for slot in potential:
        tried += 1
        found = _try_node(filters, verdicts, slot)
        if isinstance(found, Candidate):
            if found.victims:
                candidates.append(found)
                if len(candidates) >= wanted and any(not c.violations for c in candidates):
                    break
            else:
                errors.append(f'expected at least one victim pod on node "{cluster.names[slot]}"')
        elif isinstance(found, str):
            errors.append(found)
        else:
            reasons.update(found)
    if not candidates and errors:
        return Preemption(message="preemption: " + (errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]"))
    if not candidates:
        total = messages.histogram(reasons, cluster.node_count, tried, messages.NOT_HELPFUL)
        nested = messages.unavailable(cluster.node_count, total)
        return Preemption(message=f"{claims}, preemption: {nested}")
    least = _least_loss(candidates)
    best = least[0]
    return Preemption(best.slot, tuple(best.victims), best.violations, tied=tuple(c.slot for c in least))


def unhelpful(filters: Filters) -> Preemption:
    """What is said where the pod's claims turned it away before any node was looked at."""
    nodes = filters.cluster.node_count
    reason = messages.unavailable(nodes, {messages.NOT_HELPFUL: nodes})
    text = reason if filters.pod.preempts else messages.NEVER_PREEMPTS
    return Preemption(message=f"{messages.NO_CLAIMS}, preemption: {text}")


def _ineligible(filters: Filters, verdicts: Verdicts) -> str:
    pod, cluster = filters.pod, filters.cluster
    if not pod.preempts:
        return messages.NEVER_PREEMPTS
    slot = cluster.slots.get(pod.nominated)
    if slot is None or code_of(verdicts.first(int(verdicts.bits[slot])) or []) != UNSCHEDULABLE:
        return ""
    if any(p.priority < pod.priority and p.preempted for p in cluster.node_pods[slot].values()):
        return messages.VICTIM_LEAVING
    return ""


def _try_node(filters: Filters, verdicts: Verdicts, slot: int) -> Candidate | list[str] | str:
    """The victims on one node, or the reasons why preemption there does not help, or the error that it ends in."""
    cluster, pod = filters.cluster, filters.pod
    lower = [p for p in cluster.node_pods[slot].values() if p.priority < pod.priority]
    if not lower:
        return [messages.NO_VICTIMS]
    trial = NodeTrial(filters, verdicts, slot)
    for victim in lower:
        trial.remove(victim)
    if bits := _bits_beside_nominated(filters, verdicts, trial, slot):
        first = verdicts.first(bits)
        if first[0].code == ERROR:
            return failed(trial.errors[first[0].plugin])
        return [reason.text for reason in first]
    violating, others = by_budget(cluster, _by_importance(lower))
    victims: list[PodInfo] = []
    violations = 0
    for group, costs in ((violating, 1), (others, 0)):
        for victim in group:
            trial.add(victim)
            if _bits_beside_nominated(filters, verdicts, trial, slot):
                trial.remove(victim)
                victims.append(victim)
                violations += costs
    if violating and others:
        victims = _by_importance(victims)
    return Candidate(slot, victims, violations)


def _bits_beside_nominated(filters: Filters, verdicts: Verdicts, trial: NodeTrial, slot: int) -> int:
    """The verdict with the pods nominated to this node present, then without them."""
    cluster, pod = filters.cluster, filters.pod
    nominated = cluster.nominated.get(cluster.names[slot])
    rivals = [p for p in nominated.values() if p.priority >= pod.priority and p.key != pod.key] if nominated else []
    for rival in rivals:
        trial.add(rival)
    bits = trial.bits() if rivals else 0
    for rival in rivals:
        trial.remove(rival)
    return bits or trial.bits()


def _by_importance(pods: list[PodInfo]) -> list[PodInfo]:
    """Higher priority first, then those that started earlier.

    The scheduler takes "now" for a pod that has no start time yet and asks the clock anew for every comparison, which
    turns the order of such pods around.
    """
    started = [p for p in pods if p.start_time is not None]
    waiting = [p for p in reversed(pods) if p.start_time is None]
    return sorted(
        [*sorted(started, key=lambda p: p.start_time or ""), *waiting], key=lambda p: p.priority, reverse=True
    )


def by_budget(cluster: SchedulerCache, pods: list[PodInfo]) -> tuple[list[PodInfo], list[PodInfo]]:
    """Pods whose eviction would break a disruption budget, and the others."""
    budgets = [
        (b.metadata.namespace, view_selector(b.spec.selector), b.status.disrupted_pods or {})
        for b in cluster.budgets.values()
    ]
    allowed = [b.status.disruptions_allowed for b in cluster.budgets.values()]
    violating: list[PodInfo] = []
    others: list[PodInfo] = []
    for pod in pods:
        broken = False
        for i, (namespace, selector, disrupted) in enumerate(budgets):
            if namespace != pod.namespace or not pod.labels or selector.empty or not selector.matches(pod.labels):
                continue
            if pod.name in disrupted:
                continue
            allowed[i] -= 1
            broken = broken or allowed[i] < 0
        (violating if broken else others).append(pod)
    return violating, others


def _least_loss(candidates: list[Candidate]) -> list[Candidate]:
    """Those with the fewest broken budgets, lowest top priority, smallest sum of them, fewest pods, latest start."""

    def latest_start(candidate: Candidate) -> str:
        top = max(p.priority for p in candidate.victims)
        # A pod without a start time starts now, which is later than any other.
        return min(p.start_time or "~" for p in candidate.victims if p.priority == top)

    def loss(candidate: Candidate) -> tuple[int, int, int, int]:
        victims = candidate.victims
        return (
            candidate.violations,
            victims[0].priority,
            sum(p.priority + 2**31 for p in victims),
            len(victims),
        )

    least = min(map(loss, candidates))
    tied = [c for c in candidates if loss(c) == least]
    latest = max(map(latest_start, tied))
    return [c for c in tied if latest_start(c) == latest]
