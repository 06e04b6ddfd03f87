"""What a simulated node does about a pod that was changed while it runs: a resize, a container to debug it.

A resize is carried out in two steps, as by a kubelet: the pod is allocated what it asks for, which says
PodResizeInProgress, and a moment later its containers have it, some of them after a restart.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, Final, NamedTuple, cast

from msgspec.structs import replace

from mooring.api.conditions import condition_objects, find_condition, set_conditions, without_condition
from mooring.api.core import types as core
from mooring.api.core.types import ResourceList, ResourceRequirements
from mooring.api.core.views import Container, Node, Pod
from mooring.api.kinds import key_of
from mooring.api.meta import Condition
from mooring.kube.times import moment
from mooring.nodes.resize.allocation import ResizeRefusal, refusal_of, resized_containers, urgency
from mooring.nodes.resize.messages import resize_message
from mooring.nodes.simulated.containers import (
    Given,
    ephemeral_statuses,
    init_statuses,
    known_statuses,
    running_statuses,
)
from mooring.runtime.decision import Event, Patch, status
from mooring.runtime.view import View
from mooring.workloads.kinds import POD

__all__ = ["PENDING", "PodChange", "changes_of", "is_changed"]

PENDING: Final = "PodResizePending"
IN_PROGRESS: Final = "PodResizeInProgress"
# From its allocation to its end.
_RESIZE_TIME: Final = timedelta(seconds=1)
# The conditions that a kubelet writes for every generation anew.
_OWN: Final = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")


class PodChange(NamedTuple):
    write: Patch
    events: list[Event]


def is_changed(pod: Pod) -> bool:
    """Whether the node has something to do about a running pod's spec, or waits to."""
    generation = pod.metadata.generation
    if generation <= 1 or not pod.active or pod.status.phase != "Running":
        return False
    if pod.status.observed_generation != generation:
        return True
    return any(each.type in (PENDING, IN_PROGRESS) for each in pod.status.conditions)


def changes_of(changed: list[Pod], every: Iterable[Pod], node: Node, view: View) -> list[PodChange]:
    """The writes for the changed ones of a node's pods; resizes are admitted one after the other."""
    held = {each.metadata.uid: each for each in every if not each.finished}
    found = []
    for pod in sorted(changed, key=_urgency):
        others = (cast(core.Pod, each) for uid, each in held.items() if uid != pod.metadata.uid)
        step = _Step(pod, view)
        allocated = step.run(others, node.status.allocatable or {})
        if (change := step.change()) is not None:
            found.append(change)
        if allocated:
            held[pod.metadata.uid] = _taking_what_it_asks_for(pod)
    return found


def _urgency(pod: Pod) -> tuple[bool, int, str]:
    pending = find_condition(pod.status.conditions, PENDING)
    since = pending.last_transition_time if pending is not None else None
    return (*urgency(cast(core.Pod, pod)), since or "~")


def _taking_what_it_asks_for(pod: Pod) -> Pod:
    """The pod without a status that says that it was given less."""
    return replace(pod, status=replace(pod.status, container_statuses=(), init_container_statuses=()))


class _Step:
    """One look at one pod."""

    def __init__(self, pod: Pod, view: View) -> None:
        self._pod, self._view, self._now = pod, view, view.now
        self._generation = pod.metadata.generation
        self._conditions = tuple(
            replace(each, observed_generation=self._generation) if each.type in _OWN else each
            for each in pod.status.conditions
        )
        self._body: dict[str, Any] = {}
        self._events: list[Event] = []

    def change(self) -> PodChange | None:
        """What came of it; None where all is as it should be."""
        pod = self._pod
        if pod.status.observed_generation != self._generation:
            self._body["observedGeneration"] = self._generation
        if self._conditions != pod.status.conditions:
            self._body["conditions"] = condition_objects(self._conditions)
        return PodChange(status(POD, pod, self._body), self._events) if self._body else None

    def run(self, others: Iterable[core.Pod], allocatable: ResourceList) -> bool:
        """Whether the pod is allocated what it asks for."""
        self._debug()
        if not self._is_to_be_allocated():
            self._conditions = without_condition(self._conditions, PENDING)
            self._carry_on()
            return False
        refusal = refusal_of(cast(core.Pod, self._pod), others, allocatable)
        if refusal is not None:
            self._wait(refusal)
            self._carry_on()
            return False
        self._allocate()
        return True

    def _debug(self) -> None:
        """Start the containers that were added to debug the pod."""
        known = {each.name for each in self._pod.status.ephemeral_container_statuses}
        new = [each for each in self._pod.spec.ephemeral_containers if each.name not in known]
        if not new:
            return
        self._body["ephemeralContainerStatuses"] = ephemeral_statuses(self._pod, self._now)
        for each in new:
            self._tell_of_start(each)

    def _is_to_be_allocated(self) -> bool:
        changed = resized_containers(cast(core.Pod, self._pod))
        if not changed or not _is_reported(self._pod):
            return False
        progress = find_condition(self._conditions, IN_PROGRESS)
        if progress is None or progress.observed_generation != self._generation:
            return True
        # Limits are in the status only when containers have them; requests as soon as they are allocated.
        known = known_statuses(self._pod)
        return any((known[each.name].allocated_resources or {}) != (each.resources.requests or {}) for each in changed)

    def _wait(self, refusal: ResizeRefusal) -> None:
        known = find_condition(self._conditions, PENDING)
        wanted = Condition(PENDING, "True", refusal.reason, refusal.message, observed_generation=self._generation)
        self._conditions = set_conditions(self._conditions, (wanted,), self._now)
        if known is not None and (known.reason, known.observed_generation) == (refusal.reason, self._generation):
            return
        message = resize_message(refusal.reason, cast(core.Pod, self._pod), self._generation, refusal.message)
        self._tell(f"Resize{refusal.reason}", message, kind="Warning")

    def _allocate(self) -> None:
        pod = self._pod
        known = known_statuses(pod)
        given = {
            each.name: (known[each.name].resources or ResourceRequirements(), each.resources.requests)
            for each in _resizable(pod)
        }
        self._write(given)
        kept = without_condition(without_condition(self._conditions, PENDING), IN_PROGRESS)
        wanted = Condition(IN_PROGRESS, "True", observed_generation=self._generation)
        self._conditions = set_conditions(kept, (wanted,), self._now)
        self._tell("ResizeStarted", resize_message("started", cast(core.Pod, pod), self._generation))

    def _carry_on(self) -> None:
        """Give the containers what they were allocated, a moment after they were."""
        progress = find_condition(self._conditions, IN_PROGRESS)
        if progress is None:
            return
        began = moment(progress.last_transition_time) if progress.last_transition_time else self._now
        if not self._view.reached(began + _RESIZE_TIME):
            return
        pod, known = self._pod, known_statuses(self._pod)
        current = progress.observed_generation == self._generation
        given, restarted = {}, []
        for each in _resizable(pod):
            had, allocated = known[each.name].resources or ResourceRequirements(), known[each.name].allocated_resources
            # The limits of an earlier generation that was overtaken are known to nobody any more.
            has = ResourceRequirements(allocated, each.resources.limits if current else had.limits)
            given[each.name] = (has, allocated)
            if _is_restarted(each, had, has):
                restarted.append(each)
        self._write(given, restarted)
        self._conditions = without_condition(self._conditions, IN_PROGRESS)
        for each in restarted:
            self._tell("Killing", f"Container {each.name} resize requires restart")
            self._tell_of_start(each)
        message = resize_message("completed", cast(core.Pod, pod), progress.observed_generation)
        self._tell("ResizeCompleted", message)

    def _write(
        self,
        given: Given,
        restarted: Iterable[Container] = (),
    ) -> None:
        pod, names = self._pod, {each.name for each in restarted}
        containers = pod.spec.containers or ()
        self._body["containerStatuses"] = running_statuses(pod, containers, self._now, given, names)
        if pod.spec.init_containers:
            self._body["initContainerStatuses"] = init_statuses(pod, self._now, given, names)

    def _tell_of_start(self, container: Container) -> None:
        image = f'Container image "{container.image}" already present on machine and can be accessed by the pod'
        for reason, message in (("Pulled", image), ("Created", "Container created"), ("Started", "Container started")):
            self._tell(reason, message)

    def _tell(self, reason: str, message: str, kind: Any = "Normal") -> None:
        key = key_of(self._pod)
        self._events.append(Event(POD, key, kind, reason, message, after=(POD, key)))


def _resizable(pod: Pod) -> list[Container]:
    sidecars = [each for each in pod.spec.init_containers or () if each.restart_policy == "Always"]
    return [*sidecars, *(pod.spec.containers or ())]


def _is_reported(pod: Pod) -> bool:
    """Whether the status says of every container what it has; an older one may not, and cannot be resized."""
    known = known_statuses(pod)
    return all(each.name in known and known[each.name].resources is not None for each in _resizable(pod))


def _is_restarted(container: Container, had: ResourceRequirements, has: ResourceRequirements) -> bool:
    """Whether one of the resources that change is one that the container must be restarted for."""
    named = {each.resource_name for each in container.resize_policy if each.restart_policy == "RestartContainer"}
    sides = ((had.requests, has.requests), (had.limits, has.limits))
    return any((old or {}).get(name) != (new or {}).get(name) for name in named for old, new in sides)
