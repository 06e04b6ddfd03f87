"""StatefulSets in drawn stories: in order and in parallel, rollouts with partitions, and what becomes of claims."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from mooring.builtin.apps.statefulset.controller import CONTROLLER
from mooring.kube.objects import Object
from mooring.testing.workloads import claim_template, stateful_set, template
from tests.builtin.town import GARBAGE
from tests.support.traces.draws import anyone, chosen, toggle_quota
from tests.support.traces.golden import agrees
from tests.support.traces.kubelet import Kubelet
from tests.support.traces.story import Story

WHEN = ("Retain", "Delete")


def strategy(draw: Random) -> Object:
    if draw.random() < 0.2:
        return {"type": "OnDelete", "rollingUpdate": None}
    rolling = chosen(draw, 0.5, partition=[0, 1, 2, 9], maxUnavailable=[1, 2, 3, "50%", "10%"])
    return {"type": "RollingUpdate", "rollingUpdate": rolling or None}


def spec(draw: Random) -> dict[str, Any]:
    found: dict[str, Any] = {"updateStrategy": strategy(draw)}
    found |= chosen(draw, 0.4, podManagementPolicy="Parallel", minReadySeconds=[2, 8], revisionHistoryLimit=[0, 1])
    found |= chosen(draw, 0.3, ordinals={"start": 2})
    if draw.random() < 0.6:
        found["volumeClaimTemplates"] = [claim_template("data")]
    if draw.random() < 0.5:
        found["persistentVolumeClaimRetentionPolicy"] = retention(draw)
    return found


def retention(draw: Random) -> Object:
    return {"whenDeleted": draw.choice(WHEN), "whenScaled": draw.choice(WHEN)}


def disturb(story: Story, draw: Random, step: int) -> None:
    some = anyone(story, draw, "Pod")
    name = some["metadata"]["name"] if some else ""
    match draw.randrange(15):
        case 0 | 1 | 2:
            story.patch("StatefulSet", "db", {"spec": {"replicas": draw.randrange(6)}})
        case 3 | 4 | 5:
            version = draw.randrange(1, step + 2)
            story.patch("StatefulSet", "db", {"spec": {"template": template("db", version=version)}})
        case 6:
            story.patch("StatefulSet", "db", {"spec": {"updateStrategy": strategy(draw)}})
        case 7:
            story.patch("StatefulSet", "db", {"spec": {"persistentVolumeClaimRetentionPolicy": retention(draw)}})
        case 8 | 9 if name:
            story.delete("Pod", name)
        case 10 if name:
            story.patch("Pod", name, {"metadata": {"labels": {"app": draw.choice(["db", "other"])}}})
        case 11:
            toggle_quota(story, draw, draw.choice(["pods", "persistentvolumeclaims"]))
        case 12:
            story.patch("StatefulSet", "db", {"spec": {"minReadySeconds": draw.choice([0, 4])}})
        case 13:
            story.patch("StatefulSet", "db", {"spec": {"ordinals": {"start": draw.randrange(3)}}})
        case 14:
            for claim in story.names("PersistentVolumeClaim")[:1]:
                story.delete("PersistentVolumeClaim", claim)


def play(number: int) -> str:
    draw = Random(f"stateful set {number}")
    story = Story((CONTROLLER, GARBAGE), stateful_set("db", draw.randrange(1, 5), **spec(draw)), seed=number)
    kubelet = Kubelet(story, draw=draw)
    for step in range(10):
        for _ in range(draw.randrange(1, 6)):
            story.run(1)
            kubelet.tick(start=0.8, fail=0.04, succeed=0.02, unready=0.05)
        story.run(draw.choice([1, 5, 30]))
        disturb(story, draw, step)
        story.run(1)
    way = draw.choice(["Foreground", "Background", "Orphan", "Orphan"])
    story.delete("StatefulSet", "db", propagation=way)
    story.run(1)
    kubelet.tick()
    story.run(5)
    if way == "Orphan":
        # What is left belongs to the next one of that name, whether or not its history is.
        for revision in story.names("ControllerRevision")[: draw.randrange(3)]:
            story.delete("ControllerRevision", revision)
        more = chosen(draw, 0.5, podManagementPolicy="Parallel")
        story.create(stateful_set("db", 2, **more))
        story.run(5)
        kubelet.tick()
        story.run(5)
    return story.text()


@pytest.mark.parametrize("number", range(18))
def test_a_drawn_set_goes_as_it_did(number: int) -> None:
    agrees("stateful-sets", f"drawn {number}", play(number))
