"""How many replicas a metric asks for: the average of what pods use against the target, in thousandths.

Pods that are not ready and pods without metrics count for the side that changes less, so that what is not known never
drives a change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from mooring.api.core.views import Pod
from mooring.kube.errors import MooringError
from mooring.kube.quantities import milli_value
from mooring.kube.times import moment

__all__ = ["MetricError", "PodMetric", "ReplicaCount", "Tolerances", "by_usage", "by_utilization", "requests_of"]

# How long after its start the CPU usage of a pod may be that of its start alone.
CPU_INITIALIZATION: Final = timedelta(minutes=5)
# A pod that was last seen to become unready within this time after its start has never been ready.
INITIAL_READINESS_DELAY: Final = timedelta(seconds=30)


class MetricError(MooringError):
    """Why a metric gives no number of replicas."""


class Tolerances(NamedTuple):
    """By how much the usage may be off its target without a change."""

    down: float = 0.1
    up: float = 0.1

    def within(self, ratio: float) -> bool:
        return 1.0 - self.down <= ratio <= 1.0 + self.up


class PodMetric(NamedTuple):
    """A measured value, in thousandths, with the time that it was measured in."""

    value: int
    timestamp: datetime
    window: timedelta


class ReplicaCount(NamedTuple):
    """The replicas that a metric asks for, and the average that this comes from; percent where requests are known."""

    replicas: int
    average: int
    utilization: int | None = None


class _Usage(NamedTuple):
    ratio: float
    average: int
    utilization: int | None = None


class _PodGroups(NamedTuple):
    ready: int
    unready: frozenset[str]
    missing: frozenset[str]
    ignored: frozenset[str]


def by_utilization(
    current: int,
    target_percent: int,
    resource: str,
    tolerances: Tolerances,
    pods: Sequence[Pod],
    metrics: Mapping[str, PodMetric],
    container: str,
    now: datetime,
) -> ReplicaCount:
    """With a target in percent of what the pods request. Raises MetricError."""
    groups, known = _grouped(pods, metrics, resource, now)
    requests = requests_of(pods, container, resource)

    def usage(values: Mapping[str, int]) -> _Usage:
        counted = [name for name in values if name in requests]
        total = sum(requests[name] for name in counted)
        if total == 0:
            raise MetricError("no metrics returned matched known pods")
        used = sum(values[name] for name in counted)
        percent = used * 100 // total
        return _Usage(percent / target_percent, used // len(counted), percent)

    # Above a target of more than all that is requested, a full pod would still be a reason to shrink.
    fallback = max(100, target_percent)
    return _count(current, tolerances, groups, known, usage, lambda name: requests[name] * fallback // 100)


def by_usage(
    current: int,
    target: int,
    resource: str,
    tolerances: Tolerances,
    pods: Sequence[Pod],
    metrics: Mapping[str, PodMetric],
    now: datetime,
) -> ReplicaCount:
    """With a target for the average pod, in thousandths. Raises MetricError."""
    groups, known = _grouped(pods, metrics, resource, now)

    def usage(values: Mapping[str, int]) -> _Usage:
        average = sum(values.values()) // len(values)
        return _Usage(average / target, average)

    return _count(current, tolerances, groups, known, usage, lambda name: target)


def _count(
    current: int,
    tolerances: Tolerances,
    groups: _PodGroups,
    known: dict[str, int],
    usage: Callable[[Mapping[str, int]], _Usage],
    full: Callable[[str], int],
) -> ReplicaCount:
    """`full` is what a pod without metrics is taken to use where that speaks against fewer replicas."""
    measured = usage(known)
    ratio = measured.ratio
    unready_count = bool(groups.unready) and ratio > 1.0
    if not unready_count and not groups.missing:
        replicas = current if tolerances.within(ratio) else math.ceil(ratio * groups.ready)
        return ReplicaCount(replicas, measured.average, measured.utilization)
    assumed = dict(known)
    if ratio < 1.0:
        assumed |= {name: full(name) for name in groups.missing}
    elif ratio > 1.0:
        assumed |= dict.fromkeys(groups.missing, 0)
    if unready_count:
        assumed |= dict.fromkeys(groups.unready, 0)
    damped = usage(assumed).ratio
    replicas = math.ceil(damped * len(assumed))
    turned = (ratio < 1.0 < damped) or (ratio > 1.0 > damped)
    against = (damped < 1.0 and replicas > current) or (damped > 1.0 and replicas < current)
    if tolerances.within(damped) or turned or against:
        replicas = current
    return ReplicaCount(replicas, measured.average, measured.utilization)


def _grouped(
    pods: Sequence[Pod], metrics: Mapping[str, PodMetric], resource: str, now: datetime
) -> tuple[_PodGroups, dict[str, int]]:
    """The pods by how far they count, and the values that do."""
    if not pods:
        raise MetricError("no pods returned by selector while calculating replica count")
    ready, unready, missing, ignored = 0, set(), set(), set()
    for pod in pods:
        name = pod.metadata.name
        if pod.metadata.deleting or pod.status.phase == "Failed":
            ignored.add(name)
        elif pod.status.phase == "Pending":
            unready.add(name)
        elif name not in metrics:
            missing.add(name)
        elif resource == "cpu" and _starting(pod, metrics[name], now):
            unready.add(name)
        else:
            ready += 1
    left_out = ignored | unready
    known = {name: metric.value for name, metric in metrics.items() if name not in left_out}
    if not known:
        raise MetricError("did not receive metrics for targeted pods (pods might be unready)")
    return _PodGroups(ready, frozenset(unready), frozenset(missing), frozenset(ignored)), known


def _starting(pod: Pod, metric: PodMetric, now: datetime) -> bool:
    """Whether the CPU that a pod uses may be what it needs to start."""
    readiness, start = pod.readiness, pod.status.start_time
    if readiness is None or start is None or readiness.last_transition_time is None:
        return True
    started, changed = moment(start), moment(readiness.last_transition_time)
    if started + CPU_INITIALIZATION > now:
        return readiness.status == "False" or metric.timestamp < changed + metric.window
    return readiness.status == "False" and started + INITIAL_READINESS_DELAY > changed


def requests_of(pods: Sequence[Pod], container: str, resource: str) -> dict[str, int]:
    """What each pod requests, in thousandths: of one container, for the pod as a whole, or of all its containers."""
    return {pod.metadata.name: _request(pod, container, resource) for pod in pods}


def _request(pod: Pod, container: str, resource: str) -> int:
    name, spec = pod.metadata.name, pod.spec
    sidecars = (each for each in spec.init_containers or () if each.restart_policy == "Always")
    found = [each for each in (*(spec.containers or ()), *sidecars) if container in ("", each.name)]
    if container and not found:
        raise MetricError(f"container {container} not found in Pod {name}")
    amounts = {each.name: (each.resources.requests or {}).get(resource) for each in found}
    whole = spec.resources.requests if spec.resources is not None and not container else None
    if whole:
        # What the pod as a whole does not request is what its containers do.
        asked = [whole[resource]] if resource in whole else [each for each in amounts.values() if each is not None]
        if not asked:
            raise MetricError(f"missing pod-level request for {resource} in Pod {name}")
        return sum(map(milli_value, asked))
    total = 0
    for each, amount in amounts.items():
        if amount is None:
            raise MetricError(f"missing request for {resource} in container {each} of Pod {name}")
        total += milli_value(amount)
    return total
