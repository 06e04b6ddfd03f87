"""Notebooks in a plan: a pod of a job is said to end soon after it has started.

A plan shows where pods land. Nobody runs a notebook there, and without an end every plan would last as long as the
timeout of its longest job.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mooring.api.kinds import Key
from mooring.features.notebooks.api.names import APP, APP_LABEL
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Patch
from mooring.runtime.view import View
from mooring.workloads.kinds import POD

__all__ = ["CONTROLLER"]

_RUN: Final = {"metadata": {"annotations": {"mooring.dev/duration": "10s"}}}


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    pod = view.get(POD, *key)
    if pod is None or pod.metadata.labels.get(APP_LABEL) != APP or pod.metadata.annotations.duration:
        return Decision()
    return Decision(children=(Patch(POD, key, _RUN),))


CONTROLLER: Final = Controller("notebook-runs", reconcile, of=POD, writes={POD: ("patch",)})
