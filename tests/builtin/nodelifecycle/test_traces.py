"""Nodes in drawn stories: they fall silent, report trouble, come back, are tainted and removed, and pods follow."""

from __future__ import annotations

from random import Random

import pytest

from mooring.builtin.nodelifecycle import ipam, outages, pod_gc, taint_eviction
from mooring.builtin.nodelifecycle.controller import CONTROLLER
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.drivers.simulation import START
from mooring.testing import node, pod
from mooring.testing.builders import taint
from tests.support.traces.draws import anyone, chosen
from tests.support.traces.golden import agrees
from tests.support.traces.kubelet import Kubelet
from tests.support.traces.story import Story

CONTROLLERS = (CONTROLLER, outages.CONTROLLER, taint_eviction.CONTROLLER, pod_gc.CONTROLLER, ipam.CONTROLLER)
KINDS = ("MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")
OUTAGES = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def renew(story: Story, name: str) -> None:
    now = timestamp(story.simulation.now).replace("Z", ".000000Z")
    spec = {"holderIdentity": name, "renewTime": now, "leaseDurationSeconds": 40}
    if story.get("Lease", name, "kube-node-lease") is None:
        meta = {"name": name, "namespace": "kube-node-lease"}
        story.create({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta, "spec": spec})
    else:
        story.patch("Lease", name, {"spec": spec}, namespace="kube-node-lease", told=f"{name} is alive")


def report(story: Story, name: str, ready: str, *trouble: str) -> None:
    now = timestamp(story.simulation.now)
    said = {"Ready": ready} | {kind: "True" if kind in trouble else "False" for kind in KINDS}
    conditions = [
        {"type": kind, "status": status, "reason": "Said", "lastTransitionTime": now, "lastHeartbeatTime": now}
        for kind, status in said.items()
    ]
    story.patch("Node", name, {"status": {"conditions": conditions}}, "status", told=f"{name} is {ready} {trouble}")


def tolerating(draw: Random, name: str, where: str) -> Object:
    found = []
    for key in draw.sample([*OUTAGES, "special"], draw.randrange(3)):
        seconds = chosen(draw, 0.8, tolerationSeconds=[0, 5, 60, -3])
        found.append({"key": key, "operator": "Exists", "effect": "NoExecute", **seconds})
    made = pod(name, node=where)
    # Every pod gets tolerations of outages for five minutes, unless it brings its own.
    made["spec"]["tolerations"] = found
    return made


def play(number: int) -> str:
    draw = Random(f"nodes {number}")
    names = [f"n{each}" for each in range(draw.choice([1, 2, 4, 6]))]
    story = Story(CONTROLLERS, seed=number, silent=())
    for each in names:
        made = node(each, zone=draw.choice(["z0", "z0", "z1"]))
        made["metadata"]["labels"] |= chosen(draw, 0.15, **{"node.kubernetes.io/exclude-disruption": "yes"})
        story.create(made)
        if draw.random() < 0.8:
            renew(story, each)
            report(story, each, "True")
    for one in range(draw.randrange(2, 8)):
        where = draw.choice([*names, "never"])
        story.create(tolerating(draw, f"p{one}", where))
    kubelet = Kubelet(story, draw=draw)
    silent: set[str] = set()
    for step in range(14):
        for _ in range(draw.randrange(1, 6)):
            for each in sorted({*names} & {*story.names("Node")}):
                if each not in silent:
                    renew(story, each)
            story.run(draw.choice([9, 9, 27]))
            for found in kubelet.pods():
                if found["status"]["phase"] == "Pending" and found["spec"].get("nodeName"):
                    kubelet.start(found["metadata"]["name"])
                elif "deletionTimestamp" in found["metadata"] and draw.random() < 0.5:
                    kubelet.remove(found)
        some = draw.choice(names)
        here = story.get("Node", some) is not None
        match draw.randrange(16):
            case 0 | 1 | 2:
                silent.add(some)
            case 3 | 4 if here:
                silent.discard(some)
                report(story, some, "True")
            case 5 | 6 if here:
                report(
                    story,
                    some,
                    draw.choice(["True", "False", "False", "Unknown"]),
                    *draw.sample(KINDS, draw.randrange(3)),
                )
            case 7:
                silent |= set(names)
            case 8 if here and len(names) > 1:
                story.delete("Node", some)
            case 9 | 10 if here:
                tainted = [taint(draw.choice(["special=1:NoExecute", "special=2:NoExecute", "special:NoSchedule"]))]
                if draw.random() < 0.3:
                    tainted[0]["timeAdded"] = timestamp(START)
                story.patch("Node", some, {"spec": {"taints": tainted}})
            case 11 if here:
                story.patch("Node", some, {"spec": {"taints": None, "unschedulable": draw.choice([True, None])}})
            case 12:
                story.create(tolerating(draw, f"q{step}", draw.choice([*names, "never"])))
            case 13:
                chosen_one = anyone(story, draw, "Pod")
                if chosen_one is not None and chosen_one["status"]["phase"] == "Running":
                    kubelet.end(chosen_one["metadata"]["name"], draw.choice([0, 1]))
            case 14 if not here:
                story.create(node(some))
            case 15:
                chosen_one = anyone(story, draw, "Pod")
                if chosen_one is not None:
                    story.delete("Pod", chosen_one["metadata"]["name"])
        story.run(1)
    story.run(400)
    return story.text()


@pytest.mark.parametrize("number", range(14))
def test_a_drawn_fleet_goes_as_it_did(number: int) -> None:
    agrees("nodes", f"drawn {number}", play(number))


def test_most_of_a_large_zone_is_lost_as_it_was() -> None:
    """More than fifty nodes, of which most fall silent: they are given up slowly; a small zone is left alone."""
    names = [f"n{each:02}" for each in range(60)]
    large, small = names[:52], names[52:]
    zones = {each: "z0" if each in large else "z1" for each in names}
    story = Story((CONTROLLER, outages.CONTROLLER), *(node(each, zone=zones[each]) for each in names), silent=())
    for each in names:
        renew(story, each)
        report(story, each, "True")
    well = {*large[:20], *small[:2]}
    for _ in range(12):
        story.run(30)
        for each in sorted(well):
            renew(story, each)
    agrees("nodes", "a large zone", story.text())
