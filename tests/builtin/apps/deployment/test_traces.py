"""Deployments in drawn stories: rollouts, pauses, rollbacks, changes of size, and pods that come up or do not."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from mooring.builtin.apps.deployment.controller import CONTROLLER as DEPLOYMENTS
from mooring.builtin.apps.replicaset.controller import CONTROLLER as REPLICA_SETS
from mooring.kube.objects import Object
from mooring.testing.workloads import deployment, template
from tests.builtin.town import GARBAGE
from tests.support.traces.golden import agrees
from tests.support.traces.kubelet import Kubelet
from tests.support.traces.story import Story

AMOUNTS = (0, 1, 2, 3, "25%", "30%", "50%", "100%")
CONTROLLERS = (DEPLOYMENTS, REPLICA_SETS, GARBAGE)


def strategy(draw: Random) -> Object:
    if draw.random() < 0.25:
        return {"type": "Recreate", "rollingUpdate": None}
    surge, unavailable = draw.choice(AMOUNTS), draw.choice(AMOUNTS)
    if {surge, unavailable} <= {0}:
        surge = 1
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


def spec(draw: Random) -> dict[str, Any]:
    found: dict[str, Any] = {"strategy": strategy(draw)}
    if draw.random() < 0.4:
        found["revisionHistoryLimit"] = draw.randrange(3)
    if draw.random() < 0.4:
        found["minReadySeconds"] = draw.choice([2, 5])
    if draw.random() < 0.7:
        found["progressDeadlineSeconds"] = draw.choice([10, 30, 2147483647])
    if draw.random() < 0.15:
        found["paused"] = True
    return found


def play(number: int) -> str:
    draw = Random(f"deployment {number}")
    story = Story(CONTROLLERS, deployment("web", draw.randrange(7), **spec(draw)), seed=number)
    kubelet = Kubelet(story, draw=draw)
    version = 1
    for _ in range(9):
        for _ in range(draw.randrange(1, 6)):
            story.run(1)
            kubelet.tick(start=0.6, fail=0.03, unready=0.05)
        story.run(draw.choice([1, 3, 12, 40]))
        match draw.randrange(14):
            case 0 | 1 | 2:
                version += 1
                new = template("web", version=version)
                story.patch("Deployment", "web", {"spec": {"template": new}})
            case 3:
                new = template("web", version=draw.randrange(1, version + 1))
                story.patch("Deployment", "web", {"spec": {"template": new}})
            case 4 | 5:
                story.patch("Deployment", "web", {"spec": {"replicas": draw.randrange(8)}})
            case 6:
                story.patch("Deployment", "web", {"spec": {"paused": True}})
            case 7:
                story.patch("Deployment", "web", {"spec": {"paused": None}})
            case 8:
                story.patch("Deployment", "web", {"spec": {"strategy": strategy(draw)}})
            case 9:
                story.patch("Deployment", "web", {"metadata": {"annotations": {"owner": f"team-{draw.randrange(3)}"}}})
            case 10:
                limit = draw.randrange(2)
                story.patch("Deployment", "web", {"spec": {"revisionHistoryLimit": limit, "minReadySeconds": limit}})
            case 11:
                hard = {"pods": str(draw.randrange(1, 5))}
                if story.get("ResourceQuota", "few") is None:
                    meta = {"name": "few"}
                    story.create(
                        {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": {"hard": hard}}
                    )
                else:
                    story.delete("ResourceQuota", "few")
            case 12:
                for name in story.names("ReplicaSet")[:1]:
                    story.patch("ReplicaSet", name, {"metadata": {"labels": {"app": draw.choice(["web", "other"])}}})
            case 13:
                for name in story.names("Pod")[:1]:
                    story.delete("Pod", name)
        story.run(1)
    ending = draw.choice(["Foreground", "Background", "Orphan"])
    story.delete("Deployment", "web", propagation=ending)
    story.run(1)
    kubelet.tick()
    story.run(5)
    return story.text()


@pytest.mark.parametrize("number", range(16))
def test_a_drawn_deployment_goes_as_it_did(number: int) -> None:
    agrees("deployments", f"drawn {number}", play(number))
