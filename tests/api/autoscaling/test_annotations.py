"""Annotations of autoscaling/v1, which hold what it has no fields for: whatever stands there has an answer."""

from __future__ import annotations

import pytest

from mooring.kube.objects import Object
from mooring.kube.status import ApiError, InvalidError
from mooring.registry import Registry
from tests.registry.world import START

TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}


def made(**annotations: str) -> Object:
    """What is stored of an autoscaler of v1 with these annotations."""
    registry = Registry()
    given = {f"autoscaling.alpha.kubernetes.io/{key}": text for key, text in annotations.items()}
    metadata = {"name": "web", "namespace": "default", "annotations": given}
    old = registry.resource("autoscaling/v1", "HorizontalPodAutoscaler")
    registry.create(old, {"metadata": metadata, "spec": {"maxReplicas": 3, "scaleTargetRef": TARGET}}, now=START)
    return registry.get(registry.resource("autoscaling/v2", "HorizontalPodAutoscaler"), "default", "web")


def test_metrics_and_behavior_come_from_annotations() -> None:
    found = made(
        metrics='[{"type":"Pods","pods":{"metricName":"queue","targetAverageValue":"30"}}]',
        behavior='{"ScaleDown":{"Policies":[{"Type":"Pods","Value":1,"PeriodSeconds":60}],"StabilizationWindowSeconds":0}}',
    )
    (metric,) = found["spec"]["metrics"]
    assert metric["pods"]["metric"] == {"name": "queue"}
    assert metric["pods"]["target"] == {"type": "AverageValue", "averageValue": "30"}
    assert found["spec"]["behavior"]["scaleDown"]["stabilizationWindowSeconds"] == 0


@pytest.mark.parametrize("key", ["metrics", "behavior", "conditions"])
@pytest.mark.parametrize("text", ["[1]", "7", "{", '[{"type":3}]', '[{"type":"Object","object":{"target":3}}]'])
def test_what_is_not_of_the_right_type_is_left_out_of_account(key: str, text: str) -> None:
    found = made(**{key: text})
    (metric,) = found["spec"]["metrics"]
    assert metric["resource"]["target"] == {"type": "Utilization", "averageUtilization": 80}
    assert "conditions" not in (found.get("status") or {})


@pytest.mark.parametrize("text", ["[{}]", '[{"type":""}]', '[{"":1}]', '[{"type":"Resource"}]', '[{"type":"Foo"}]'])
def test_a_metric_without_its_source_is_refused(text: str) -> None:
    with pytest.raises(InvalidError, match=r"spec\.metrics\[0\]"):
        made(metrics=text)


def test_rules_without_policies_are_refused() -> None:
    with pytest.raises(InvalidError, match=r"spec\.behavior\.scaleDown\.policies: Required value"):
        made(behavior='{"ScaleDown":{"StabilizationWindowSeconds":0}}')


def test_a_metric_without_a_type_is_refused_in_the_newer_shape_too() -> None:
    registry = Registry()
    new = registry.resource("autoscaling/v2", "HorizontalPodAutoscaler")
    metadata, spec = {"name": "web", "namespace": "default"}, {"maxReplicas": 3, "scaleTargetRef": TARGET}
    registry.create(new, {"metadata": metadata, "spec": spec}, now=START)
    with pytest.raises(ApiError, match="must specify a metric source type"):
        registry.update(new, {"metadata": metadata, "spec": {**spec, "metrics": [{}]}}, now=START)
