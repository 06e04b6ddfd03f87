"""HorizontalPodAutoscalers: what they decide, what they say of it, and that they end alike after any crash."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from mooring.api.kinds import Key
from mooring.builtin.apps.statefulset.controller import CONTROLLER as STATEFUL_SETS
from mooring.builtin.metadata_kinds import API_SERVICE, DEFINITION
from mooring.builtin.podautoscaler.controller import CONTROLLER, reconcile
from mooring.builtin.podautoscaler.metric_sources import POD_METRICS
from mooring.builtin.podautoscaler.normalization import Recommendation, ScalingHistory
from mooring.builtin.podautoscaler.targets import _scaled
from mooring.kube.conditions import conditions_of
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Decision, Patch, Scale
from mooring.runtime.drivers.simulation import Simulation
from mooring.testing import node, pod
from mooring.testing.controllers import whole_control_plane
from mooring.testing.crashes import survives_every_crash
from mooring.testing.views import BUILTIN, NOON, view_of
from mooring.testing.workloads import deployment, stateful_set
from tests.builtin.podautoscaler.objects import (
    FARM_DEFINITION,
    METRICS_DEFINITION,
    autoscaler,
    cpu_metric,
    farm,
    pod_metrics,
)
from tests.builtin.town import Town

KEY = Key("default", "web")
KINDS = (*BUILTIN, POD_METRICS, API_SERVICE, DEFINITION, _scaled("example.com/v1", "Farm"))
ESTABLISHED = {**FARM_DEFINITION, "status": {"conditions": [{"type": "Established", "status": "True"}]}}
CLUSTERED = ("APIService", "CustomResourceDefinition")
LONG_AGO = timestamp(NOON - timedelta(hours=1))


def ready_pod(name: str, cpu: str = "200m", app: str = "web") -> Object:
    made = pod(name, node="a", labels={"app": app}, cpu=cpu)
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": LONG_AGO}
    made["status"] = {"phase": "Running", "startTime": LONG_AGO, "conditions": [ready]}
    made["spec"]["containers"][0]["name"] = "app"
    return made


def in_namespace(obj: Object) -> Object:
    return {**obj, "metadata": {"namespace": "default", **obj["metadata"]}}


def web(replicas: int, used: str, **spec: Any) -> list[Object]:
    """A Deployment with its pods, each of which uses as much."""
    names = [f"p{number}" for number in range(replicas)]
    pods = [ready_pod(name) for name in names]
    return [deployment("web", replicas), *pods, *(pod_metrics(name, used, now=NOON) for name in names)]


def decide(*objects: Object, memory: ScalingHistory | None = None, problem: str = "", key: Key = KEY) -> Decision:
    placed = [each if each["kind"] in CLUSTERED else in_namespace(each) for each in objects]
    return reconcile(key, view_of(placed, NOON, kinds=KINDS, memory=memory, problem=problem), NOON)


def scaled_to(decision: Decision) -> int | None:
    scales = [write.replicas for write in decision.children if isinstance(write, Scale)]
    return scales[0] if scales else None


def said(decision: Decision) -> Object:
    (patch,) = decision.intent
    assert isinstance(patch, Patch)
    status: Object = patch.body["status"]
    return status


def reasons(decision: Decision) -> dict[str, str]:
    return {each["type"]: each["reason"] for each in said(decision)["conditions"]}


def message(decision: Decision, kind: str) -> str:
    return str(next(each["message"] for each in said(decision)["conditions"] if each["type"] == kind))


def test_usage_above_the_target_adds_replicas_and_says_so() -> None:
    decision = decide(autoscaler(), *web(1, "400m"))
    assert scaled_to(decision) == 4
    status = said(decision)
    assert (status["currentReplicas"], status["desiredReplicas"]) == (1, 4)
    assert status["lastScaleTime"] == timestamp(NOON)
    current = {"averageValue": "400m", "averageUtilization": 200}
    assert status["currentMetrics"] == [{"type": "Resource", "resource": {"name": "cpu", "current": current}}]
    assert reasons(decision) == {
        "AbleToScale": "SucceededRescale",
        "ScalingActive": "ValidMetricFound",
        "ScalingLimited": "DesiredWithinRange",
    }
    (event,) = decision.events
    assert (event.reason, event.message) == (
        "SuccessfulRescale",
        "New size: 4; reason: cpu resource utilization (percentage of request) above target",
    )
    assert event.after == (decision.children[0].kind, KEY)


@pytest.mark.parametrize(
    ("why", "objects", "spec", "expected", "kind", "reason"),
    [
        ("the usual rate holds growth back", web(1, "2"), {}, 4, "ScalingLimited", "ScaleUpLimit"),
        ("the maximum does", web(4, "400m"), {"most": 5}, 5, "ScalingLimited", "TooManyReplicas"),
        ("the minimum does", web(2, "0"), {"least": 2}, None, "ScalingLimited", "TooFewReplicas"),
        ("on target nothing changes", web(2, "100m"), {}, None, "AbleToScale", "ReadyForNewScale"),
        ("a target of zero is left alone", [deployment("web", 0)], {}, None, "ScalingActive", "ScalingDisabled"),
        ("more than the maximum comes down", web(4, "100m"), {"most": 3}, 3, "AbleToScale", "SucceededRescale"),
        ("less than the minimum goes up", web(1, "100m"), {"least": 2}, 2, "AbleToScale", "SucceededRescale"),
        ("what is gone has no scale", [], {}, None, "AbleToScale", "FailedGetScale"),
        ("pods without metrics say nothing", [deployment("web", 1), ready_pod("p0")], {}, None, "ScalingActive",
         "FailedGetResourceMetric"),
    ],
)  # fmt: skip
def test_each_rung_has_its_reason(
    why: str, objects: list[Object], spec: Object, expected: int | None, kind: str, reason: str
) -> None:
    memory = ScalingHistory((Recommendation(1, NOON - timedelta(hours=1)),))
    decision = decide(autoscaler(**spec), *objects, memory=memory)
    assert (scaled_to(decision), reasons(decision)[kind]) == (expected, reason)


def test_less_usage_waits_for_five_minutes() -> None:
    recent = ScalingHistory((Recommendation(4, NOON - timedelta(seconds=299)),))
    waiting = decide(autoscaler(), *web(4, "20m"), memory=recent)
    assert (scaled_to(waiting), reasons(waiting)["AbleToScale"]) == (None, "ScaleDownStabilized")
    assert waiting.memory.recommendations[-1] == Recommendation(1, NOON)
    old = ScalingHistory((Recommendation(4, NOON - timedelta(seconds=301)),))
    assert scaled_to(decide(autoscaler(), *web(4, "20m"), memory=old)) == 1
    at_once = {"scaleDown": {"stabilizationWindowSeconds": 0, "policies": [percent(100)]}, "scaleUp": {}}
    assert scaled_to(decide(autoscaler(behavior=at_once), *web(4, "20m"), memory=recent)) == 1


def percent(value: int, seconds: int = 15) -> Object:
    return {"type": "Percent", "value": value, "periodSeconds": seconds}


def test_nothing_is_written_again_while_nothing_changes() -> None:
    objects = web(2, "100m")
    first = decide(autoscaler(), *objects)
    settled = autoscaler() | {"status": said(first)}
    again = decide(settled, *objects, memory=first.memory)
    assert again.empty
    assert again.events == ()


def test_a_refused_rescale_is_told_and_tried_again() -> None:
    decision = decide(autoscaler(), *web(1, "400m"), problem="quota is exceeded")
    assert scaled_to(decision) == 4
    assert (
        message(decision, "AbleToScale")
        == "the HPA controller was unable to update the target scale: quota is exceeded"
    )
    assert reasons(decision)["AbleToScale"] == "FailedUpdateScale"
    assert [event.reason for event in decision.events] == ["FailedRescale"]


def test_a_metric_that_fails_lets_others_add_replicas_and_take_none_away() -> None:
    others: Object = {"metric": {"name": "hits"}, "target": {"type": "AverageValue", "averageValue": "1"}}
    both = autoscaler(metrics=[{"type": "Pods", "pods": others}, cpu_metric()])
    up = decide(both, *web(1, "400m"))
    assert (scaled_to(up), said(up)["currentMetrics"][0]) == (4, {"type": ""})
    down = decide(both, *web(4, "20m"), memory=ScalingHistory((Recommendation(1, NOON - timedelta(hours=1)),)))
    assert (scaled_to(down), reasons(down)["ScalingActive"]) == (None, "FailedGetPodsMetric")
    assert down.events[-1].message == (
        "invalid metrics (1 invalid out of 2), first error is: failed to get pods metric value: unable to get metric "
        "hits: unable to fetch metrics from custom metrics API: no custom metrics API "
        "(custom.metrics.k8s.io) registered"
    )


def test_metrics_that_others_serve_are_not_claimed_to_be_missing() -> None:
    service = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService"}
    named = service | {"metadata": {"name": "v1beta1.external.metrics.k8s.io"}}
    queue: Object = {"metric": {"name": "queue"}, "target": {"type": "Value", "value": "1"}}
    hpa = autoscaler(metrics=[{"type": "External", "external": queue}])
    assert message(decide(hpa, *web(1, "1")), "ScalingActive") == (
        "the HPA was unable to compute the replica count: unable to get external metric default/queue/nil: unable to "
        "fetch metrics from external metrics API: the server could not find the requested resource "
        "(get queue.external.metrics.k8s.io)"
    )
    assert "Mooring's autoscaler reads metrics.k8s.io alone" in message(
        decide(hpa, named, *web(1, "1")), "ScalingActive"
    )


def test_one_container_is_measured_alone() -> None:
    target = {"type": "AverageValue", "averageValue": "100m"}
    source = {"name": "cpu", "container": "proxy", "target": target}
    hpa = autoscaler(metrics=[{"type": "ContainerResource", "containerResource": source}])
    metrics = pod_metrics("p0", "9", now=NOON, proxy="200m")
    decision = decide(hpa, deployment("web", 1), ready_pod("p0"), metrics)
    assert scaled_to(decision) == 2
    shown = {"name": "cpu", "container": "proxy", "current": {"averageValue": "200m"}}
    assert said(decision)["currentMetrics"] == [{"type": "ContainerResource", "containerResource": shown}]


def test_pods_of_two_autoscalers_are_scaled_by_neither() -> None:
    other = autoscaler("other")
    other["spec"]["scaleTargetRef"]["name"] = "web"
    decision = decide(autoscaler(), other, *web(1, "400m"))
    assert scaled_to(decision) is None
    assert message(decision, "ScalingActive") == (
        "pods by selector app=web are controlled by multiple HPAs: [{other default} {web default}]"
    )


def test_a_custom_kind_is_scaled_where_its_definition_says() -> None:
    hpa = autoscaler(kind="example.com/v1 Farm")
    objects = [ESTABLISHED, farm("web", 1, "app=web"), ready_pod("p0"), pod_metrics("p0", "400m", now=NOON)]
    decision = decide(hpa, *objects)
    (scale,) = decision.children
    assert (str(scale.kind), scale.key, scaled_to(decision)) == ("example.com/v1/Farm", KEY, 4)


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ("apps/v1 Deployment", 'deployments.apps "web" not found'),
        ("v1 ReplicationController", 'replicationcontrollers "web" not found'),
        ("apps/v1 DaemonSet", "the server could not find the requested resource"),
        ("example.com/v1 Farm", 'farms.example.com "web" not found'),
        ("example.com/v1 Barn", 'no matches for kind "Barn" in group "example.com"'),
    ],
)
def test_a_target_without_a_scale_is_named_in_the_words_of_the_api(kind: str, problem: str) -> None:
    decision = decide(autoscaler(kind=kind), ESTABLISHED)
    assert (
        message(decision, "AbleToScale")
        == f"the HPA controller was unable to get the target's current scale: {problem}"
    )
    assert [event.message for event in decision.events] == [problem]


# In time


def measured(town: Town, cpu: str) -> None:
    """Say what every pod uses."""
    resource = town.registry.resource("metrics.k8s.io/v1beta1", "PodMetrics")
    for name, each in town.pods().items():
        app = each["metadata"]["labels"]["app"]
        if town.registry.find("metrics.k8s.io/v1beta1", "PodMetrics", "default", name) is not None:
            town.registry.delete(resource, "default", name, now=town.simulation.now)
        town.create(pod_metrics(name, cpu, app, now=town.simulation.now))


def test_replicas_follow_the_load_up_and_after_five_minutes_down() -> None:
    pods = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "app", "image": "app", "resources": {"requests": {"cpu": "200m"}}}]},
    }
    town = Town(
        node("a"), deployment("web", 1, pods=pods), controllers=whole_control_plane(), before=[METRICS_DEFINITION]
    )
    town.create(autoscaler())
    resource = town.registry.resource("autoscaling/v2", "HorizontalPodAutoscaler")

    def replicas() -> int:
        found = town.get("Deployment", "web")
        assert found is not None
        count: int = found["spec"]["replicas"]
        return count

    def later(seconds: float) -> None:
        end = town.simulation.now + timedelta(seconds=seconds)
        town.simulation.run(timedelta(seconds=seconds), until=lambda: town.simulation.now >= end)

    later(5)
    unknown = town.registry.get(resource, "default", "web")
    assert {each["type"]: each["status"] for each in conditions_of(unknown)}["ScalingActive"] == "False"
    measured(town, "400m")
    later(30)
    assert replicas() == 4
    measured(town, "20m")
    later(200)
    assert replicas() == 4
    later(200)
    assert replicas() == 1
    version = town.registry.get(resource, "default", "web")["metadata"]["resourceVersion"]
    later(600)
    assert town.registry.get(resource, "default", "web")["metadata"]["resourceVersion"] == version
    assert sorted(town.events("SuccessfulRescale")) == [
        "New size: 1; reason: All metrics below target",
        "New size: 4; reason: cpu resource utilization (percentage of request) above target",
    ]


def test_it_ends_the_same_after_any_crash() -> None:
    def populate(simulation: Simulation) -> None:
        registry = simulation.registry
        for obj in (node("a"), stateful_set("web", 1), autoscaler(kind="apps/v1 StatefulSet", least=3)):
            resource = registry.resource(obj["apiVersion"], obj["kind"])
            registry.create(resource, obj, now=simulation.now, namespace="default" if resource.namespaced else None)

    controllers = (STATEFUL_SETS, CONTROLLER)
    places = survives_every_crash(controllers, populate, before=[METRICS_DEFINITION], of=(CONTROLLER,))
    assert places > 2
