"""How far a workload has come: what `plan` says of one that its horizon left on its way."""

from __future__ import annotations

from mooring.kube.objects import Object


def job_progress(obj: Object) -> str:
    spec, done = obj.get("spec", {}), obj.get("status", {}).get("succeeded", 0)
    wanted = spec.get("completions") or spec.get("parallelism", 1)
    return f"{done:,} of {wanted:,} pods have succeeded" if done < wanted else ""


def daemon_set_progress(obj: Object) -> str:
    status = obj.get("status", {})
    return _ready(status.get("desiredNumberScheduled"), status.get("numberReady", 0))


def replicas_progress(obj: Object) -> str:
    return _ready(obj.get("spec", {}).get("replicas"), obj.get("status", {}).get("readyReplicas", 0))


def _ready(wanted: int | None, ready: int) -> str:
    return f"{ready:,} of {wanted:,} pods are ready" if isinstance(wanted, int) and ready < wanted else ""
