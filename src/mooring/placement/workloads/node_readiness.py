"""The readiness of a node in a file that does not tell it.

Files of earlier versions and those that people write have no conditions. A node in them stands for one that works,
unless it has the taint of one that does not.
"""

from __future__ import annotations

from typing import Final

from mooring.kube.objects import Object

__all__ = ["with_readiness"]

_OUTAGES: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def with_readiness(node: Object) -> Object:
    """The node with a condition Ready."""
    status = node.get("status") or {}
    conditions = status.get("conditions") or ()
    if any(isinstance(each, dict) and each.get("type") == "Ready" for each in conditions):
        return node
    taints = (node.get("spec") or {}).get("taints") or ()
    lost = next((each["key"] for each in taints if isinstance(each, dict) and each.get("key") in _OUTAGES), "")
    reason = lost.rpartition("/")[2] or "KubeletReady"
    ready = {"type": "Ready", "status": "False" if lost else "True", "reason": reason}
    return {**node, "status": {**status, "conditions": [*conditions, ready]}}
