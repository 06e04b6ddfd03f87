"""The options that leave the least of their nodes unused, cpu and memory counted alike."""

from __future__ import annotations

from collections.abc import Sequence

from mooring.features.autoscaler.scale_up.expanders.option import ScaleUpOption
from mooring.kube.quantities import milli_value, value

__all__ = ["least_waste"]


def least_waste(options: Sequence[ScaleUpOption]) -> Sequence[ScaleUpOption]:
    waste = [_waste(option) for option in options]
    least = min(waste)
    return [option for option, wasted in zip(options, waste, strict=True) if wasted == least]


def _waste(option: ScaleUpOption) -> float:
    """The share of the cpu and the share of the memory that is left over, added up."""
    capacity = option.template.node.status.capacity or {}
    cpu = milli_value(capacity.get("cpu", 0)) * option.nodes
    memory = value(capacity.get("memory", 0)) * option.nodes
    asked_cpu = sum(each.info.requests.cpu for each in option.pods)
    asked_memory = sum(each.info.requests.memory for each in option.pods)
    return _share(cpu - asked_cpu, cpu) + _share(memory - asked_memory, memory)


def _share(part: int, whole: int) -> float:
    """A node that has nothing to offer is the worst choice."""
    return part / whole if whole else float("inf")
