"""Autoscalers in drawn stories: loads that rise and fall, behaviours, tolerances, and metrics that are not there."""

from __future__ import annotations

from datetime import timedelta
from random import Random
from typing import Any

import pytest

from mooring.builtin.apps.deployment.controller import CONTROLLER as DEPLOYMENTS
from mooring.builtin.apps.replicaset.controller import CONTROLLER as REPLICA_SETS
from mooring.builtin.podautoscaler.controller import CONTROLLER
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.testing.workloads import deployment, template
from tests.builtin.podautoscaler.objects import FARM_DEFINITION, METRICS_DEFINITION, autoscaler, cpu_metric, farm
from tests.support.traces.draws import anyone, chosen
from tests.support.traces.golden import agrees
from tests.support.traces.kubelet import Kubelet
from tests.support.traces.story import Story

TOLD = ("mooring-deployment", "mooring-replicaset", "mooring-deployment-controller", "mooring-replicaset-controller")


def metric(draw: Random) -> Object:
    name = draw.choice(["cpu", "cpu", "memory"])
    target = draw.choice([
        {"type": "Utilization", "averageUtilization": draw.choice([30, 50, 80])},
        {"type": "AverageValue", "averageValue": "30m" if name == "cpu" else "40Mi"},
    ])  # fmt: skip
    match draw.randrange(8):
        case 0:
            average = {"type": "AverageValue", "averageValue": "10"}
            selector = {
                "matchLabels": {"queue": "q"},
                "matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}],
            }
            return {
                "type": "External",
                "external": {"metric": {"name": "jobs", "selector": selector}, "target": average},
            }
        case 1:
            average = {"type": "AverageValue", "averageValue": "10"}
            return {"type": "Pods", "pods": {"metric": {"name": "requests"}, "target": average}}
        case 2:
            about = {"apiVersion": "v1", "kind": "Service", "name": "web"}
            wanted = draw.choice([{"type": "Value", "value": "10"}, {"type": "AverageValue", "averageValue": "10"}])
            return {
                "type": "Object",
                "object": {"metric": {"name": "hits"}, "describedObject": about, "target": wanted},
            }
        case 3:
            source = {"name": name, "container": draw.choice(["main", "absent"]), "target": target}
            return {"type": "ContainerResource", "containerResource": source}
    return {"type": "Resource", "resource": {"name": name, "target": target}}


def rules(draw: Random) -> Object:
    policies = [
        {
            "type": draw.choice(["Pods", "Percent"]),
            "value": draw.choice([1, 2, 50, 100]),
            "periodSeconds": draw.choice([15, 60]),
        }
        for _ in range(draw.randrange(1, 3))
    ]
    found: Object = {"policies": policies} if draw.random() < 0.7 else {}
    found |= chosen(draw, 0.5, selectPolicy=["Max", "Min", "Disabled"], stabilizationWindowSeconds=[0, 30, 90])
    found |= chosen(draw, 0.3, tolerance=["0.5", "50m"])
    return found or {"stabilizationWindowSeconds": 0}


def spec(draw: Random) -> dict[str, Any]:
    plain = draw.random() < 0.5
    metrics = [cpu_metric(50)] if plain else [metric(draw) for _ in range(draw.randrange(1, 3))]
    found: dict[str, Any] = {"metrics": metrics, "most": draw.choice([3, 6, 12]), "least": draw.choice([1, 1, 2])}
    if draw.random() < 0.6:
        found["behavior"] = {way: rules(draw) for way in ("scaleUp", "scaleDown") if draw.random() < 0.7} or None
    return {name: value for name, value in found.items() if value is not None}


def measured(story: Story, load: int, draw: Random, gaps: float) -> None:
    """The metrics of this moment, for pods that run; some have none."""
    story.say(f"load {load}")
    now = timestamp(story.simulation.now - timedelta(seconds=draw.choice([0, 0, 20])))
    known = set(story.names("PodMetrics"))
    there = story.all("Pod")
    for name in sorted(known - {pod["metadata"]["name"] for pod in there}):
        story.delete("PodMetrics", name, told="")
    for pod in there:
        name = pod["metadata"]["name"]
        if draw.random() < gaps or pod["status"]["phase"] != "Running":
            continue
        usage = {"cpu": f"{load}m", "memory": f"{load * 3}Mi"} | ({"cpu": None} if draw.random() < gaps / 2 else {})
        usage = {resource: amount for resource, amount in usage.items() if amount is not None}
        body = {"timestamp": now, "window": "30s", "containers": [{"name": "main", "usage": usage}]}
        if name in known:
            story.patch("PodMetrics", name, body, told=f"measure {name}")
        else:
            meta = {"name": name, "labels": pod["metadata"]["labels"]}
            story.create({"apiVersion": "metrics.k8s.io/v1beta1", "kind": "PodMetrics", "metadata": meta, **body})


def play(number: int) -> str:
    draw = Random(f"autoscaler {number}")
    story = Story((CONTROLLER, DEPLOYMENTS, REPLICA_SETS), seed=number, silent=TOLD)
    if number % 8 != 7:
        story.create(METRICS_DEFINITION)
    story.create(FARM_DEFINITION)
    pods = template("web")
    requests = pods["spec"]["containers"][0]["resources"]
    requests["requests"] = {"cpu": "100m", "memory": "100Mi"} if draw.random() < 0.85 else {}
    story.create(deployment("web", draw.choice([1, 3, 5, 0]) or 0, pods=pods))
    story.create(autoscaler(**spec(draw)))
    kubelet = Kubelet(story, draw=draw)
    load = draw.choice([10, 50, 90])
    gaps = draw.choice([0, 0, 0.2])
    for step in range(16):
        for _ in range(2):
            story.run(1)
            kubelet.tick(start=0.9, unready=0.03, fail=0.01)
        if number % 8 != 7:
            measured(story, load, draw, gaps)
        story.run(draw.choice([15, 15, 30, 60, 150]))
        match draw.randrange(14):
            case 0 | 1 | 2 | 3:
                load = draw.choice([0, 5, 30, 50, 54, 80, 120, 400])
            case 4:
                story.patch("Deployment", "web", {"spec": {"replicas": draw.choice([0, 1, 4, 20])}})
            case 5:
                wanted = autoscaler(**spec(draw))["spec"]
                story.patch("HorizontalPodAutoscaler", "web", {"spec": wanted})
            case 6:
                some = anyone(story, draw, "Pod")
                if some is not None:
                    story.delete("Pod", some["metadata"]["name"])
            case 7 if step > 4:
                other = autoscaler("other", kind=draw.choice(["apps/v1 Deployment", "example.com/v1 Farm"]))
                other["spec"]["scaleTargetRef"]["name"] = "web"
                story.create(other)
            case 8:
                story.create(farm("web", 2, draw.choice(["app=web", "app=farm", ""])))
            case 9:
                target = draw.choice(
                    [("v1", "Pod"), ("apps/v1", "DaemonSet"), ("apps/v1", "StatefulSet"), ("x/v1", "Y")]
                )
                reference = {"apiVersion": target[0], "kind": target[1], "name": "web"}
                story.patch("HorizontalPodAutoscaler", "other", {"spec": {"scaleTargetRef": reference}})
    return story.text()


@pytest.mark.parametrize("number", range(16))
def test_a_drawn_autoscaler_goes_as_it_did(number: int) -> None:
    agrees("autoscalers", f"drawn {number}", play(number))
