"""HorizontalPodAutoscalers. Nothing is measured on either side: both read metrics that the story writes as objects."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from mooring.kube.conditions import conditions_of, find_condition
from mooring.testing.workloads import deployment, template
from tests.builtin.podautoscaler.objects import METRICS_DEFINITION, autoscaler, pod_metrics
from tests.e2e.stories.deployments import wait_for_rollout
from tests.e2e.town import Town

Scenes = Iterator[tuple[str, ...] | None]

_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def wait_for_reason(town: Town, kind: str, reason: str) -> None:
    def is_told() -> bool:
        found = find_condition(conditions_of(town.get("HorizontalPodAutoscaler", "web")), kind)
        return found is not None and found["reason"] == reason

    town.until(is_told, f"{kind} with reason {reason}")


def an_autoscaler_follows_what_pods_use(town: Town) -> Scenes:
    assert town.api.post(_DEFINITIONS, METRICS_DEFINITION).code in (201, 409)
    metrics = f"/apis/metrics.k8s.io/v1beta1/namespaces/{town.namespace}/pods"
    town.until(lambda: town.api.get(metrics).code == 200, "metrics")
    town.create(autoscaler())
    wait_for_reason(town, "AbleToScale", "FailedGetScale")
    yield None
    town.create(deployment("web", 1, pods=template("web")))
    wait_for_rollout(town, "web", 1)
    wait_for_reason(town, "ScalingActive", "FailedGetResourceMetric")
    yield None
    (pod,) = town.pods()
    # Its containers request 10m. A pod counts from the first measurement on that was begun after it was ready.
    measured = pod_metrics(pod["metadata"]["name"], "20m", now=datetime.now(UTC) + timedelta(hours=1))
    assert town.api.post(metrics, measured).code == 201
    wait_for_rollout(town, "web", 4)
    wait_for_reason(town, "AbleToScale", "ReadyForNewScale")
    yield None


STORIES = (an_autoscaler_follows_what_pods_use,)
