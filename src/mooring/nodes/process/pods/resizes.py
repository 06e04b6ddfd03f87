"""Resizes of a pod on this node: what its containers were given, what waits, and what is to be changed now.

What a pod asks for is in its spec; what it was given is in its state, and its containers start with that. The two
differ while the node has no room for the resize.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec

from mooring.api.core.types import Pod
from mooring.kube.conditions import conditions_of
from mooring.kube.objects import Object
from mooring.nodes.process.pods.model import (
    ChangeLimits,
    ContainerRecord,
    PendingResize,
    PodRecord,
    RecordEvent,
    ResizeInProgress,
)
from mooring.nodes.process.pods.specs import init_containers, main_containers, sidecars
from mooring.nodes.resize.allocation import ResizeRefusal
from mooring.nodes.resize.messages import resize_message

__all__ = [
    "admitted",
    "allocated_pod",
    "completed",
    "is_in_force",
    "is_to_be_restarted",
    "limits_change",
    "pod_view",
    "resizable_containers",
    "resize_conditions",
    "resize_error",
    "resources_of",
    "wants_resize",
]

_KINDS = ("PodResizePending", "PodResizeInProgress")


def resizable_containers(spec: Object) -> list[Object]:
    return [*sidecars(spec), *main_containers(spec)]


def resources_of(container: Object) -> Object:
    """Requests and limits, and nothing where there are none, so that equal ones compare as equal."""
    found = container.get("resources") or {}
    return {side: found[side] for side in ("limits", "requests") if found.get(side)}


def wants_resize(spec: Object, pod: PodRecord) -> bool:
    return any(
        each["name"] in pod.allocated and pod.allocated[each["name"]] != resources_of(each)
        for each in resizable_containers(spec)
    )


def allocated_pod(spec: Object, pod: PodRecord) -> Object:
    """The pod as it would be if it asked for what it was given; the very same if it does."""
    if not wants_resize(spec, pod):
        return spec
    inner = dict(spec["spec"])
    inner["containers"] = [_with_allocation(each, pod.allocated) for each in main_containers(spec)]
    if init_containers(spec):
        # What prepares the pod is never resized, and has no allocation.
        inner["initContainers"] = [_with_allocation(each, pod.allocated) for each in init_containers(spec)]
    return {**spec, "spec": inner}


def _with_allocation(container: Object, allocated: Mapping[str, Object]) -> Object:
    name = container["name"]
    return {**container, "resources": allocated[name]} if name in allocated else container


def pod_view(spec: Object) -> Pod:
    """What placement reads of a pod, without its status."""
    return msgspec.convert({"spec": spec["spec"]}, Pod)


# Admission


def admitted(spec: Object, pod: PodRecord, refusal: ResizeRefusal | None) -> tuple[PodRecord, tuple[RecordEvent, ...]]:
    """The pod after the node was asked for what it wants now, and what there is to tell of it."""
    wanted = {each["name"]: resources_of(each) for each in resizable_containers(spec)}
    if not wants_resize(spec, pod):
        same = pod.allocated == wanted and pod.pending is None
        return (pod if same else replace(pod, allocated=wanted, pending=None)), ()
    generation = spec["metadata"].get("generation", 0)
    if refusal is None:
        told = resize_message("started", pod_view(spec), generation)
        begun = replace(pod, allocated=wanted, pending=None, resizing=ResizeInProgress(generation))
        return begun, (RecordEvent("Normal", "ResizeStarted", told),)
    waits = PendingResize(refusal.reason, refusal.message, generation)
    known, pod = pod.pending, replace(pod, pending=waits)
    if known is not None and (known.reason, known.generation) == (waits.reason, generation):
        return pod, ()
    told = resize_message(refusal.reason, pod_view(spec), generation, refusal.message)
    return pod, (RecordEvent("Warning", f"Resize{refusal.reason}", told),)


# Carrying it out


def is_in_force(pod: PodRecord, name: str, known: ContainerRecord) -> bool:
    """Whether a container has what it was given, or will have it when it starts."""
    return known.process != "running" or known.resources is None or known.resources == pod.allocated.get(name)


def is_to_be_restarted(container: Object, pod: PodRecord, known: ContainerRecord) -> bool:
    """Whether one of the resources that change is one that the container must be restarted for."""
    policies = container.get("resizePolicy") or ()
    named = [each["resourceName"] for each in policies if each.get("restartPolicy") == "RestartContainer"]
    had, has = known.resources or {}, pod.allocated.get(container["name"]) or {}
    sides = ("requests", "limits")
    return any((had.get(side) or {}).get(name) != (has.get(side) or {}).get(name) for side in sides for name in named)


def limits_change(pod: PodRecord, name: str, known: ContainerRecord, now: datetime) -> ChangeLimits | datetime | None:
    """The change to a container that runs, or when to try it again; None while one is under way."""
    if known.changing:
        return None
    if known.change_again is not None and known.change_again > now:
        return known.change_again
    return ChangeLimits(name, pod.allocated[name])


def completed(spec: Object, pod: PodRecord) -> RecordEvent | None:
    """What to tell when a resize that was in progress is over; None while it is not."""
    if pod.resizing is None:
        return None
    names = [each["name"] for each in resizable_containers(spec)]
    if not all(is_in_force(pod, name, pod.container(name)) for name in names):
        return None
    given = pod_view(allocated_pod(spec, pod))
    return RecordEvent("Normal", "ResizeCompleted", resize_message("completed", given, pod.resizing.generation))


def resize_error(allocated: Object, generation: int, problem: str) -> RecordEvent:
    return RecordEvent("Warning", "ResizeError", resize_message("error", pod_view(allocated), generation, problem))


# The status


def resize_conditions(spec: Object, pod: PodRecord) -> tuple[list[Object], list[Object]]:
    """The conditions that the pod has without those of a resize, and those of a resize to set."""
    wanted: list[Object] = []
    if pod.pending is not None:
        reason, message, generation = pod.pending
        wanted.append(_condition(_KINDS[0], generation, reason, message))
    if pod.resizing is not None:
        generation, error = pod.resizing
        wanted.append(_condition(_KINDS[1], generation, "Error" if error else "", error))
    kinds = {each["type"] for each in wanted}
    known = conditions_of(spec)
    return [each for each in known if each["type"] not in _KINDS or each["type"] in kinds], wanted


def _condition(kind: str, generation: int, reason: str, message: str) -> Object:
    found: dict[str, Any] = {"type": kind, "status": "True", "lastProbeTime": None, "observedGeneration": generation}
    return found | ({"reason": reason} if reason else {}) | ({"message": message} if message else {})
