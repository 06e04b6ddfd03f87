"""Pods whose Job is gone lose the tracking finalizer: no Job counts them, and with it they could never be deleted."""

from __future__ import annotations

from datetime import datetime
from itertools import chain
from typing import Final

from mooring.api.core.views import Pod
from mooring.api.kinds import HasMeta, Key
from mooring.builtin.batch.job.pods import TRACKING, untracked
from mooring.builtin.orphans import dependence
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Patch
from mooring.runtime.view import View
from mooring.workloads.finalizers import has_finalizer
from mooring.workloads.kinds import JOB, POD

MAX_WRITES_PER_PASS = 500


def _uid(job: HasMeta) -> str:
    return job.metadata.uid


def _job_of(pod: Pod) -> str | None:
    """The uid of the Job that tracks a pod; empty when the reference to it is gone."""
    if not has_finalizer(pod, TRACKING):
        return None
    owner = pod.metadata.controller
    return owner.uid if owner is not None and owner.kind == "Job" else ""


TRACKED_PODS = dependence("tracked-pods", JOB, _uid, _job_of)


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    releases: list[Patch] = []
    for orphan in list(chain.from_iterable(view.fold(TRACKED_PODS).orphans.values()))[:MAX_WRITES_PER_PASS]:
        pod = view.get(POD, *orphan)
        if pod is not None:
            releases += untracked((pod,))
    return Decision(release=tuple(releases))


CONTROLLER: Final = Controller(
    "job-orphans", reconcile, reads=(JOB, POD), writes={POD: ("patch",)}, folds=(TRACKED_PODS,)
)
