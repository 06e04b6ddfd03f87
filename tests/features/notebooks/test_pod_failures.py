"""Why pods fail, and whether another one could do better: each end of a pod as a kubelet reports it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mooring.features.notebooks.kinds import ValidationPod
from mooring.features.notebooks.pods.failures import find_failure, reported_end
from mooring.kube.objects import Object
from mooring.runtime.drivers.simulation import START
from mooring.testing.notebooks import clone_failed_status, not_started_status, running_status, validator_ended_status


def pod(status: Object) -> ValidationPod:
    return msgspec.convert({"metadata": {"name": "train-validation"}, "status": status}, ValidationPod)


def ended(code: int, **state: Any) -> Object:
    return validator_ended_status(START, code, **state)


NO_PYTHON = {"reason": "StartError", "message": 'exec: "python3": executable file not found in $PATH'}
EVICTED = {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."}
DISRUPTED = {
    **ended(137),
    "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet"}],
}


@pytest.mark.parametrize(
    ("status", "reason", "remedy"),
    [
        (clone_failed_status(START, 2, "the server refused the credentials"), "GitAuthenticationFailed", "none"),
        (clone_failed_status(START, 3), "GitRefNotFound", "none"),
        (clone_failed_status(START, 4), "NotebookNotFound", "none"),
        (clone_failed_status(START, 5), "RepositoryTooLarge", "none"),
        (clone_failed_status(START, 6), "GitCloneTimeout", "retry"),
        (clone_failed_status(START, 7), "GitRemoteUnreachable", "retry"),
        (clone_failed_status(START, 8), "RepositoryNotFound", "none"),
        (clone_failed_status(START, 9), "GitUnavailable", "none"),
        (clone_failed_status(START, 1), "GitCloneFailed", "none"),
        (clone_failed_status(START, 126), "PermissionDenied", "none"),
        (clone_failed_status(START, 127), "GitUnavailable", "none"),
        (clone_failed_status(START, 137), "GitCloneKilled", "retry"),
        (ended(137, reason="OOMKilled"), "OOMKilled", "none"),
        (ended(137), "RunnerKilled", "retry"),
        (ended(143), "RunnerKilled", "retry"),
        (ended(139), "RunnerFailed", "none"),
        (ended(127), "RunnerUnavailable", "none"),
        (ended(128, **NO_PYTHON), "RunnerUnavailable", "none"),
        (ended(128, reason="StartError", message="no such user: 4711"), "RunContainerError", "none"),
        (ended(126), "PermissionDenied", "none"),
        (not_started_status(START, "ImagePullBackOff"), "ImagePullBackOff", "retry"),
        (not_started_status(START, "InvalidImageName"), "InvalidImageName", "none"),
        (not_started_status(START, "CreateContainerConfigError"), "CreateContainerConfigError", "wait"),
        (not_started_status(START, "RunContainerError"), "RunContainerError", "retry"),
        (EVICTED, "Evicted", "retry"),
        (DISRUPTED, "Disrupted", "retry"),
        ({"phase": "Failed", "reason": "NodeShutdown"}, "NodeShutdown", "retry"),
        ({"phase": "Failed"}, "PodFailed", "retry"),
    ],
)
def test_every_failure_has_a_reason_and_a_remedy(status: Object, reason: str, remedy: str) -> None:
    found = find_failure(pod(status))
    assert found is not None
    assert (found.reason, found.remedy) == (reason, remedy)
    assert found.message
    assert reported_end(pod(status)) is None, "there is no result to be read"


@pytest.mark.parametrize("code", [0, 1, 2, 3])
def test_a_runner_that_reported_is_no_failure_of_its_pod(code: int) -> None:
    assert find_failure(pod(ended(code))) is None
    found = reported_end(pod(ended(code)))
    assert found is not None
    assert found.exit_code == code


@pytest.mark.parametrize("status", [running_status(START), not_started_status(START, "ErrImagePull"), {}])
def test_a_pod_on_its_way_has_not_failed(status: Object) -> None:
    assert find_failure(pod(status)) is None
    assert reported_end(pod(status)) is None


def test_what_the_clone_says_is_told() -> None:
    found = find_failure(pod(clone_failed_status(START, 3, "ref v9 is not in https://git.example.com/x.git\n")))
    assert found is not None
    assert found.message == "container git-clone could not clone: ref v9 is not in https://git.example.com/x.git"


def test_memory_that_was_too_small_names_the_field_to_raise() -> None:
    found = find_failure(pod(ended(137, reason="OOMKilled")))
    assert found is not None
    assert "raise spec.podConfig.resources.limits.memory" in found.message
