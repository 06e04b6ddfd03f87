"""Builders of NotebookValidationJobs, of what their runners write, and of how their pods look to a kubelet."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from mooring.features.notebooks.api.names import API_VERSION, KIND
from mooring.features.notebooks.validation_pod.names import CLONE, VALIDATOR
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.notebook_runner.frames import RESULT, encode
from mooring.testing.builders import toleration

__all__ = [
    "clone_failed_status",
    "not_started_status",
    "notebook_job",
    "run_log",
    "run_result",
    "running_status",
    "validator_ended_status",
]


def notebook_job(
    name: str = "train",
    *,
    namespace: str = "default",
    path: str = "notebooks/train.ipynb",
    url: str = "https://git.example.com/team/notebooks.git",
    ref: str = "main",
    secret: str = "",
    golden: str = "",
    image: str = "registry.example.com/notebooks:1",
    cpu: str = "",
    gpu: int = 0,
    timeout: str = "",
    tolerations: Iterable[str | Object] = (),
    selector: Mapping[str, str] | None = None,
    affinity: Object | None = None,
    annotations: Mapping[str, str] | None = None,
    pod: Mapping[str, Any] | None = None,
    **spec: Any,
) -> Object:
    """A job for one notebook. `tolerations` are objects, or taints as kubectl writes them.

    `golden` is the path of a golden notebook in the same repository, `pod` goes into the podConfig, and what is left
    over into the spec.
    """
    git: Object = {"url": url, "ref": ref} | ({"credentialsSecret": secret} if secret else {})
    config: Object = {"containerImage": image}
    limits = {"nvidia.com/gpu": str(gpu)} if gpu else {}
    if cpu or limits:
        config["resources"] = {"requests": {"cpu": cpu} if cpu else {}, "limits": limits}
    if tolerations:
        config["tolerations"] = [toleration(each) if isinstance(each, str) else each for each in tolerations]
    if selector:
        config["nodeSelector"] = dict(selector)
    if affinity is not None:
        config["affinity"] = affinity
    body: Object = {"notebook": {"git": git, "path": path}, "podConfig": {**config, **(pod or {})}, **spec}
    if golden:
        body["goldenNotebook"] = {"git": git, "path": golden}
    if timeout:
        body["timeout"] = timeout
    metadata: Object = {"name": name, "namespace": namespace}
    if annotations:
        metadata["annotations"] = dict(annotations)
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": body}


def run_result(
    outcome: str = "Passed",
    reason: str = "ValidationComplete",
    message: str = "3 of 3 cells passed",
    *,
    cells: Iterable[str] = ("Success", "Success", "Skipped"),
    **parts: Any,
) -> Object:
    """What a runner found; `cells` are their statuses, and `parts` other fields of the result."""
    results = [{"cellIndex": index, "status": status} for index, status in enumerate(cells)]
    return {"format": 1, "outcome": outcome, "reason": reason, "message": message, "results": results, **parts}


def run_log(result: Object | None = None) -> str:
    """The log of a runner that reported."""
    payload = json.dumps(run_result() if result is None else result).encode()
    return f"cell 0 ...\n{encode(RESULT, payload)}"


def running_status(now: datetime) -> Object:
    """A pod whose repositories are cloned and whose notebook runs."""
    running = {"running": {"startedAt": timestamp(now)}}
    return {
        "phase": "Running",
        "startTime": timestamp(now),
        "initContainerStatuses": [_cloned(CLONE, now)],
        "containerStatuses": [_container(VALIDATOR, running)],
    }


def not_started_status(now: datetime, reason: str, message: str = "registry.example.com says no") -> Object:
    """A pod whose notebook does not start, such as for `ImagePullBackOff`."""
    waiting = {"waiting": {"reason": reason, "message": message}}
    return {**running_status(now), "phase": "Pending", "containerStatuses": [_container(VALIDATOR, waiting)]}


def validator_ended_status(now: datetime, exit_code: int = 0, **state: Any) -> Object:
    """A pod whose runner ended; `state` is more of how, such as `reason="OOMKilled"`."""
    ended = {"exitCode": exit_code, "startedAt": timestamp(now), "finishedAt": timestamp(now), **state}
    return {
        "phase": "Failed" if exit_code else "Succeeded",
        "startTime": timestamp(now),
        "initContainerStatuses": [_cloned(CLONE, now)],
        "containerStatuses": [_container(VALIDATOR, {"terminated": ended})],
    }


def clone_failed_status(now: datetime, exit_code: int, message: str = "") -> Object:
    """A pod whose clone ended with a code of clone.sh, and what it wrote into its termination message."""
    ended = {"exitCode": exit_code, "startedAt": timestamp(now), "finishedAt": timestamp(now), "message": message}
    return {
        "phase": "Failed",
        "startTime": timestamp(now),
        "initContainerStatuses": [_container(CLONE, {"terminated": ended})],
        "containerStatuses": [_container(VALIDATOR, {"waiting": {"reason": "PodInitializing"}})],
    }


def _cloned(name: str, now: datetime) -> Object:
    ended = {"exitCode": 0, "startedAt": timestamp(now), "finishedAt": timestamp(now), "reason": "Completed"}
    return _container(name, {"terminated": ended})


def _container(name: str, state: Object) -> Object:
    return {"name": name, "image": "x", "imageID": "x", "ready": False, "restartCount": 0, "state": state}
