"""What the annotations of an autoscaling/v1 autoscaler hold, and whether that is what they should hold.

Anybody can write them. What is not of the right type is left out of account, as the API does.
"""

from typing import Any, Final

import msgspec

from mooring.kube.objects import Object

__all__ = ["BEHAVIOR", "CONDITIONS", "CURRENT", "METRICS", "read_annotation"]

METRICS: Final = "autoscaling.alpha.kubernetes.io/metrics"
CURRENT: Final = "autoscaling.alpha.kubernetes.io/current-metrics"
CONDITIONS: Final = "autoscaling.alpha.kubernetes.io/conditions"
BEHAVIOR: Final = "autoscaling.alpha.kubernetes.io/behavior"

Amount = str | int | float | None


class _MetricSource(msgspec.Struct, rename="camel"):
    """The fields of all sources of metrics together."""

    name: str | None = None
    container: str | None = None
    metric_name: str | None = None
    selector: dict[str, Any] | None = None
    metric_selector: dict[str, Any] | None = None
    target: dict[str, str] | None = None
    target_value: Amount = None
    average_value: Amount = None
    target_average_value: Amount = None
    target_average_utilization: int | None = None
    current_value: Amount = None
    current_average_value: Amount = None
    current_average_utilization: int | None = None


class _Metric(msgspec.Struct, rename="camel"):
    type: str | None = None
    resource: _MetricSource | None = None
    container_resource: _MetricSource | None = None
    pods: _MetricSource | None = None
    object: _MetricSource | None = None
    external: _MetricSource | None = None


class _ScalingPolicy(msgspec.Struct, rename="pascal"):
    type: str | None = None
    value: int | None = None
    period_seconds: int | None = None


class _ScalingRules(msgspec.Struct, rename="pascal"):
    stabilization_window_seconds: int | None = None
    select_policy: str | None = None
    policies: list[_ScalingPolicy] | None = None
    tolerance: Amount = None


class _ScalingBehavior(msgspec.Struct, rename="pascal"):
    scale_up: _ScalingRules | None = None
    scale_down: _ScalingRules | None = None


class _AutoscalerCondition(msgspec.Struct, rename="camel"):
    type: str
    status: str
    last_transition_time: str | None = None
    reason: str | None = None
    message: str | None = None


_TYPES: Final[dict[str, Any]] = {
    METRICS: list[_Metric],
    CURRENT: list[_Metric],
    CONDITIONS: list[_AutoscalerCondition],
    BEHAVIOR: _ScalingBehavior,
}


def read_annotation(metadata: Object, key: str) -> Any:
    """The value, or None where there is none that can be used."""
    text = metadata.get("annotations", {}).get(key)
    if not text:
        return None
    try:
        msgspec.json.decode(text, type=_TYPES[key])
    except msgspec.DecodeError:
        return None
    return msgspec.json.decode(text)
