"""Taints of a node as whole lists: a merge patch replaces a list, so a change of one taint writes them all."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, Final

from mooring.api.core.views import Node, Taint
from mooring.api.kinds import key_of
from mooring.kube.times import timestamp
from mooring.runtime.decision import Patch
from mooring.workloads.kinds import NODE

NOT_READY: Final = "node.kubernetes.io/not-ready"
UNREACHABLE: Final = "node.kubernetes.io/unreachable"
OUTAGES: Final = (NOT_READY, UNREACHABLE)
CORDONED: Final = "node.kubernetes.io/unschedulable"
MEMORY_PRESSURE: Final = "node.kubernetes.io/memory-pressure"
DISK_PRESSURE: Final = "node.kubernetes.io/disk-pressure"
PID_PRESSURE: Final = "node.kubernetes.io/pid-pressure"
NETWORK_UNAVAILABLE: Final = "node.kubernetes.io/network-unavailable"
_OURS: Final = (*OUTAGES, CORDONED, MEMORY_PRESSURE, DISK_PRESSURE, PID_PRESSURE, NETWORK_UNAVAILABLE)

# A taint by its key and effect.
Name = tuple[str, str]


def swap_taints(node: Node, remove: Collection[Name], add: Iterable[Name], now: datetime) -> Patch | None:
    """The write that takes taints off a node and puts others on; None when it has them so already."""
    old = node.spec.taints or ()
    kept = [taint for taint in old if (taint.key, taint.effect) not in remove]
    present = {(taint.key, taint.effect) for taint in kept}
    new = [
        Taint(key=key, effect=effect, time_added=timestamp(now)) for key, effect in add if (key, effect) not in present
    ]
    if len(kept) == len(old) and not new:
        return None
    # Ours come last and in one order, so that two writers of the same taints write the same list.
    taints = [_object(taint) for taint in sorted((*kept, *new), key=_rank)]
    return Patch(NODE, key_of(node), {"spec": {"taints": taints or None}})


def _rank(taint: Taint) -> tuple[int, str]:
    return (_OURS.index(taint.key), taint.effect) if taint.key in _OURS else (-1, "")


def _object(taint: Taint) -> dict[str, Any]:
    fields = {"key": taint.key, "value": taint.value, "effect": taint.effect, "timeAdded": taint.time_added}
    return {name: value for name, value in fields.items() if value}
