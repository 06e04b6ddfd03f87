"""Notebook jobs in a plan: the Secrets and ConfigMaps that a job names are there, and no job is cleaned up.

A snapshot holds no such object, and a job waits for what it names; where its pod lands does not depend on it. A plan
that waited until jobs are deleted would last for days.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from mooring.api.kinds import Key, Kind
from mooring.features.notebooks.kinds import CONFIG_MAP_META, NOTEBOOK_VALIDATION_JOB, SECRET_META
from mooring.features.notebooks.references import missing_references
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Patch
from mooring.runtime.view import View
from mooring.workloads.kinds import CONFIG_MAP, SECRET

__all__ = ["CONTROLLER"]

_KINDS: Final[dict[str, Kind[Any]]] = {"Secret": SECRET, "ConfigMap": CONFIG_MAP}
_KEPT: Final = {"spec": {"ttlSecondsAfterFinished": None}}


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    job = view.get(NOTEBOOK_VALIDATION_JOB, *key)
    if job is None or job.spec is None:
        return Decision()
    missing = (each.split(" ") for each in missing_references(view, key.namespace, job.spec))
    assumed = (Create(_KINDS[kind], {"metadata": {"name": name, "namespace": key.namespace}}) for kind, name in missing)
    kept = () if job.spec.ttl_seconds_after_finished is None else (Patch(NOTEBOOK_VALIDATION_JOB, key, _KEPT),)
    return Decision(children=(*assumed, *kept))


CONTROLLER: Final = Controller(
    "notebook-jobs",
    reconcile,
    of=NOTEBOOK_VALIDATION_JOB,
    reads=(SECRET_META, CONFIG_MAP_META),
    writes={NOTEBOOK_VALIDATION_JOB: ("patch",), SECRET: ("create",), CONFIG_MAP: ("create",)},
)
