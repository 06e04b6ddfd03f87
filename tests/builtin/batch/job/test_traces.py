"""Jobs in drawn stories: policies about failures, indexes, limits, suspension, deadlines, and pods that are no more."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from mooring.builtin.batch.job.controller import CONTROLLER
from mooring.builtin.batch.job.orphans import CONTROLLER as ORPHANS
from mooring.kube.objects import Object
from mooring.testing import pod
from mooring.testing.workloads import job, template
from tests.builtin.town import GARBAGE
from tests.support.traces.draws import anyone, chosen, toggle_quota
from tests.support.traces.golden import agrees
from tests.support.traces.kubelet import Kubelet
from tests.support.traces.story import Story

LOST: Object = {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}


def rules(draw: Random, *, indexed: bool) -> Object:
    """A policy about failed pods."""
    actions = ["Ignore", "Count", "FailJob", *(["FailIndex"] if indexed else [])]
    found: list[Object] = []
    for _ in range(draw.randrange(1, 4)):
        action = draw.choice(actions)
        if draw.random() < 0.4:
            found.append({"action": action, "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]})
            continue
        codes: Object = {"operator": draw.choice(["In", "NotIn"]), "values": draw.choice([[1], [3, 137], [1, 3]])}
        found.append({"action": action, "onExitCodes": codes | chosen(draw, 0.3, containerName="main")})
    return {"rules": found}


def spec(draw: Random) -> dict[str, Any]:
    indexed = draw.random() < 0.5
    found: dict[str, Any] = {"parallelism": draw.randrange(5)}
    if indexed or draw.random() < 0.7:
        found["completions"] = draw.randrange(1, 6)
    found |= chosen(draw, 0.5, backoffLimit=[0, 1, 3])
    found |= chosen(draw, 0.2, activeDeadlineSeconds=[15, 60], suspend=True)
    found |= chosen(draw, 0.4, ttlSecondsAfterFinished=[0, 30])
    if draw.random() < 0.45:
        found["podFailurePolicy"] = rules(draw, indexed=indexed)
    if draw.random() < 0.4:
        found["podReplacementPolicy"] = (
            "Failed" if "podFailurePolicy" in found else draw.choice(["Failed", "TerminatingOrFailed"])
        )
    if indexed:
        found["completionMode"] = "Indexed"
        if draw.random() < 0.5:
            found["backoffLimitPerIndex"] = draw.randrange(3)
            found |= chosen(draw, 0.5, maxFailedIndexes=[0, 1, 2])
        elif any(rule["action"] == "FailIndex" for rule in found.get("podFailurePolicy", {}).get("rules", ())):
            del found["podFailurePolicy"]
        if draw.random() < 0.5:
            some = chosen(draw, 0.6, succeededCount=[1, 2], succeededIndexes=["0", "0-1", "1,3"])
            some = {k: v for k, v in some.items() if k != "succeededCount" or v <= found["completions"]}
            found["successPolicy"] = {"rules": [some or {"succeededIndexes": "0"}]}
    return found


def disturb(story: Story, draw: Random, kubelet: Kubelet, step: int) -> None:
    some = anyone(story, draw, "Pod")
    name = some["metadata"]["name"] if some else ""
    match draw.randrange(12):
        case 0 | 1:
            story.patch("Job", "train", {"spec": {"parallelism": draw.randrange(5)}})
        case 2:
            story.patch("Job", "train", {"spec": {"suspend": draw.choice([True, False])}})
        case 3 if name:
            story.delete("Pod", name)
        case 4 if name:
            story.delete("Pod", name, grace=0)
        case 5 if some is not None and some["status"]["phase"] == "Running":
            kubelet.end(name, 137, reason="Evicted", conditions=(LOST,))
        case 6:
            toggle_quota(story, draw)
        case 7 if name:
            story.patch(
                "Pod", name, {"metadata": {"labels": {"batch.kubernetes.io/controller-uid": draw.choice(["x", None])}}}
            )
        case 8:
            story.patch("Job", "train", {"spec": {"activeDeadlineSeconds": draw.choice([20, 300])}})
        case 9 if name:
            story.patch("Pod", name, {"metadata": {"finalizers": None}})
        case 10 if some is not None:
            # A pod of nobody, with the labels of one of the Job's.
            stray = pod(f"stray-{step}", labels=some["metadata"]["labels"], restartPolicy="Never")
            stray["metadata"]["annotations"] = {
                "batch.kubernetes.io/job-completion-index": draw.choice(["0", "7", "x"])
            }
            story.create(stray)
        case 11:
            story.patch("Job", "train", {"spec": {"completions": draw.randrange(1, 6)}})


def play(number: int) -> str:
    draw = Random(f"job {number}")
    made = job("train", pods=template("train"), **spec(draw))
    if number % 12 == 11:
        made["spec"]["managedBy"] = "example.com/another"
    story = Story((CONTROLLER, ORPHANS, GARBAGE), made, seed=number)
    kubelet = Kubelet(story, draw=draw)
    failing = draw.choice([0.05, 0.2, 0.4])
    for step in range(12):
        for _ in range(draw.randrange(1, 4)):
            story.run(1)
            kubelet.tick(start=0.8, fail=failing, succeed=0.2, unready=0.1)
        story.run(draw.choice([1, 5, 11, 45]))
        disturb(story, draw, kubelet, step)
        story.run(1)
        if step == 9 and draw.random() < 0.5:
            story.delete("Job", "train", propagation=draw.choice(["Foreground", "Background", "Orphan", None]))
    story.run(40)
    kubelet.tick()
    story.run(700)
    return story.text()


@pytest.mark.parametrize("number", range(30))
def test_a_drawn_job_goes_as_it_did(number: int) -> None:
    agrees("jobs", f"drawn {number}", play(number))
