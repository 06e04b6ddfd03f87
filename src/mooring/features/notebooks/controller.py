"""The controller of NotebookValidationJobs: from a job to a pod on a node that fits, and to its result in the status.

A job has at most one pod that lives. A pod is named after its attempt, and `status.retryCount` is the number of the
attempt that is on: it is raised before anything is done about the next one. Every moment that counts (start, last
retry, since when no node fits) stands in the status, so that a restart of the controller changes no deadline.
"""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Final

from mooring.api.kinds import Key
from mooring.api.meta import Condition
from mooring.features.notebooks.api.jobs import NotebookValidationJob
from mooring.features.notebooks.conditions import FINAL_PHASES, INITIALIZING, JobState
from mooring.features.notebooks.deadline import deadline_of, is_over, overdue
from mooring.features.notebooks.ending import after_end, fail
from mooring.features.notebooks.events import REPORTER
from mooring.features.notebooks.flags import GIT_INIT_IMAGE, UNSCHEDULABLE_GRACE
from mooring.features.notebooks.job_memory import JobMemory
from mooring.features.notebooks.kinds import (
    CONFIG_MAP_META,
    NOTEBOOK_VALIDATION_JOB,
    SECRET_META,
    VALIDATION_POD,
)
from mooring.features.notebooks.metrics import ALL_METRICS, PODS_IN_PHASES, pod_gauges
from mooring.features.notebooks.pods.creation import create_pod
from mooring.features.notebooks.pods.progress import follow_pod
from mooring.features.notebooks.result_log import READ_RESULT
from mooring.features.notebooks.status_writes import stated, told
from mooring.features.notebooks.unavailable import (
    BUILD_REASON,
    MODELS_REASON,
    build_status,
    model_validation_result,
)
from mooring.features.notebooks.validation_pod.names import pod_name
from mooring.kube.times import timestamp
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision
from mooring.runtime.effects import Effect, PodLog
from mooring.runtime.view import View
from mooring.workloads.cluster_state import CLUSTER
from mooring.workloads.kinds import CONFIG_MAP, NODE

__all__ = ["CONTROLLER", "notebook_validation"]

MODELS_CHECKED: Final = "ModelsChecked"


def _reconcile(key: Key, view: View, now: datetime, *, reader: Effect[PodLog]) -> Decision:
    job = view.get(NOTEBOOK_VALIDATION_JOB, *key)
    decided = Decision() if job is None or job.metadata.deleting else _decide(view, job, now, reader)
    gauges = pod_gauges(view.peek(PODS_IN_PHASES), key.namespace)
    return decided._replace(metrics=(*decided.metrics, *gauges))


def _decide(view: View, job: NotebookValidationJob, now: datetime, reader: Effect[PodLog]) -> Decision:
    status, spec = job.status, job.spec
    pods = {pod.metadata.name: pod for pod in view.owned(VALIDATION_POD, job)}

    # 1. An end is final.
    if status.phase in FINAL_PHASES:
        return after_end(view, job, pods.values())

    # 2. The clock starts.
    if status.start_time is None:
        return _begin(job, now)

    # 3. What cannot be done here is refused.
    if spec is None:
        return fail(job, "ConfigurationError", "the job has no spec; give it a notebook and a podConfig", now)
    if (build := build_status(spec)) is not None:
        return fail(job, BUILD_REASON, build.message, now, fields={"buildStatus": stated(build)})

    # 4. Its time is not over.
    pod = pods.pop(pod_name(job.metadata.name, status.retry_count), None)
    if is_over(view, pod, deadline_of(job, spec)):
        return overdue(view, job, spec, pod, now, reader)

    # 5. There is a pod, and it goes its way.
    if pod is None:
        return create_pod(view, job, spec, tuple(pods.values()), now)
    return follow_pod(view, job, pod, now, reader)


def _begin(job: NotebookValidationJob, now: datetime) -> Decision:
    state = JobState(INITIALIZING, "Initializing", "the job was accepted", True)
    fields: dict[str, object] = {"startTime": timestamp(now), "retryCount": 0}
    conditions: tuple[Condition, ...] = ()
    if job.spec is not None and (models := model_validation_result(job.spec)) is not None:
        fields["modelValidationResult"] = stated(models)
        conditions = (Condition(MODELS_CHECKED, "False", MODELS_REASON, models.message),)
    return Decision(status=told(job, state, now, conditions, fields))


def notebook_validation(reader: Effect[PodLog] = READ_RESULT) -> Controller:
    """`reader` reads the result of a run; tests bring one of their own."""
    return Controller(
        "notebook-validation",
        partial(_reconcile, reader=reader),
        of=NOTEBOOK_VALIDATION_JOB,
        reads=(VALIDATION_POD, NODE, SECRET_META, CONFIG_MAP_META),
        writes={
            NOTEBOOK_VALIDATION_JOB: ("patch", "delete", "status", "finalizers"),
            VALIDATION_POD: ("create", "delete", "log"),
            CONFIG_MAP: ("create",),
        },
        folds=(CLUSTER, PODS_IN_PHASES),
        effects=(reader,),
        memory=JobMemory,
        metrics=ALL_METRICS,
        settings=(UNSCHEDULABLE_GRACE, GIT_INIT_IMAGE),
        reporter=REPORTER,
    )


CONTROLLER: Final = notebook_validation()
