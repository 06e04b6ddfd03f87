"""Whether a node can give a pod what it asks for now, and what it has been given while it cannot.

A kubelet admits a resize as it admits a pod: one that is larger than the node is infeasible, one that does not fit
beside the other pods is deferred until it does. Until then the pod keeps what it had.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeVar

from msgspec.structs import replace

from mooring.api.core.types import Container, ContainerStatus, Pod, ResourceList, ResourceRequirements
from mooring.kube.quantities import milli_value, value
from mooring.placement.plugins.resources import pod_resources

__all__ = ["ResizeRefusal", "given", "is_resizable", "refusal_of", "resized_containers", "urgency", "with_allocation"]

P = TypeVar("P", bound=Pod)


class ResizeRefusal(NamedTuple):
    reason: Literal["Deferred", "Infeasible"]
    message: str


def is_resizable(container: Container, *, preparing: bool) -> bool:
    return not preparing or container.restart_policy == "Always"


def given(container: Container, status: ContainerStatus | None) -> ResourceRequirements:
    """What a container was given, as its status says; what it asks for where its status says nothing."""
    if status is None or status.resources is None:
        return container.resources
    return ResourceRequirements(status.allocated_resources, status.resources.limits)


def resized_containers(pod: Pod) -> list[Container]:
    """The containers that ask for something else than they were given."""
    known = _statuses(pod)
    return [each for each in _resizable(pod) if not _same(each.resources, given(each, known.get(each.name)))]


def with_allocation(pod: P) -> P:
    """The pod as it would be if it asked for what it was given."""
    known = _statuses(pod)
    spec = pod.spec
    changed = {each.name: replace(each, resources=given(each, known.get(each.name))) for each in _resizable(pod)}
    containers = tuple(changed.get(each.name, each) for each in spec.containers or ())
    preparing = tuple(changed.get(each.name, each) for each in spec.init_containers or ())
    return replace(pod, spec=replace(spec, containers=containers, init_containers=preparing))


def refusal_of(pod: Pod, others: Iterable[Pod], allocatable: ResourceList) -> ResizeRefusal | None:
    """Why a node with these other pods cannot give a pod what it asks for; None if it can."""
    asked = pod_resources(pod).fit
    cpu, memory = milli_value(allocatable.get("cpu", "0")), value(allocatable.get("memory", "0"))
    if asked.memory > memory:
        return _infeasible("memory", asked.memory, memory)
    if asked.cpu > cpu:
        return _infeasible("cpu", asked.cpu, cpu)
    held = [pod_resources(with_allocation(each)).node for each in others]
    for name, wanted, used, capacity in (
        ("cpu", asked.cpu, sum(each.cpu for each in held), cpu),
        ("memory", asked.memory, sum(each.memory for each in held), memory),
    ):
        if wanted and wanted > capacity - used:
            text = f"Node didn't have enough resource: {name}, requested: {wanted}, used: {used}, capacity: {capacity}"
            return ResizeRefusal("Deferred", text)
    return None


def urgency(pod: Pod) -> tuple[bool, int]:
    """Sorts pending resizes: first those that ask for no more than before, then by priority."""
    asked, had = pod_resources(pod).fit, pod_resources(with_allocation(pod)).fit
    grows = asked.cpu > had.cpu or asked.memory > had.memory
    return grows, -(pod.spec.priority or 0)


def _infeasible(name: str, wanted: int, capacity: int) -> ResizeRefusal:
    text = f"Node didn't have enough capacity: {name}, requested: {wanted}, capacity: {capacity}"
    return ResizeRefusal("Infeasible", text)


def _statuses(pod: Pod) -> dict[str, ContainerStatus]:
    status = pod.status
    return {each.name: each for each in (*(status.container_statuses or ()), *(status.init_container_statuses or ()))}


def _resizable(pod: Pod) -> list[Container]:
    sidecars = [each for each in pod.spec.init_containers or () if is_resizable(each, preparing=True)]
    return [*sidecars, *(pod.spec.containers or ())]


def _same(one: ResourceRequirements, other: ResourceRequirements) -> bool:
    return (one.requests or {}) == (other.requests or {}) and (one.limits or {}) == (other.limits or {})
