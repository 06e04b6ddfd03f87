"""Claims to devices in drawn stories: made from templates, given devices, shared, given back and outlived."""

from __future__ import annotations

from random import Random

import pytest

from mooring.builtin.resourceclaim.generation import CONTROLLER as GENERATION
from mooring.builtin.resourceclaim.release import CONTROLLER as RELEASE
from mooring.builtin.scheduler.controller import CONTROLLER as SCHEDULER
from mooring.testing import node
from mooring.testing.devices import (
    claiming_pod,
    device_class,
    resource_claim,
    resource_claim_template,
    resource_slice,
)
from tests.builtin.town import GARBAGE
from tests.support.traces.draws import anyone
from tests.support.traces.golden import agrees
from tests.support.traces.kubelet import Kubelet
from tests.support.traces.story import Story


def play(number: int) -> str:
    draw = Random(f"devices {number}")
    objects = (
        device_class(),
        resource_slice("n0", "gpu-0", "gpu-1"),
        resource_slice("n1", "gpu-0"),
        resource_claim("shared"),
        resource_claim_template(),
    )
    story = Story((SCHEDULER, GENERATION, RELEASE, GARBAGE), *objects, seed=number)
    for each in range(3):
        story.add_node(node(f"n{each}", cpu="3"))
    kubelet = Kubelet(story, draw=draw)
    for step in range(18):
        match draw.randrange(12):
            case 0 | 1 | 2:
                made = claiming_pod(f"p{step}", cpu="1")
                if draw.random() < 0.3:
                    made["spec"]["resourceClaims"].append({"name": "more", "resourceClaimTemplateName": "one-gpu"})
                story.create(made)
            case 3 | 4:
                story.create(claiming_pod(f"p{step}", claim="shared", cpu="1"))
            case 5:
                story.create(claiming_pod(f"p{step}", template="late", cpu="1"))
            case 6:
                story.create(resource_claim_template("late"))
            case 7:
                story.create(resource_slice(draw.choice(["n1", "n2"]), f"gpu-{step}", name=f"more-{step}"))
            case 8 | 9:
                found = anyone(story, draw, "Pod")
                if found is not None:
                    story.delete("Pod", found["metadata"]["name"])
            case 10:
                found = anyone(story, draw, "ResourceClaim")
                if found is not None:
                    story.delete("ResourceClaim", found["metadata"]["name"])
            case 11:
                story.create(resource_claim("shared"))
        story.run(draw.choice([0, 1, 5, 12]))
        for pod in kubelet.pods():
            if "deletionTimestamp" in pod["metadata"]:
                kubelet.remove(pod)
            elif pod["spec"].get("nodeName") and pod["status"]["phase"] == "Pending":
                kubelet.start(pod["metadata"]["name"])
            elif pod["status"]["phase"] == "Running" and draw.random() < 0.2:
                kubelet.end(pod["metadata"]["name"], draw.choice([0, 1]))
    story.run(30)
    return story.text()


@pytest.mark.parametrize("number", range(10))
def test_drawn_claims_go_as_they_did(number: int) -> None:
    agrees("devices", f"drawn {number}", play(number))
