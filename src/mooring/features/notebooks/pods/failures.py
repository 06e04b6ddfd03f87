"""Why a validation pod failed, and what could mend it: another pod, a person, or nothing.

The order is that of the pod's life: the node, the containers that clone, the container that runs the notebook. A
container that ended with a result is no failure of its pod; what it found is in its log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

from mooring.api.conditions import is_true
from mooring.features.notebooks.kinds import PodStep, StepEnd, StepWait, ValidationPod
from mooring.features.notebooks.validation_pod.names import VALIDATOR

__all__ = [
    "REPORTING_EXIT_CODES",
    "AttemptFailure",
    "Remedy",
    "deleted_pod",
    "find_failure",
    "is_stopped",
    "reported_end",
    "runs",
]

Remedy = Literal["retry", "wait", "none"]

# Passed, error, failed, and an image without what the runner needs: each comes with a result in the log.
REPORTING_EXIT_CODES: Final = frozenset({0, 1, 2, 3})
DEADLINE: Final = "DeadlineExceeded"
_KILL_EXIT_CODES: Final = frozenset({137, 143})
_NOT_EXECUTABLE_EXIT_CODE: Final = 126
_NOT_FOUND_EXIT_CODE: Final = 127
_START_FAILURES: Final = frozenset({"StartError", "ContainerCannotRun"})
_MISSING_PROGRAM: Final = ("executable file not found", "no such file or directory")

# What the exit codes of clone.sh mean. A remote may be back in a minute; nothing else changes by itself.
_CLONE_FAILURES: Final[dict[int, tuple[str, Remedy]]] = {
    2: ("GitAuthenticationFailed", "none"),
    3: ("GitRefNotFound", "none"),
    4: ("NotebookNotFound", "none"),
    5: ("RepositoryTooLarge", "none"),
    6: ("GitCloneTimeout", "retry"),
    7: ("GitRemoteUnreachable", "retry"),
    8: ("RepositoryNotFound", "none"),
    9: ("GitUnavailable", "none"),
}

# ErrImagePull is not here: it becomes ImagePullBackOff if the next pull fails too.
_WAITS: Final[dict[str, Remedy]] = {
    "ImagePullBackOff": "retry",
    "InvalidImageName": "none",
    "ErrImageNeverPull": "none",
    "ImageInspectError": "none",
    "CreateContainerConfigError": "wait",
    "CreateContainerError": "retry",
    "RunContainerError": "retry",
}


class AttemptFailure(NamedTuple):
    """`remedy` says what could mend it: another pod, waiting until somebody mends it, or nothing."""

    reason: str
    message: str
    remedy: Remedy


def reported_end(pod: ValidationPod) -> StepEnd | None:
    """How the runner ended, where its log has a result to be read."""
    if not pod.is_finished or pod.status.reason == DEADLINE:
        return None
    for step in pod.status.container_statuses:
        ended = step.state.terminated
        if step.name == VALIDATOR and ended is not None and not _is_start_failure(ended):
            return ended if ended.exit_code in REPORTING_EXIT_CODES and ended.reason != "OOMKilled" else None
    return None


def is_stopped(pod: ValidationPod) -> bool:
    """Whether its node stopped it at its deadline; its containers may have a moment left to end."""
    return pod.status.phase == "Failed" and pod.status.reason == DEADLINE


def runs(pod: ValidationPod) -> bool:
    """Whether the runner has started and not ended, as far as its node says."""
    states = (step.state for step in pod.status.container_statuses if step.name == VALIDATOR)
    return any(state.waiting is None and state.terminated is None for state in states)


def find_failure(pod: ValidationPod) -> AttemptFailure | None:
    """Why a pod failed or does not start; None for one that is on its way, or ended with a result.

    Not for a pod that was stopped at its deadline, which is no failure of its own.
    """
    if pod.status.phase == "Failed" and (found := _lost_node(pod)) is not None:
        return found
    steps = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    found = next(_found(pod, steps), None)
    if found is None and pod.is_finished and reported_end(pod) is None:
        text = pod.status.message or pod.status.reason or "no container says why"
        return AttemptFailure("PodFailed", f"pod {pod.metadata.name} failed: {text}", "retry")
    return found


def deleted_pod(name: str) -> AttemptFailure:
    """A pod that somebody else deleted: a drain, an eviction, a spot node that goes."""
    return AttemptFailure("PodDeleted", f"pod {name} was deleted before it reported", "retry")


def _lost_node(pod: ValidationPod) -> AttemptFailure | None:
    """A pod that its node ended, whatever its containers say."""
    status = pod.status
    if not status.reason and not is_true(status.conditions, "DisruptionTarget"):
        return None
    reason = status.reason or "Disrupted"
    text = f"pod {pod.metadata.name} was ended by its node ({reason})"
    return AttemptFailure(reason, f"{text}: {status.message}" if status.message else text, "retry")


def _found(pod: ValidationPod, steps: Iterable[PodStep]) -> Iterator[AttemptFailure]:
    for step in steps:
        waiting, ended = step.state.waiting, step.state.terminated
        if waiting is not None and waiting.reason in _WAITS:
            yield _not_started(step.name, waiting)
        elif ended is not None:
            yield from _ended(pod, step.name, ended)


def _not_started(name: str, waiting: StepWait) -> AttemptFailure:
    text = f"container {name} does not start ({waiting.reason})"
    message = f"{text}: {waiting.message}" if waiting.message else text
    return AttemptFailure(waiting.reason, message, _WAITS[waiting.reason])


def _ended(pod: ValidationPod, name: str, ended: StepEnd) -> Iterator[AttemptFailure]:
    if ended.reason == "OOMKilled":
        limit = "spec.podConfig.resources.limits.memory" if name == VALIDATOR else "the memory of its node"
        yield AttemptFailure(
            "OOMKilled", f"container {name} needed more memory than it may have; raise {limit}", "none"
        )
    elif name == VALIDATOR:
        yield from _validator_failure(pod, ended)
    elif ended.exit_code:
        yield _clone_failure(name, ended)


def _clone_failure(name: str, ended: StepEnd) -> AttemptFailure:
    said = ended.message.strip() or f"it ended with exit code {ended.exit_code}; see its log"
    message = f"container {name} could not clone: {said}"
    if ended.exit_code in _KILL_EXIT_CODES:
        return AttemptFailure("GitCloneKilled", message, "retry")
    if ended.exit_code == _NOT_FOUND_EXIT_CODE or _is_start_failure(ended):
        return AttemptFailure("GitUnavailable", message, "none")
    if ended.exit_code == _NOT_EXECUTABLE_EXIT_CODE:
        return AttemptFailure("PermissionDenied", message, "none")
    reason, remedy = _CLONE_FAILURES.get(ended.exit_code, ("GitCloneFailed", "none"))
    return AttemptFailure(reason, message, remedy)


def _validator_failure(pod: ValidationPod, ended: StepEnd) -> Iterator[AttemptFailure]:
    code, said = ended.exit_code, ended.message.strip()
    if _is_start_failure(ended):
        missing = any(text in said.lower() for text in _MISSING_PROGRAM)
        if missing or code == _NOT_FOUND_EXIT_CODE:
            yield _no_python(said)
        else:
            yield AttemptFailure("RunContainerError", f"container {VALIDATOR} could not be run: {said}", "none")
    elif code == _NOT_FOUND_EXIT_CODE:
        yield _no_python(said)
    elif code == _NOT_EXECUTABLE_EXIT_CODE:
        yield AttemptFailure(
            "PermissionDenied", f"container {VALIDATOR} may not run python3 in its image: {said}", "none"
        )
    elif code in _KILL_EXIT_CODES:
        text = f"the runner in pod {pod.metadata.name} was killed before it reported (exit code {code})"
        yield AttemptFailure("RunnerKilled", text, "retry")
    elif code not in REPORTING_EXIT_CODES:
        text = f"the runner in pod {pod.metadata.name} ended with exit code {code} and without a result; see its log"
        yield AttemptFailure("RunnerFailed", text, "none")


def _no_python(said: str) -> AttemptFailure:
    text = "the image has no python3; use one with Python, nbclient, nbformat and ipykernel"
    return AttemptFailure("RunnerUnavailable", f"{text}: {said}" if said else text, "none")


def _is_start_failure(ended: StepEnd) -> bool:
    return ended.reason in _START_FAILURES
