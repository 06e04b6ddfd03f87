"""DaemonSets in drawn stories: nodes come, go and are tainted, pods fail, and templates change."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from mooring.builtin.apps.daemonset.controller import CONTROLLER
from mooring.kube.objects import Object
from mooring.testing import node, pod
from mooring.testing.builders import taint, toleration
from mooring.testing.workloads import daemon_set, template
from tests.builtin.town import GARBAGE
from tests.support.traces.draws import anyone, chosen, toggle_quota
from tests.support.traces.golden import agrees
from tests.support.traces.kubelet import Kubelet
from tests.support.traces.story import Story

TAINTS = ("special=yes:NoSchedule", "special=yes:NoExecute", "special=no:PreferNoSchedule")
AMOUNTS = (0, 1, 2, "30%", "50%", "100%")


def strategy(draw: Random) -> Object:
    if draw.random() < 0.2:
        return {"type": "OnDelete", "rollingUpdate": None}
    surge = draw.choice(AMOUNTS) if draw.random() < 0.4 else 0
    unavailable = draw.choice(AMOUNTS[1:]) if surge == 0 else 0
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


def pods(draw: Random, version: int = 1) -> Object:
    more: dict[str, Any] = {}
    if draw.random() < 0.3:
        more["tolerations"] = [toleration(draw.choice(TAINTS))]
    if draw.random() < 0.25:
        more["nodeSelector"] = {"disk": "ssd"}
    if draw.random() < 0.2:
        expression = {"key": "kubernetes.io/hostname", "operator": draw.choice(["In", "NotIn"]), "values": ["n1", "n2"]}
        terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
        more["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    more |= chosen(draw, 0.15, hostNetwork=True)
    return template("agent", version=version, **more)


def disturb(story: Story, draw: Random, kubelet: Kubelet, step: int) -> None:
    some = anyone(story, draw, "Pod")
    name = some["metadata"]["name"] if some else ""
    where = draw.choice(story.names("Node"))
    match draw.randrange(16):
        case 0 | 1 | 2:
            new = pods(draw, draw.randrange(1, step + 2))
            story.patch("DaemonSet", "agent", {"spec": {"template": new}})
        case 3:
            story.create(node(f"m{step}", labels={"disk": draw.choice(["ssd", "hdd"])}))
        case 4 if len(story.names("Node")) > 1:
            story.delete("Node", where)
        case 5 | 6:
            story.patch("Node", where, {"spec": {"taints": [taint(draw.choice(TAINTS))]}})
        case 7:
            story.patch("Node", where, {"spec": {"taints": None, "unschedulable": draw.choice([True, None])}})
        case 8:
            story.patch("Node", where, {"metadata": {"labels": {"disk": draw.choice(["ssd", "hdd"])}}})
        case 9:
            story.patch("DaemonSet", "agent", {"spec": {"updateStrategy": strategy(draw)}})
        case 10 if name:
            story.delete("Pod", name)
        case 11 if name:
            story.patch("Pod", name, {"metadata": {"labels": {"app": draw.choice(["agent", "other"])}}})
        case 12:
            toggle_quota(story, draw)
        case 13:
            story.patch("DaemonSet", "agent", {"spec": {"minReadySeconds": draw.choice([0, 5])}})
        case 14 if some is not None and some["status"]["phase"] == "Running":
            kubelet.end(name, 1, reason=draw.choice(["Evicted", "", "NodeAffinity"]))
        case 15:
            story.create(pod(f"stray-{step}", labels={"app": "agent"}, node=where))


def play(number: int) -> str:
    draw = Random(f"daemon set {number}")
    nodes = [node(f"n{n}", labels={"disk": draw.choice(["ssd", "hdd"])}) for n in range(draw.randrange(2, 5))]
    more = chosen(draw, 0.4, minReadySeconds=[2, 8], revisionHistoryLimit=[0, 1, 2])
    made = daemon_set("agent", pods=pods(draw), updateStrategy=strategy(draw), **more)
    story = Story((CONTROLLER, GARBAGE), *nodes, made, seed=number)
    kubelet = Kubelet(story, draw=draw)
    for step in range(11):
        for _ in range(draw.randrange(1, 6)):
            story.run(1)
            settle(story, kubelet)
        story.run(draw.choice([1, 5, 70]))
        disturb(story, draw, kubelet, step)
        story.run(1)
    way = draw.choice(["Foreground", "Background", "Orphan", "Orphan"])
    story.delete("DaemonSet", "agent", propagation=way)
    story.run(1)
    kubelet.tick()
    story.run(5)
    if way == "Orphan":
        # What is left belongs to the next one of that name, whether or not its history is.
        for revision in story.names("ControllerRevision")[: draw.randrange(3)]:
            story.delete("ControllerRevision", revision)
        story.create(daemon_set("agent", pods=pods(draw)))
        story.run(5)
        kubelet.tick()
        story.run(5)
    return story.text()


def settle(story: Story, kubelet: Kubelet) -> None:
    """Bind each pod to the node that it is made for, and let them go one step on."""
    for found in kubelet.pods():
        affinity = found["spec"].get("affinity", {}).get("nodeAffinity", {})
        terms = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms", [])
        names = [field["values"][0] for term in terms for field in term.get("matchFields", ())]
        if names and names[0] in story.names("Node") and "deletionTimestamp" not in found["metadata"]:
            kubelet.bind(found, names[0])
    kubelet.tick(start=0.8, fail=0.06, unready=0.05)


@pytest.mark.parametrize("number", range(18))
def test_a_drawn_set_goes_as_it_did(number: int) -> None:
    agrees("daemon-sets", f"drawn {number}", play(number))
