"""What pools and Machines still wait for, in one sentence: for plans, and for pods that find no node."""

from __future__ import annotations

from mooring.kube.objects import Object

__all__ = ["machine_progress", "pool_progress"]


def pool_progress(obj: Object) -> str:
    status = obj.get("status", {})
    wanted, ready = obj.get("spec", {}).get("replicas"), status.get("readyReplicas", 0)
    wanted = 1 if wanted is None else wanted
    if ready >= wanted:
        return _waits(status, "RollingOut")
    blocked = _waits(status, "RollingOut") or _message(status, "MachinesReady")
    return f"{ready:,} of {wanted:,} Machines are ready" + (f": {blocked}" if blocked else "")


def machine_progress(obj: Object) -> str:
    status = obj.get("status", {})
    going = _waits(status, "Deleting")
    return going or _message(status, "Ready")


def _waits(status: Object, kind: str) -> str:
    found = [each for each in status.get("conditions", ()) if each["type"] == kind and each["status"] == "True"]
    return found[0].get("message", "") if found else ""


def _message(status: Object, kind: str) -> str:
    found = [each for each in status.get("conditions", ()) if each["type"] == kind and each["status"] != "True"]
    return found[0].get("message", "") if found else ""
