"""Deployments in states that are drawn, and what is shown of each."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from mooring.kube.objects import Object
from mooring.runway.providers.deployment_kinds import deployment
from tests.support.golden import same_as_recorded

CASES: Final = 700
P: Final = "runway.mooring.dev/"
CONDITIONS: Final = ("ResourceReady", "InferenceReady", "WorkspaceSucceeded", "Available")
PHASES: Final = (
    "running", "Ready", "pending", "waiting", "creating", "deploying", "provisioning", "failed", "error", "terminating",
    "deleting", "other", "", None,
)  # fmt: skip
STATES: Final = ("Running", "Ready", "Succeeded", "Failed", "NotReady", "Pending", "", None)
IMAGES: Final = (
    "mcr.microsoft.com/aks/kaito/kaito-base:0.1.1",
    "mcr.microsoft.com/aks/kaito/kaito-base2:1",
    "ghcr.io/kaito-project/aikit/llama3.2:1b",
    "ghcr.io/kaito-project/aikit/none:1",
    "example.com/own:2",
    "",
)
ARGUMENTS: Final = (
    (),
    ("--model", "some/model", "--served-model-name", "short"),
    ("--served-model-name=named", "--model=other/model"),
    ("huggingface://org/repository/dir/file.gguf", "--address=:5000"),
    ("run", "--served-model-name"),
)


def drawn_pod(dice: random.Random, number: int) -> Object:
    waiting = dice.choice(("ImagePullBackOff", "ContainerCreating", "PodInitializing", "", None))
    state = {} if waiting is None else {"waiting": {"reason": waiting, "message": "no such image"}}
    container = {"restartCount": dice.choice((0, 3)), "state": state}
    conditions = [{"type": "Ready", "status": dice.choice(("True", "False"))}] if dice.random() < 0.8 else []
    if dice.random() < 0.3:
        reason = dice.choice(("Unschedulable", ""))
        conditions.append({"type": "PodScheduled", "status": dice.choice(("False", "True")), "reason": reason})
    status: Object = {"phase": dice.choice(("Running", "Pending", "Failed", "Succeeded", "")), "conditions": conditions}
    if dice.random() < 0.7:
        status[dice.choice(("containerStatuses", "initContainerStatuses"))] = [container]
    if dice.random() < 0.3:
        status |= {"reason": dice.choice(("Evicted", "")), "message": "the node was low on memory"}
    metadata = {"name": f"p{9 - number}", **({"deletionTimestamp": "now"} if dice.random() < 0.1 else {})}
    spec = {"nodeName": dice.choice(("n1", "", "n2"))}
    return {"metadata": metadata, **({"spec": spec} if dice.random() < 0.9 else {}), "status": status}


def _metadata(dice: random.Random) -> Object:
    labels = {
        f"{P}provider": dice.choice(("kaito", "")),
        f"{P}model-source": dice.choice(("vllm", "preset", "premade")),
    }
    found: Object = {"name": "llm", "labels": labels if dice.random() < 0.6 else None}
    if dice.random() < 0.5:
        found |= {"namespace": "team", "creationTimestamp": "2026-01-01T00:00:00Z"}
    if dice.random() < 0.3:
        found["annotations"] = {f"{P}model": "told/model"}
    if dice.random() < 0.07:
        found["deletionTimestamp"] = "2026-01-01T00:00:01Z"
    return found


def _conditions(dice: random.Random) -> list[Object]:
    reasons = ("workspacePending", "workspaceFailed", "")
    return [
        {
            "type": kind,
            "status": dice.choice(("True", "False", "Unknown")),
            "reason": dice.choice(reasons),
            "message": dice.choice((f"{kind} says why", "")),
        }
        for kind in dice.sample(CONDITIONS, dice.randint(0, 4))
    ]


def _container(dice: random.Random) -> Object:
    words = list(dice.choice(ARGUMENTS))
    return {"name": "model", "image": dice.choice(IMAGES), dice.choice(("args", "command", "args")): words}


def drawn_workspace(dice: random.Random) -> Object:
    status: Object = {"conditions": _conditions(dice)}
    if dice.random() < 0.5:
        status["phase"] = dice.choice(PHASES)
    if dice.random() < 0.4:
        status["state"] = dice.choice(STATES)
    if dice.random() < 0.5:
        status |= {"workerNodes": ["a", "b"][: dice.randint(0, 2)], "targetNodeCount": dice.choice((0, 1, 3))}
    served: Object = {"template": {"spec": {"containers": [_container(dice)]}}}
    if dice.random() < 0.3:
        served = {"preset": {"name": dice.choice(("phi-4", "unknown", ""))}}
    resource = {"count": dice.choice((None, 1, 2, 4))}
    parts = {"resource": resource, "inference": dice.choice((served, served, served, None)), "status": status}
    return {"kind": "Workspace", "metadata": _metadata(dice), **parts}


def drawn_groups(dice: random.Random) -> Object:
    spec = {
        "replicas": dice.choice((None, 0, 1, 3)),
        "leaderWorkerTemplate": {"leaderTemplate": {"spec": {"containers": [_container(dice)]}}},
    }
    status = {"readyReplicas": dice.choice((None, 0, 1, 2, 3)), "conditions": _conditions(dice)}
    made = {"kind": "LeaderWorkerSet", "metadata": _metadata(dice), "status": dice.choice((status, status, None))}
    return {**made, "spec": dice.choice((spec, spec, spec, {}))}


def shown(obj: Object, pods: Sequence[Object]) -> str:
    found: Any = msgspec.to_builtins(deployment(obj, pods, "usual"))
    return json.dumps({**found, "conditions": len(found["conditions"])}, indent=0, sort_keys=True)


def test_every_drawn_state_is_shown_as_recorded() -> None:
    found = {}
    for number in range(CASES):
        dice = random.Random(f"states/{number}")
        obj = drawn_workspace(dice) if number % 3 else drawn_groups(dice)
        pods = [drawn_pod(dice, each) for each in range(dice.choice((0, 0, 1, 2, 3)))]
        found[f"{number} {json.dumps([obj, pods], sort_keys=True)}"] = shown(obj, pods)
    same_as_recorded("runway-states", found)
