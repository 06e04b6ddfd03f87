"""From what the metrics ask for to what is done: recent recommendations, the rates of the behavior, the bounds.

What is remembered of earlier runs is lost with the process, as it is with kube-controller-manager: then the first
recommendation is the number of replicas that there is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from mooring.api.autoscaling.views import AutoscalerSpec, ScalingBehavior, ScalingRules

__all__ = ["Limited", "Recommendation", "ReplicaChange", "ScalingHistory", "normalized"]

DOWNSCALE_WINDOW_SECONDS: Final = 300
# What is not remembered any longer than the longest window that a behavior may have.
_MEMORY: Final = timedelta(hours=1)
_UP_FACTOR: Final = 2
_UP_MINIMUM: Final = 4
_LOWER: Final = "recent recommendations were lower than current one, applying the lowest recent recommendation"
_HIGHER: Final = "recent recommendations were higher than current one, applying the highest recent recommendation"


class Recommendation(NamedTuple):
    replicas: int
    at: datetime


class ReplicaChange(NamedTuple):
    """Replicas that were added, or with a negative number taken away."""

    by: int
    at: datetime


class ScalingHistory(NamedTuple):
    """What the last runs recommended and did."""

    recommendations: tuple[Recommendation, ...] = ()
    changes: tuple[ReplicaChange, ...] = ()

    def recommending(self, replicas: int, now: datetime) -> ScalingHistory:
        kept = tuple(each for each in self.recommendations if each.at >= now - _MEMORY)
        return self._replace(recommendations=(*kept, Recommendation(replicas, now)))

    def changing(self, by: int, now: datetime) -> ScalingHistory:
        kept = tuple(each for each in self.changes if each.at >= now - _MEMORY)
        return self._replace(changes=(*kept, ReplicaChange(by, now)))

    def changed_since(self, seconds: int, now: datetime) -> int:
        return sum(each.by for each in self.changes if each.at > now - timedelta(seconds=seconds))


class Limited(NamedTuple):
    """The replicas that are allowed; why they were held back for a while, if they were; and by what they are bound."""

    replicas: int
    stabilized: tuple[str, str] | None
    bound: bool
    reason: str
    message: str


_WITHIN: Final = ("DesiredWithinRange", "the desired count is within the acceptable range")
_TOO_MANY: Final = ("TooManyReplicas", "the desired replica count is more than the maximum replica count")
_TOO_FEW: Final = ("TooFewReplicas", "the desired replica count is less than the minimum replica count")
_UP_RATE: Final = ("ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate")
_DOWN_RATE: Final = ("ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate")


def normalized(spec: AutoscalerSpec, current: int, desired: int, history: ScalingHistory, now: datetime) -> Limited:
    """`history` does not have this recommendation yet."""
    if spec.behavior is None:
        return _by_default(spec, current, desired, history, now)
    stable = _stabilized(spec.behavior, current, desired, history, now)
    told = None
    if stable != desired:
        told = ("ScaleUpStabilized", _LOWER) if desired >= current else ("ScaleDownStabilized", _HIGHER)
    replicas, why = _at_rate(spec, spec.behavior, current, stable, history, now)
    return Limited(replicas, told, replicas != stable, *why)


def _by_default(spec: AutoscalerSpec, current: int, desired: int, history: ScalingHistory, now: datetime) -> Limited:
    cutoff = now - timedelta(seconds=DOWNSCALE_WINDOW_SECONDS)
    stable = max([desired, *(each.replicas for each in history.recommendations if each.at >= cutoff)])
    told = ("ScaleDownStabilized", _HIGHER) if stable != desired else None
    rate = max(_UP_FACTOR * current, _UP_MINIMUM)
    most, why = (rate, _UP_RATE) if spec.max_replicas > rate else (spec.max_replicas, _TOO_MANY)
    if stable < spec.min_replicas:
        return Limited(spec.min_replicas, told, True, *_TOO_FEW)
    if stable > most:
        return Limited(most, told, True, *why)
    return Limited(stable, told, False, *_WITHIN)


def _stabilized(behavior: ScalingBehavior, current: int, desired: int, history: ScalingHistory, now: datetime) -> int:
    """The current number, moved no further than every recommendation of the windows agrees."""
    down = behavior.scale_down.stabilization_window_seconds
    up_cutoff = now - timedelta(seconds=behavior.scale_up.stabilization_window_seconds or 0)
    down_cutoff = now - timedelta(seconds=DOWNSCALE_WINDOW_SECONDS if down is None else down)
    lowest = min([desired, *(each.replicas for each in history.recommendations if each.at > up_cutoff)])
    highest = max([desired, *(each.replicas for each in history.recommendations if each.at > down_cutoff)])
    return min(max(current, lowest), highest)


def _at_rate(
    spec: AutoscalerSpec, behavior: ScalingBehavior, current: int, desired: int, history: ScalingHistory, now: datetime
) -> tuple[int, tuple[str, str]]:
    if desired > current:
        rate = max(current, _up_limit(behavior.scale_up, current, history, now))
        most, why = (rate, _UP_RATE) if spec.max_replicas > rate else (spec.max_replicas, _TOO_MANY)
        return (most, why) if desired > most else (desired, _WITHIN)
    if desired < current:
        rate = min(current, _down_limit(behavior.scale_down, current, history, now))
        least, why = (rate, _DOWN_RATE) if spec.min_replicas < rate else (spec.min_replicas, _TOO_FEW)
        return (least, why) if desired < least else (desired, _WITHIN)
    return desired, _WITHIN


def _up_limit(rules: ScalingRules, current: int, history: ScalingHistory, now: datetime) -> int:
    if rules.select_policy == "Disabled":
        return current
    choose: Callable[[list[int]], int] = min if rules.select_policy == "Min" else max
    proposed = []
    for policy in rules.policies:
        start = current - history.changed_since(policy.period_seconds, now)
        grown = start + policy.value if policy.type == "Pods" else math.ceil(start * (1 + policy.value / 100))
        proposed.append(grown)
    return choose(proposed)


def _down_limit(rules: ScalingRules, current: int, history: ScalingHistory, now: datetime) -> int:
    if rules.select_policy == "Disabled":
        return current
    choose: Callable[[list[int]], int] = max if rules.select_policy == "Min" else min
    proposed = []
    for policy in rules.policies:
        start = current - history.changed_since(policy.period_seconds, now)
        shrunk = start - policy.value if policy.type == "Pods" else int(start * (1 - policy.value / 100))
        proposed.append(shrunk)
    return choose(proposed)
