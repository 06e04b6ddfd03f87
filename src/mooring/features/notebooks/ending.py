"""How a job ends, and what comes after: one function writes every end, and an attempt that failed may have another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from mooring.api.kinds import key_of
from mooring.api.meta import Condition
from mooring.features.notebooks.api.jobs import NotebookValidationJob
from mooring.features.notebooks.attempts import MAX_ATTEMPTS, has_another, next_attempt_at
from mooring.features.notebooks.conditions import FAILED, SUCCEEDED, JobState, moving
from mooring.features.notebooks.events import ended_event, event_about
from mooring.features.notebooks.kinds import NOTEBOOK_VALIDATION_JOB, VALIDATION_POD, ValidationPod
from mooring.features.notebooks.metrics import VALIDATIONS, clone_seconds, pod_problem
from mooring.features.notebooks.pods.failures import AttemptFailure
from mooring.features.notebooks.status_writes import told
from mooring.kube.times import moment, timestamp
from mooring.runtime.controllermetrics import Sample
from mooring.runtime.decision import Decision, Delete, Patch, Write
from mooring.runtime.view import View

__all__ = ["after_end", "attempt_failed", "fail", "live_pod_deletions", "succeed"]

SYNC_WAVE: Final = "argocd.argoproj.io/sync-wave"
WAVE_COMPLETE: Final = "mlops.dev/wave-complete"
WAVE_FAILED: Final = "mlops.dev/wave-failed"
COMPLETION_TIME: Final = "mlops.dev/completion-time"


def _end(
    job: NotebookValidationJob,
    state: JobState,
    now: datetime,
    *,
    pod: ValidationPod | None = None,
    conditions: Iterable[Condition] = (),
    fields: Mapping[str, Any] | None = None,
    metrics: Iterable[Sample] = (),
) -> Decision:
    """The end of a job. What of its pod still lives is deleted when the end has been written."""
    namespace = job.metadata.namespace
    ended = VALIDATIONS.add(namespace, "succeeded" if state.phase == SUCCEEDED else "failed")
    return Decision(
        status=told(job, state, now, conditions, fields),
        events=(ended_event(job, state),),
        metrics=(ended, *clone_seconds(job, pod), *metrics),
        log=(f"{state.phase}: {state.message}",),
    )


def succeed(job: NotebookValidationJob, message: str, now: datetime, pod: ValidationPod) -> Decision:
    return _end(job, JobState(SUCCEEDED, "ValidationComplete", message, False), now, pod=pod)


def fail(
    job: NotebookValidationJob,
    reason: str,
    message: str,
    now: datetime,
    *,
    pod: ValidationPod | None = None,
    conditions: Iterable[Condition] = (),
    fields: Mapping[str, Any] | None = None,
    metrics: Iterable[Sample] = (),
) -> Decision:
    state = JobState(FAILED, reason, message, False)
    return _end(job, state, now, pod=pod, conditions=conditions, fields=fields, metrics=metrics)


def attempt_failed(
    job: NotebookValidationJob, failure: AttemptFailure, now: datetime, pod: ValidationPod | None = None
) -> Decision:
    """Another attempt, where one could mend it and one is left; else the end."""
    problem = pod_problem(job.metadata.namespace, failure.reason)
    if failure.remedy != "retry":
        return fail(job, failure.reason, failure.message, now, pod=pod, metrics=(problem,))
    if not has_another(job.status):
        text = f"{failure.message}; {MAX_ATTEMPTS} attempts failed"
        return fail(job, failure.reason, text, now, pod=pod, metrics=(problem,))
    number = job.status.retry_count + 1
    at = next_attempt_at(number, now)
    text = f"attempt {number} of {MAX_ATTEMPTS} failed: {failure.message}; the next one begins at {timestamp(at)}"
    fields = {"retryCount": number, "lastRetryTime": timestamp(now)}
    return Decision(
        status=told(job, moving(job.status, failure.reason, text), now, fields=fields),
        events=(event_about(job, "Warning", "AttemptFailed", text),),
        metrics=(problem, *clone_seconds(job, pod)),
    )


def after_end(view: View, job: NotebookValidationJob, pods: Iterable[ValidationPod]) -> Decision:
    """A job that ended has no pod that lives, tells Argo CD of its wave, and goes when its time is over."""
    ttl = None if job.spec is None else job.spec.ttl_seconds_after_finished
    ended = job.status.completion_time
    if ttl is not None and ended is not None and view.reached(moment(ended) + timedelta(seconds=ttl)):
        return Decision(release=(Delete(NOTEBOOK_VALIDATION_JOB, key_of(job), "Background"),))
    return Decision(children=(*live_pod_deletions(pods), *_wave(job)))


def live_pod_deletions(pods: Iterable[ValidationPod]) -> tuple[Write, ...]:
    """Pods that ended stay, with their logs, for as long as the job."""
    living = (pod for pod in pods if not pod.is_finished and not pod.metadata.deleting)
    return tuple(Delete(VALIDATION_POD, key_of(pod)) for pod in living)


def _wave(job: NotebookValidationJob) -> tuple[Patch, ...]:
    wave = job.metadata.annotations.get(SYNC_WAVE)
    name = WAVE_COMPLETE if job.status.phase == SUCCEEDED else WAVE_FAILED
    if wave is None or job.metadata.annotations.get(name) == wave:
        return ()
    annotations = {name: wave, COMPLETION_TIME: job.status.completion_time or ""}
    return (Patch(NOTEBOOK_VALIDATION_JOB, key_of(job), {"metadata": {"annotations": annotations}}),)
