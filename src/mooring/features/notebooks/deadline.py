"""The end of a job's time. Its pod is stopped by its node, so that the runner can still say how far it came.

The pod carries the time that was left when it was made as its activeDeadlineSeconds. A node that reaches it stops the
pod and keeps its log, which a deletion would not. A pod that is not stopped soon after the deadline, because it waited
long for its node or because the node is away, is not waited for.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from mooring.features.notebooks.api.jobs import NotebookValidationJob, ValidationSpec
from mooring.features.notebooks.conditions import moving
from mooring.features.notebooks.ending import fail
from mooring.features.notebooks.kinds import ValidationPod
from mooring.features.notebooks.pods.failures import is_stopped, reported_end, runs
from mooring.features.notebooks.result_log import NO_RESULT, read_result
from mooring.features.notebooks.run_time import run_time
from mooring.features.notebooks.status_writes import told
from mooring.kube.times import moment
from mooring.runtime.decision import Decision
from mooring.runtime.effects import Effect, PodLog
from mooring.runtime.view import View

__all__ = ["deadline_of", "is_over", "overdue", "seconds_left"]

# A pod has half a minute to stop, and its node a moment to say so.
STOP_TIME: Final = timedelta(seconds=45)


def deadline_of(job: NotebookValidationJob, spec: ValidationSpec) -> datetime:
    """From the start of the job: time without a node counts."""
    assert job.status.start_time is not None
    return moment(job.status.start_time) + run_time(spec)


def seconds_left(job: NotebookValidationJob, spec: ValidationSpec, now: datetime) -> int:
    """What a node lets a pod run that is made now; whole seconds, of which one is the least."""
    return max(1, -int(-(deadline_of(job, spec) - now).total_seconds() // 1))


def is_over(view: View, pod: ValidationPod | None, deadline: datetime) -> bool:
    """Whether the time is over. A run that ended before may be read afterwards."""
    if pod is not None and is_stopped(pod):
        return True
    ended = None if pod is None else reported_end(pod)
    in_time = ended is not None and ended.finished_at is not None and moment(ended.finished_at) <= deadline
    return view.reached(deadline) and not in_time


def overdue(
    view: View,
    job: NotebookValidationJob,
    spec: ValidationSpec,
    pod: ValidationPod | None,
    now: datetime,
    reader: Effect[PodLog],
) -> Decision:
    text = f"the job took longer than spec.timeout {spec.timeout}, counted from its start"
    if pod is None or pod.status.phase not in ("Running", "Failed") or pod.metadata.deleting:
        return fail(job, "ValidationTimeout", f"{text}; last: {job.status.message}", now, pod=pod)
    if runs(pod) and not view.reached(deadline_of(job, spec) + STOP_TIME):
        state = moving(job.status, "ValidationTimeout", f"{text}; pod {pod.metadata.name} is being stopped")
        return Decision(status=told(job, state, now))
    reading = read_result(view, job, pod, reader) if is_stopped(pod) else None
    if reading is not None and reading.verdict is None and not reading.given_up:
        return Decision(effects=reading.runs)
    verdict = None if reading is None else reading.verdict
    if verdict is not None and verdict.outcome != NO_RESULT:
        text = f"{text}; {verdict.message}"
    return fail(job, "ValidationTimeout", text, now, pod=pod)
