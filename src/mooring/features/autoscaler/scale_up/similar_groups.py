"""Whether two groups make nodes that are as good as each other's, so that they may share a scale-up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from mooring.api.core.types import ResourceList
from mooring.features.autoscaler.snapshot import NodeTemplate
from mooring.kube.quantities import parse_quantity
from mooring.placement.pods import CompiledTemplate

__all__ = ["are_similar"]

_MEMORY_RATIO: Final = 0.015
_ALLOCATABLE_RATIO: Final = 0.05
_FREE_RATIO: Final = 0.05
# What may differ between zones and nodes of one kind.
_IGNORED_LABELS: Final = frozenset(
    {
        "kubernetes.io/hostname",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "beta.kubernetes.io/fluentd-ds-ready",
        "kops.k8s.io/instancegroup",
    }
)


def are_similar(one: NodeTemplate, other: NodeTemplate, ignored_labels: Iterable[str]) -> bool:
    ignored = _IGNORED_LABELS.union(ignored_labels)
    return (
        _labels(one, ignored) == _labels(other, ignored)
        and _same_capacity(one.node.status.capacity or {}, other.node.status.capacity or {})
        and _within(_milli(one.node.status.allocatable), _milli(other.node.status.allocatable), _ALLOCATABLE_RATIO)
        and _within(_free(one), _free(other), _FREE_RATIO)
    )


def _labels(template: NodeTemplate, ignored: frozenset[str]) -> dict[str, str]:
    return {key: text for key, text in (template.node.metadata.labels or {}).items() if key not in ignored}


def _same_capacity(one: ResourceList, other: ResourceList) -> bool:
    if one.keys() != other.keys():
        return False
    for name, amount in one.items():
        if name != "memory" and parse_quantity(amount) != parse_quantity(other[name]):
            return False
    memory = {"memory"} & one.keys()
    return _within(_milli({m: one[m] for m in memory}), _milli({m: other[m] for m in memory}), _MEMORY_RATIO)


def _milli(amounts: ResourceList | None) -> dict[str, int]:
    return {name: parse_quantity(amount).milli_value for name, amount in (amounts or {}).items()}


def _within(one: Mapping[str, int], other: Mapping[str, int], ratio: float) -> bool:
    """Whether both have the same resources, and of none the lesser amount is too far below the larger one."""
    if one.keys() != other.keys():
        return False
    for name, amount in one.items():
        larger, smaller = max(amount, other[name]), min(amount, other[name])
        if larger - smaller > larger * ratio:
            return False
    return True


def _free(template: NodeTemplate) -> dict[str, int]:
    """What the pods that come with a node leave of it, in thousandths."""
    asked = {"cpu": 0, "memory": 0, "ephemeral-storage": 0, "pods": 0}
    for pod in template.pods:
        held = CompiledTemplate(pod).resources.node
        asked["cpu"] += held.cpu
        asked["memory"] += 1000 * held.memory
        asked["ephemeral-storage"] += 1000 * held.ephemeral
        for name, amount in held.scalars:
            asked[name] = asked.get(name, 0) + 1000 * amount
    allocatable = _milli(template.node.status.allocatable)
    return {name: allocatable.get(name, 0) - amount for name, amount in asked.items()}
