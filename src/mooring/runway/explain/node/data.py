"""The answer about a node for programs; amounts are quantities."""

from __future__ import annotations

from typing import Any

from mooring.placement.node_report.obstacles import ToleratingPods, is_ready
from mooring.placement.node_report.waiting_pods import Fate
from mooring.runway.explain.node.report import NodeReport

__all__ = ["node_data"]


def node_data(report: NodeReport) -> dict[str, Any]:
    node = report.node
    return {
        "node": node.metadata.name,
        "ready": is_ready(node),
        "cordoned": node.spec.unschedulable,
        "resources": {
            room.name: {
                "allocatable": _quantity(room.name, room.allocatable),
                "used": _quantity(room.name, room.used),
                "free": _quantity(room.name, room.free),
            }
            for room in report.rooms
        },
        "largestPod": {name: _quantity(name, left) for name, left in report.largest.items()},
        "keepsOff": [
            {"text": each.text, "toleratedBy": {"waiting": _pair(each.waiting), "running": _pair(each.running)}}
            if each.waiting is not None
            else {"text": each.text}
            for each in report.obstacles
        ],
        "nominated": list(report.nominated),
        "holders": [
            {
                "pod": each.pod.key,
                "resource": each.resource,
                "amount": each.amount,
                "owner": None if each.pod.owner is None else f"{each.pod.owner.kind} {each.pod.owner.name}",
                "priority": each.pod.priority,
                "leaving": each.pod.terminating,
            }
            for each in report.holders
        ],
        "lands": [
            {
                "pod": each.pod.key,
                "victims": [pod.key for pod in each.victims],
                "notKnown": list(report.unknowns.get(each.pod.key, ())),
            }
            for each in report.of(Fate.LANDS)
        ],
        "fits": [{"pod": each.pod.key, "node": each.node, "behind": each.behind} for each in report.of(Fate.FITS)],
        "blocked": [
            {"pods": [each.pod.key for each in pods], "causes": [cause._asdict() for cause in causes]}
            for causes, pods in report.blocked.items()
        ],
        "notes": list(report.notes),
    }


def _pair(tolerance: ToleratingPods | None) -> dict[str, int]:
    return {} if tolerance is None else {"count": tolerance.number, "total": tolerance.total}


def _quantity(resource: str, number: int) -> str:
    return f"{number}m" if resource == "cpu" else str(number)
