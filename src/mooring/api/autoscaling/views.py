"""HorizontalPodAutoscalers as their controller sees them."""

from __future__ import annotations

import msgspec

from mooring.api.core.types import View
from mooring.api.meta import Condition, Meta
from mooring.kube.objects import Object


class CrossVersionObjectReference(View, frozen=True):
    kind: str = ""
    name: str = ""
    api_version: str = ""


class MetricTarget(View, frozen=True):
    type: str = ""
    value: str | int | float | None = None
    average_value: str | int | float | None = None
    average_utilization: int | None = None


class MetricIdentifier(View, frozen=True):
    name: str = ""
    selector: Object | None = None


class ResourceMetricSource(View, frozen=True):
    """Of a pod, or with `container` of that one in each pod."""

    name: str = ""
    container: str = ""
    target: MetricTarget = MetricTarget()


class NamedMetricSource(View, frozen=True):
    """A metric that others measure: of pods, of one object, or of something outside of the cluster."""

    metric: MetricIdentifier = MetricIdentifier()
    target: MetricTarget = MetricTarget()
    described_object: CrossVersionObjectReference = CrossVersionObjectReference()


class MetricSpec(View, frozen=True):
    type: str = ""
    resource: ResourceMetricSource | None = None
    container_resource: ResourceMetricSource | None = None
    pods: NamedMetricSource | None = None
    object: NamedMetricSource | None = None
    external: NamedMetricSource | None = None


class ScalingPolicy(View, frozen=True):
    type: str = ""
    value: int = 0
    period_seconds: int = 0


class ScalingRules(View, frozen=True):
    stabilization_window_seconds: int | None = None
    select_policy: str = "Max"
    policies: tuple[ScalingPolicy, ...] = ()
    tolerance: str | int | float | None = None


class ScalingBehavior(View, frozen=True):
    scale_up: ScalingRules = ScalingRules()
    scale_down: ScalingRules = ScalingRules()


class AutoscalerSpec(View, frozen=True):
    scale_target_ref: CrossVersionObjectReference = CrossVersionObjectReference()
    min_replicas: int = 1
    max_replicas: int = 0
    metrics: tuple[MetricSpec, ...] = ()
    behavior: ScalingBehavior | None = None


class AutoscalerStatus(View, frozen=True):
    last_scale_time: str | None = None
    current_replicas: int = 0
    desired_replicas: int = 0
    current_metrics: tuple[Object, ...] | None = None
    conditions: tuple[Condition, ...] = msgspec.field(default_factory=tuple)


class HorizontalPodAutoscaler(View, frozen=True):
    metadata: Meta = Meta()
    spec: AutoscalerSpec = AutoscalerSpec()
    status: AutoscalerStatus = AutoscalerStatus()
