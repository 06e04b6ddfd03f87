"""What one metric of an autoscaler's spec asks for, with its status, its name, and the condition where it fails."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from mooring.api.autoscaling.views import MetricSpec, NamedMetricSource, ResourceMetricSource
from mooring.api.core.views import Pod
from mooring.api.kinds import Kind
from mooring.api.metrics.views import PodMetrics
from mooring.builtin.metadata_kinds import API_SERVICE
from mooring.builtin.podautoscaler.replica_count import (
    MetricError,
    PodMetric,
    ReplicaCount,
    Tolerances,
    by_usage,
    by_utilization,
)
from mooring.kube.durations import parse_duration
from mooring.kube.objects import Object
from mooring.kube.quantities import Quantity, milli_value
from mooring.kube.selectors import Selector
from mooring.kube.times import moment
from mooring.runtime.view import Unavailable, View

__all__ = ["POD_METRICS", "Measured", "MetricFailure", "Target", "measure"]

SYNC_SECONDS: Final = 15.0
POD_METRICS: Final = Kind(
    "metrics.k8s.io/v1beta1", "PodMetrics", PodMetrics, on_demand=True, optional=True, polled_seconds=SYNC_SECONDS
)
_NOT_SERVED: Final = "the server could not find the requested resource"
_CUSTOM: Final = "custom.metrics.k8s.io"
_EXTERNAL: Final = "external.metrics.k8s.io"
_REASONS: Final = {
    "Resource": "FailedGetResourceMetric",
    "ContainerResource": "FailedGetContainerResourceMetric",
    "Pods": "FailedGetPodsMetric",
    "Object": "FailedGetObjectMetric",
    "External": "FailedGetExternalMetric",
}


class Target(NamedTuple):
    """Whose pods are measured: the replicas that there should be, the pods, and the selector that found them."""

    namespace: str
    replicas: int
    pods: Sequence[Pod]
    selector: Selector
    tolerances: Tolerances


class Measured(NamedTuple):
    replicas: int
    # As rescaling is explained by it.
    name: str
    status: Object


class MetricFailure(NamedTuple):
    """`why` stands in the condition, `told` with the number of invalid metrics in an event."""

    reason: str
    why: str
    told: str


def measure(spec: MetricSpec, target: Target, view: View, now: datetime) -> Measured | MetricFailure:
    if spec.type == "Resource" and spec.resource is not None:
        return _resource(spec.type, spec.resource, target, view, now)
    if spec.type == "ContainerResource" and spec.container_resource is not None:
        return _resource(spec.type, spec.container_resource, target, view, now)
    for kind, source in (("Pods", spec.pods), ("Object", spec.object), ("External", spec.external)):
        if spec.type == kind and source is not None:
            return _others(kind, source, target, view)
    why = f'unknown metric source type "{spec.type}"'
    return MetricFailure("InvalidMetricSourceType", why, why)


# What metrics.k8s.io has


def _resource(
    kind: str, source: ResourceMetricSource, target: Target, view: View, now: datetime
) -> Measured | MetricFailure:
    wanted, resource = source.target, source.name
    is_utilization = wanted.average_value is None
    try:
        metrics = _pod_metrics(view, target, resource, source.container)
        if wanted.average_value is not None:
            goal = milli_value(wanted.average_value)
            found = by_usage(target.replicas, goal, resource, target.tolerances, target.pods, metrics, now)
        else:
            percent = wanted.average_utilization or 0
            found = by_utilization(
                target.replicas, percent, resource, target.tolerances, target.pods, metrics, source.container, now
            )
    except MetricError as error:
        why = f"failed to get {resource} {'utilization' if is_utilization else 'usage'}: {error}"
        what = f"{source.container} container" if kind == "ContainerResource" else f"{resource} resource"
        return MetricFailure(_REASONS[kind], why, f"failed to get {what} metric value: {why}")
    name = f"{resource} resource"
    if is_utilization:
        container = "container " if kind == "ContainerResource" else ""
        name = f"{resource} {container}resource utilization (percentage of request)"
    return Measured(found.replicas, name, _status(kind, source, found))


def _status(kind: str, source: ResourceMetricSource, found: ReplicaCount) -> Object:
    average = Quantity(found.average, -3, "BinarySI" if source.name == "memory" else "DecimalSI")
    current: Object = {"averageValue": str(average)}
    if found.utilization is not None:
        current["averageUtilization"] = found.utilization
    if kind == "ContainerResource":
        shown = {"name": source.name, "container": source.container, "current": current}
        return {"type": kind, "containerResource": shown}
    return {"type": kind, "resource": {"name": source.name, "current": current}}


def _pod_metrics(view: View, target: Target, resource: str, container: str) -> dict[str, PodMetric]:
    """By name of the pod; without those that lack the resource in one of their containers."""
    prefix = f"unable to get metrics for resource {resource}"
    try:
        served = view.list(POD_METRICS, "namespace", target.namespace)
    except Unavailable as error:
        if not error.lasts:
            raise
        view.readable(POD_METRICS)
        why = f"{_NOT_SERVED} (get pods.metrics.k8s.io)" if "not served" in str(error) else str(error)
        raise MetricError(f"{prefix}: unable to fetch metrics from resource metrics API: {why}") from None
    found = [each for each in served if target.selector.matches(each.metadata.labels)]
    if not found:
        raise MetricError(f"{prefix}: no metrics returned from resource metrics API")
    metrics = {}
    for each in found:
        used = [c.usage.get(resource) for c in each.containers if container in ("", c.name)]
        amounts = [amount for amount in used if amount is not None]
        if used and len(amounts) == len(used):
            window = parse_duration(each.window) or timedelta(0)
            total = sum(map(milli_value, amounts))
            metrics[each.metadata.name] = PodMetric(total, moment(each.timestamp), window)
    return metrics


# What programs of others have


def _others(kind: str, source: NamedMetricSource, target: Target, view: View) -> MetricFailure:
    """These are served by programs of users alone, in ways that differ from kind to kind, and are not read here."""
    name = source.metric.name
    group = _EXTERNAL if kind == "External" else _CUSTOM
    if view.get(API_SERVICE, "", f"v1beta1.{group}") or view.get(API_SERVICE, "", f"v1beta2.{group}"):
        missing = f"{group} is served here, but Mooring's autoscaler reads metrics.k8s.io alone"
    elif kind == "External":
        missing = f"{_NOT_SERVED} (get {name}.{_EXTERNAL})"
    else:
        missing = f"no custom metrics API ({_CUSTOM}) registered"
    fetched = f"unable to fetch metrics from {'external' if kind == 'External' else 'custom'} metrics API: {missing}"
    if kind == "External":
        why = f"unable to get external metric {target.namespace}/{name}/{_selector(source)}: {fetched}"
        detail = f"failed to get external metric {name}: {why}"
        if source.target.average_value is not None:
            detail = f"failed to get {name} external metric: {why}"
        return MetricFailure(_REASONS[kind], why, f"failed to get {name} external metric value: {detail}")
    if kind == "Pods":
        why = f"unable to get metric {name}: {fetched}"
        return MetricFailure(_REASONS[kind], why, f"failed to get pods metric value: {why}")
    described = source.described_object
    why = f"unable to get metric {name}: {described.kind} on {target.namespace} {described.name}/{fetched}"
    detail = why if source.target.type == "Value" else f"failed to get {name} object metric: {why}"
    return MetricFailure(_REASONS[kind], why, f"failed to get object metric value: {detail}")


def _selector(source: NamedMetricSource) -> str:
    """As Go prints it."""
    selector = source.metric.selector
    if selector is None:
        return "nil"
    labels = " ".join(f"{key}: {text}," for key, text in sorted((selector.get("matchLabels") or {}).items()))
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{each['key']},Operator:{each['operator']},"
        f"Values:[{' '.join(each.get('values') or ())}],}},"
        for each in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )
