"""What keeps pods off one node, whatever they ask for: an outage, a cordon, pressure, taints, a resource that is full.

The node controller turns an outage and pressure into taints, and a cordon is one as well. Such a taint and what it
stands for are one obstacle.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from mooring.api.core.types import ConditionSummary, Node, Taint
from mooring.placement.causes.amounts import amount
from mooring.placement.node_report.room import NodeRoom
from mooring.placement.plugins.taints import UNSCHEDULABLE_TAINT, taint_text, tolerated
from mooring.placement.pods import CompiledTemplate, PodInfo

__all__ = ["Obstacle", "ToleratingPods", "is_ready", "obstacles"]

_PREFIX: Final = "node.kubernetes.io/"
# What a condition of a node means for pods, by type and the status that is bad, and the taint that comes with it.
_CONDITIONS: Final = {
    ("Ready", "False"): ("it is not ready", f"{_PREFIX}not-ready"),
    ("Ready", "Unknown"): ("nothing was heard from its kubelet", f"{_PREFIX}unreachable"),
    ("MemoryPressure", "True"): ("memory runs short", f"{_PREFIX}memory-pressure"),
    ("DiskPressure", "True"): ("disk space runs short", f"{_PREFIX}disk-pressure"),
    ("PIDPressure", "True"): ("process numbers run short", f"{_PREFIX}pid-pressure"),
    ("NetworkUnavailable", "True"): ("its network is not set up", f"{_PREFIX}network-unavailable"),
}
_PREFERENCE: Final = "PreferNoSchedule"


class ToleratingPods(NamedTuple):
    """How many of some pods an obstacle does not keep off."""

    number: int
    total: int


class Obstacle(NamedTuple):
    text: str
    # None where no toleration helps.
    waiting: ToleratingPods | None = None
    running: ToleratingPods | None = None


def is_ready(node: Node) -> bool:
    """Whether nothing says that the node does not work."""
    return not any(each.type == "Ready" and each.status != "True" for each in node.status.conditions or ())


def obstacles(
    node: Node, rooms: Iterable[NodeRoom], waiting: Iterable[PodInfo], running: Iterable[PodInfo]
) -> list[Obstacle]:
    waiting, running = list(waiting), list(running)
    found = []
    for text, taints in _reasons(node):
        if taints:
            found.append(Obstacle(text, _tolerating(waiting, taints), _tolerating(running, taints)))
        else:
            found.append(Obstacle(f"{text}, but no taint says so, so pods are still sent there"))
    return [*found, *(_full(room) for room in rooms if room.allocatable and not room.free)]


def _reasons(node: Node) -> list[tuple[str, list[Taint]]]:
    """What keeps pods off, each with the taints that it has."""
    taints = list(node.spec.taints or ())
    found = []
    for condition in node.status.conditions or ():
        known = _CONDITIONS.get((condition.type, condition.status))
        if known is not None:
            own = [taint for taint in taints if taint.key == known[1]]
            taints = [taint for taint in taints if taint not in own]
            found.append((f"{known[0]}{_why(condition)}", own))
    if node.spec.unschedulable:
        taints = [taint for taint in taints if taint.key != UNSCHEDULABLE_TAINT.key]
        found.append(("it is cordoned (spec.unschedulable)", [UNSCHEDULABLE_TAINT]))
    for taint in taints:
        preferred = " (pods go elsewhere if they can)" if taint.effect == _PREFERENCE else ""
        found.append((f"taint {taint_text(taint)}{preferred}", [taint]))
    return found


def _why(condition: ConditionSummary) -> str:
    return f" ({condition.reason})" if condition.reason else ""


def _tolerating(pods: list[PodInfo], taints: list[Taint]) -> ToleratingPods:
    # Pods of one template tolerate alike.
    known: dict[CompiledTemplate, bool] = {}
    count = 0
    for pod in pods:
        template = pod.template
        if template not in known:
            known[template] = all(tolerated(template.tolerations, taint) for taint in taints)
        count += known[template]
    return ToleratingPods(count, len(pods))


def _full(room: NodeRoom) -> Obstacle:
    if room.name == "pods":
        return Obstacle(f"it is full: {room.used} of {room.allocatable} pods")
    return Obstacle(f"no {room.name} is free, of {amount(room.name, room.allocatable)}")
