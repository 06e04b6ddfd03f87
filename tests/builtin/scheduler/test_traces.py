"""The scheduler in drawn stories: priorities, preemption, budgets, gates, affinity, backoff, and nodes that change."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from mooring.builtin.disruption import CONTROLLER as DISRUPTION
from mooring.builtin.scheduler.controller import CONTROLLER
from mooring.kube.objects import Object
from mooring.testing import node, pod
from mooring.testing.builders import taint, toleration
from mooring.testing.workloads import budget
from tests.support.traces.draws import anyone, chosen
from tests.support.traces.golden import agrees
from tests.support.traces.kubelet import Kubelet
from tests.support.traces.story import Story

HOST = "kubernetes.io/hostname"


def term(app: str) -> Object:
    return {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": HOST}


def waiting(draw: Random, name: str) -> Object:
    app = draw.choice(["a", "b", "c"])
    more: dict[str, Any] = chosen(draw, 0.15, nodeSelector={"disk": "ssd"}, hostNetwork=True)
    more |= chosen(draw, 0.15, schedulingGates=[[{"name": "example.com/wait"}]])
    match draw.randrange(9):
        case 0:
            more["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term(app)]}}
        case 1:
            other = draw.choice(["a", "b"])
            more["affinity"] = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term(other)]}}
        case 2:
            spread = {"maxSkew": 1, "topologyKey": HOST, "whenUnsatisfiable": "DoNotSchedule"}
            more["topologySpreadConstraints"] = [{**spread, "labelSelector": {"matchLabels": {"app": app}}}]
    made = pod(
        name, cpu=draw.choice(["1", "2", "3"]), labels={"app": app}, host_port=draw.choice([None, None, 80]), **more
    )
    made["spec"] |= chosen(draw, 0.6, priorityClassName=["high", "low", "polite"])
    if draw.random() < 0.2:
        made["spec"]["tolerations"] = [toleration("special=yes:NoSchedule")]
    return made


def priority_class(name: str, value: int, policy: str = "PreemptLowerPriority") -> Object:
    meta = {"name": name}
    return {
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": meta, "value": value,
        "preemptionPolicy": policy,
    }  # fmt: skip


def play(number: int) -> str:
    draw = Random(f"scheduler {number}")
    classes = (priority_class("high", 100), priority_class("low", 10), priority_class("polite", 200, "Never"))
    nodes = [
        node(f"n{each}", cpu=draw.choice(["3", "4"]), labels={"disk": draw.choice(["ssd", "hdd"])}) for each in range(3)
    ]
    story = Story((CONTROLLER, DISRUPTION), *classes, seed=number)
    for each in nodes:
        story.add_node(each)
    kubelet = Kubelet(story, draw=draw)
    for app in "ab":
        story.create(budget(app, app, minAvailable=draw.choice([0, 1, 2])))
    for step in range(16):
        for number_here in range(draw.choice([0, 1, 1, 3])):
            story.create(waiting(draw, f"p{step}-{number_here}"))
        story.run(draw.choice([0, 1, 1, 4, 12]))
        for found in kubelet.pods():
            name = found["metadata"]["name"]
            if "deletionTimestamp" in found["metadata"]:
                if draw.random() < 0.6:
                    kubelet.remove(found)
            elif found["spec"].get("nodeName") and found["status"]["phase"] == "Pending":
                kubelet.start(name, ready=draw.random() < 0.9)
            elif found["status"]["phase"] == "Running" and draw.random() < 0.06:
                kubelet.end(name, 0)
        some, where = anyone(story, draw, "Pod"), draw.choice(story.names("Node"))
        match draw.randrange(12):
            case 0 | 1 if some is not None:
                story.delete("Pod", some["metadata"]["name"])
            case 2:
                story.patch("Node", where, {"spec": {"unschedulable": draw.choice([True, None])}})
            case 3:
                story.patch("Node", where, {"metadata": {"labels": {"disk": draw.choice(["ssd", "hdd"])}}})
            case 4:
                story.add_node(node(f"m{step}", cpu="2"))
            case 5 if len(story.names("Node")) > 2:
                story.delete("Node", where)
            case 6 | 7 | 8:
                for found in kubelet.pods():
                    if found["spec"].get("schedulingGates"):
                        story.patch("Pod", found["metadata"]["name"], {"spec": {"schedulingGates": None}})
                        break
            case 9:
                story.patch("Node", where, {"spec": {"taints": [taint("special=yes:NoSchedule")]}})
            case 10:
                story.patch("Node", where, {"spec": {"taints": None}})
            case 11 if some is not None:
                story.patch(
                    "Pod", some["metadata"]["name"], {"metadata": {"labels": {"app": draw.choice(["a", "b", "c"])}}}
                )
        story.run(1)
    story.run(30)
    return story.text()


@pytest.mark.parametrize("number", range(14))
def test_a_drawn_cluster_is_scheduled_as_it_was(number: int) -> None:
    agrees("scheduler", f"drawn {number}", play(number))
