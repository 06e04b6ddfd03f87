"""Why a Workspace's pods do not serve: the most telling cause, as a reason and a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from mooring.api.conditions import find_condition
from mooring.features.workspaces.condition_messages import shortened
from mooring.features.workspaces.kinds import ServingContainer, ServingPod

__all__ = ["PodFailure", "find_failure"]

_SAS_CONTAINER: Final = "fetch-sas"
_IMAGE_ERRORS: Final = frozenset(
    {"ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError"}
    | {"RegistryUnavailable"}
)
_START_ERRORS: Final = frozenset(
    {"CreateContainerConfigError", "PreCreateHookError", "CreateContainerError", "PreStartHookError"}
    | {"RunContainerError", "PostStartHookError"}
)
_CRASH_LOOP: Final = "CrashLoopBackOff"


class PodFailure(NamedTuple):
    reason: str
    message: str


def find_failure(pods: Iterable[ServingPod]) -> PodFailure | None:
    """The first cause of the first kind that any pod has; kinds that say most come first."""
    ordered = sorted(pods, key=lambda pod: pod.metadata.name)
    for check in (_token, *map(_of_containers, (_out_of_memory, _image, _start, _crashes)), _evicted, _unschedulable):
        for pod in ordered:
            if (found := check(pod)) is not None:
                return found._replace(message=shortened(found.message))
    return None


def _containers(pod: ServingPod) -> Iterator[ServingContainer]:
    yield from pod.status.init_container_statuses
    yield from pod.status.container_statuses


def _of_containers(
    check: Callable[[ServingContainer], PodFailure | None],
) -> Callable[[ServingPod], PodFailure | None]:
    return lambda pod: next((found for each in _containers(pod) if (found := check(each)) is not None), None)


def _token(pod: ServingPod) -> PodFailure | None:
    for each in pod.status.init_container_statuses:
        waiting, ended = each.state.waiting, each.last_state.terminated
        failed = ended is not None and ended.exit_code != 0
        if each.name == _SAS_CONTAINER and (failed or (waiting is not None and waiting.reason == _CRASH_LOOP)):
            text = f"the init container {_SAS_CONTAINER} could not get a token for the weights; see its log"
            return PodFailure("SASTokenFetchFailed", text)
    return None


def _out_of_memory(container: ServingContainer) -> PodFailure | None:
    for ended in (container.state.terminated, container.last_state.terminated):
        if ended is not None and ended.reason == "OOMKilled":
            text = f'container "{container.name}" was OOMKilled (exit code {ended.exit_code}); give it more memory'
            return PodFailure("ContainerOOMKilled", text)
    return None


def _image(container: ServingContainer) -> PodFailure | None:
    waiting = container.state.waiting
    if waiting is None or waiting.reason not in _IMAGE_ERRORS:
        return None
    text = f'container "{container.name}" image pull failed ({waiting.reason}): {waiting.message}'
    return PodFailure("ImagePullError", text)


def _start(container: ServingContainer) -> PodFailure | None:
    waiting = container.state.waiting
    if waiting is None or waiting.reason not in _START_ERRORS:
        return None
    text = f'container "{container.name}" failed to start ({waiting.reason}): {waiting.message}'
    return PodFailure("ContainerStartError", text)


def _crashes(container: ServingContainer) -> PodFailure | None:
    waiting, ended = container.state.waiting, container.last_state.terminated
    if waiting is None or waiting.reason != _CRASH_LOOP:
        return None
    last = "" if ended is None else f"; last termination: {ended.message or f'exit code {ended.exit_code}'}"
    return PodFailure("ContainerCrashLoopBackOff", f'container "{container.name}" is in CrashLoopBackOff{last}')


def _evicted(pod: ServingPod) -> PodFailure | None:
    status = pod.status
    if (status.phase, status.reason) != ("Failed", "Evicted"):
        return None
    said, name = status.message.lower(), pod.metadata.name
    if "ephemeral-storage" in said or "disk" in said:
        return PodFailure("NodeDiskPressure", f'pod "{name}" evicted due to node disk pressure: {status.message}')
    if "memory" in said:
        return PodFailure("NodeMemoryPressure", f'pod "{name}" evicted due to node memory pressure: {status.message}')
    return PodFailure("PodEvicted", f'pod "{name}" was evicted: {status.message}')


def _unschedulable(pod: ServingPod) -> PodFailure | None:
    told = find_condition(pod.status.conditions, "PodScheduled")
    if pod.status.phase != "Pending" or told is None or (told.status, told.reason) != ("False", "Unschedulable"):
        return None
    return PodFailure("Unschedulable", f'pod "{pod.metadata.name}" is unschedulable: {told.message}')
