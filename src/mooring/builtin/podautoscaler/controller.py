"""HorizontalPodAutoscalers: whenever metrics come in, which is every 15 s, the replicas that they ask for.

The status says that a rescale was made before it is: should the process end in between, the next run makes it, and the
time of the last one is never lost. One that is refused is told in the run after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from mooring.api.autoscaling.views import AutoscalerStatus, HorizontalPodAutoscaler
from mooring.api.conditions import condition_objects, set_conditions
from mooring.api.core.views import Pod
from mooring.api.kinds import Key, key_of
from mooring.api.meta import Condition
from mooring.builtin.metadata_kinds import API_SERVICE
from mooring.builtin.podautoscaler.metric_sources import (
    POD_METRICS,
    SYNC_SECONDS,
    Measured,
    MetricFailure,
    Target,
    measure,
)
from mooring.builtin.podautoscaler.normalization import ScalingHistory, normalized
from mooring.builtin.podautoscaler.replica_count import Tolerances
from mooring.builtin.podautoscaler.targets import SCALABLE, SCALED_KINDS, NoScale, ScaleTarget, scale_target
from mooring.kube.errors import SelectorError
from mooring.kube.objects import Object
from mooring.kube.quantities import parse_quantity
from mooring.kube.selectors import Selector, parse_selector
from mooring.kube.times import timestamp
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Event, Scale, status
from mooring.runtime.view import View
from mooring.workloads.kinds import HORIZONTAL_POD_AUTOSCALER, POD

# Metrics that come in wake a key. One that ran for another reason just before must not make it miss them.
MIN_INTERVAL: Final = timedelta(seconds=SYNC_SECONDS - 5)
# Windows and periods end whether or not there are metrics.
MAX_INTERVAL: Final = timedelta(seconds=SYNC_SECONDS + 5)
_ABLE, _ACTIVE, _LIMITED = "AbleToScale", "ScalingActive", "ScalingLimited"
_NO_METRIC: Final[Object] = {"type": ""}


class MetricsProposal(NamedTuple):
    """What the metrics ask for, None where they do not tell; `problems` become events."""

    replicas: int | None
    metric: str
    condition: Condition
    statuses: tuple[Object, ...] | None = None
    problems: tuple[tuple[str, str], ...] = ()


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    hpa = view.get(HORIZONTAL_POD_AUTOSCALER, *key)
    if hpa is None or hpa.metadata.deleting:
        return Decision()
    view.poll_again(now + MAX_INTERVAL)
    history = view.memory(ScalingHistory) or ScalingHistory()
    try:
        target = scale_target(view, key.namespace, hpa.spec.scale_target_ref)
    except NoScale as error:
        why = f"the HPA controller was unable to get the target's current scale: {error}"
        written = _Status(hpa, now).say(_ABLE, "False", "FailedGetScale", why)
        return written.decision(history, problems=(("FailedGetScale", str(error)),))
    current, spec = target.replicas, hpa.spec
    written = _Status(hpa, now).say(
        _ABLE, "True", "SucceededGetScale", "the HPA controller was able to get the target's current scale"
    )
    if not history.recommendations:
        history = history.recommending(current, now)
    if current == 0 and spec.min_replicas != 0:
        why = "scaling is disabled since the replica count of the target is zero"
        written.say(_ACTIVE, "False", "ScalingDisabled", why).count(current, current)
        return written.decision(history)
    if current > spec.max_replicas:
        reason = "Current number of replicas above Spec.MaxReplicas"
        return _rescale(view, written, target, spec.max_replicas, reason, history, now)
    if current < spec.min_replicas:
        reason = "Current number of replicas below Spec.MinReplicas"
        return _rescale(view, written, target, spec.min_replicas, reason, history, now)
    proposal = _propose(hpa, target, view, now)
    written.conditions.append(proposal.condition)
    if proposal.replicas is None:
        written.count(current, hpa.status.desired_replicas, proposal.statuses)
        return written.decision(history, problems=proposal.problems)
    desired = proposal.replicas
    reason = f"{proposal.metric} above target" if desired > current else "All metrics below target"
    limited = normalized(spec, current, desired, history, now)
    history = history.recommending(desired, now)
    stabilized = limited.stabilized or ("ReadyForNewScale", "recommended size matches current size")
    written.say(_ABLE, "True", *stabilized)
    written.say(_LIMITED, "True" if limited.bound else "False", limited.reason, limited.message)
    if limited.replicas == current:
        written.count(current, current, proposal.statuses)
        return written.decision(history, problems=proposal.problems)
    written.statuses = proposal.statuses
    return _rescale(view, written, target, limited.replicas, reason, history, now, proposal.problems)


def _rescale(
    view: View,
    written: _Status,
    target: ScaleTarget,
    desired: int,
    reason: str,
    history: ScalingHistory,
    now: datetime,
    problems: tuple[tuple[str, str], ...] = (),
) -> Decision:
    current, scale = target.replicas, Scale(target.kind, target.key, desired)
    if why := view.problem:
        said = f"the HPA controller was unable to update the target scale: {why}"
        written.say(_ABLE, "False", "FailedUpdateScale", said)
        written.count(current, written.hpa.status.desired_replicas, written.statuses)
        failed = ("FailedRescale", f"New size: {desired}; reason: {reason}; error: {why}")
        return written.decision(history, scale=scale, problems=(*problems, failed))
    said = f"the HPA controller was able to update the target scale to {desired}"
    written.say(_ABLE, "True", "SucceededRescale", said)
    written.count(current, desired, written.statuses, scaled=True)
    done = Event(
        HORIZONTAL_POD_AUTOSCALER,
        key_of(written.hpa),
        "Normal",
        "SuccessfulRescale",
        f"New size: {desired}; reason: {reason}",
        after=(target.kind, target.key),
    )
    if written.hpa.spec.behavior is not None:
        history = history.changing(desired - current, now)
    return written.decision(history, scale=scale, problems=problems, events=(done,))


# What the metrics ask for


def _propose(hpa: HorizontalPodAutoscaler, target: ScaleTarget, view: View, now: datetime) -> MetricsProposal:
    if not target.selector:
        problem = "selector is required"
        said = Condition(_ACTIVE, "False", "InvalidSelector", "the HPA target's scale is missing a selector")
        return MetricsProposal(None, "", said, problems=_both("SelectorRequired", problem))
    try:
        selector = parse_selector(target.selector)
    except SelectorError as error:
        problem = f"couldn't convert selector into a corresponding internal selector object: {error}"
        said = Condition(_ACTIVE, "False", "InvalidSelector", problem)
        return MetricsProposal(None, "", said, problems=_both("InvalidSelector", problem))
    pods = _selected(view, target.key.namespace, selector)
    if shared := _sharing(hpa, pods, view):
        problem = f"pods by selector {target.selector} are controlled by multiple HPAs: {shared}"
        said = Condition(_ACTIVE, "False", "AmbiguousSelector", problem)
        return MetricsProposal(None, "", said, problems=_both("AmbiguousSelector", problem))
    measured = Target(target.key.namespace, target.replicas, pods, selector, _tolerances(hpa))
    return _highest([measure(metric, measured, view, now) for metric in hpa.spec.metrics], target.replicas)


def _both(reason: str, problem: str) -> tuple[tuple[str, str], ...]:
    return ((reason, problem), ("FailedComputeMetricsReplicas", problem))


def _highest(found: Sequence[Measured | MetricFailure], current: int) -> MetricsProposal:
    """The most that a metric asks for. Where one cannot tell, the others may add replicas and take none away."""
    statuses = tuple(each.status if isinstance(each, Measured) else _NO_METRIC for each in found)
    failures = [each for each in found if isinstance(each, MetricFailure)]
    problems = tuple((each.reason, each.why) for each in failures)
    best = Measured(0, "", {})
    for each in found:
        if isinstance(each, Measured) and (best.replicas == 0 or each.replicas > best.replicas):
            best = each
    if failures and (len(failures) == len(found) or best.replicas < current):
        first = failures[0]
        why = f"the HPA was unable to compute the replica count: {first.why}"
        told = f"invalid metrics ({len(failures)} invalid out of {len(found)}), first error is: {first.told}"
        said = Condition(_ACTIVE, "False", first.reason, why)
        return MetricsProposal(None, "", said, statuses, (*problems, ("FailedComputeMetricsReplicas", told)))
    message = f"the HPA was able to successfully calculate a replica count from {best.name}"
    return MetricsProposal(
        best.replicas, best.name, Condition(_ACTIVE, "True", "ValidMetricFound", message), statuses, problems
    )


def _selected(view: View, namespace: str, selector: Selector) -> list[Pod]:
    return [pod for pod in view.list(POD, "namespace", namespace) if selector.matches(pod.metadata.labels)]


def _sharing(hpa: HorizontalPodAutoscaler, pods: Sequence[Pod], view: View) -> str:
    """The autoscalers that count one of these pods, as Go prints their names; empty where it is this one alone."""
    own, sharing = hpa.metadata, [hpa.metadata.name]
    for other in view.list(HORIZONTAL_POD_AUTOSCALER, "namespace", own.namespace):
        if other.metadata.name == own.name:
            continue
        try:
            text = scale_target(view, own.namespace, other.spec.scale_target_ref).selector
            selector = parse_selector(text)
        except (NoScale, SelectorError):
            continue
        if text and any(selector.matches(pod.metadata.labels) for pod in pods):
            sharing.append(other.metadata.name)
    return f"[{' '.join(f'{{{name} {own.namespace}}}' for name in sorted(sharing))}]" if len(sharing) > 1 else ""


def _tolerances(hpa: HorizontalPodAutoscaler) -> Tolerances:
    usual, behavior = Tolerances(), hpa.spec.behavior
    if behavior is None:
        return usual
    down, up = behavior.scale_down.tolerance, behavior.scale_up.tolerance
    return Tolerances(usual.down if down is None else _number(down), usual.up if up is None else _number(up))


def _number(text: str | float) -> float:
    quantity = parse_quantity(text)
    return float(quantity.mantissa * 10.0**quantity.exponent)


# What is said


class _Status:
    """The status that a run writes, put together step by step."""

    def __init__(self, hpa: HorizontalPodAutoscaler, now: datetime) -> None:
        self.hpa, self.now = hpa, now
        self.conditions: list[Condition] = []
        self.statuses: tuple[Object, ...] | None = None
        self._wanted = hpa.status

    def say(self, kind: str, value: str, reason: str, message: str) -> _Status:
        self.conditions.append(Condition(kind, value, reason, message))
        return self

    def count(
        self, current: int, desired: int, statuses: tuple[Object, ...] | None = None, *, scaled: bool = False
    ) -> None:
        self._wanted = AutoscalerStatus(
            last_scale_time=timestamp(self.now) if scaled else self.hpa.status.last_scale_time,
            current_replicas=current,
            desired_replicas=desired,
            current_metrics=statuses,
        )

    def decision(
        self,
        history: ScalingHistory,
        *,
        scale: Scale | None = None,
        problems: Iterable[tuple[str, str]] = (),
        events: tuple[Event, ...] = (),
    ) -> Decision:
        """Written where it says something new; problems are told then, and not again every 15 s."""
        old, key = self.hpa.status, key_of(self.hpa)
        # What is said last of a condition counts.
        said = {condition.type: condition for condition in self.conditions}.values()
        conditions = set_conditions(old.conditions, said, self.now)
        wanted = msgspec.structs.replace(self._wanted, conditions=conditions)
        write = () if wanted == old else (status(HORIZONTAL_POD_AUTOSCALER, self.hpa, _body(wanted)),)
        warnings = [Event(HORIZONTAL_POD_AUTOSCALER, key, "Warning", *problem) for problem in problems if write]
        return Decision(
            intent=write, children=() if scale is None else (scale,), events=(*warnings, *events), memory=history
        )


def _body(wanted: AutoscalerStatus) -> Object:
    metrics = wanted.current_metrics
    return {
        "lastScaleTime": wanted.last_scale_time,
        "currentReplicas": wanted.current_replicas or None,
        "desiredReplicas": wanted.desired_replicas,
        "currentMetrics": None if metrics is None else list(metrics),
        "conditions": condition_objects(wanted.conditions),
    }


CONTROLLER: Final = Controller(
    "horizontal-pod-autoscaler",
    reconcile,
    of=HORIZONTAL_POD_AUTOSCALER,
    reads=(POD, POD_METRICS, API_SERVICE, *SCALABLE),
    writes={HORIZONTAL_POD_AUTOSCALER: ("status",)} | dict.fromkeys(SCALABLE, ("scale",)),
    memory=ScalingHistory,
    min_interval=MIN_INTERVAL,
    defined=SCALED_KINDS,
    defined_writes=("scale",),
    reporter="horizontal-pod-autoscaler",
)
