"""The pod of an attempt, from the question whether a node can take it to its creation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from mooring.api.conditions import find_condition
from mooring.features.notebooks.api.jobs import NotebookValidationJob, ValidationSpec
from mooring.features.notebooks.attempts import begins_at
from mooring.features.notebooks.conditions import JobState, moving, stalled
from mooring.features.notebooks.deadline import seconds_left
from mooring.features.notebooks.ending import attempt_failed, fail, live_pod_deletions
from mooring.features.notebooks.events import created_event, event_about, scheduling_lines
from mooring.features.notebooks.flags import GIT_INIT_IMAGE
from mooring.features.notebooks.job_memory import JobMemory
from mooring.features.notebooks.kinds import VALIDATION_POD, ValidationPod
from mooring.features.notebooks.metrics import POD_CREATIONS
from mooring.features.notebooks.placing import PodPlacing, ask, placeable_condition
from mooring.features.notebooks.pods.failures import deleted_pod
from mooring.features.notebooks.references import missing_references
from mooring.features.notebooks.status_writes import told
from mooring.features.notebooks.validation_pod.config_map import runner_config_map
from mooring.features.notebooks.validation_pod.names import pod_name
from mooring.features.notebooks.validation_pod.pod import validation_pod
from mooring.notebook_runner.bundle import runner_zip
from mooring.runtime.decision import Create, Decision, Event
from mooring.runtime.view import View
from mooring.workloads.kinds import CONFIG_MAP
from mooring.workloads.placeable import PLACEABLE

__all__ = ["create_pod"]

# How an API server begins to say that an object can never be created as it is.
_INVALID: Final = " is invalid: "


def create_pod(
    view: View, job: NotebookValidationJob, spec: ValidationSpec, others: Sequence[ValidationPod], now: datetime
) -> Decision:
    """`others` are pods of earlier attempts; the pod of this one is not there."""
    status, namespace = job.status, job.metadata.namespace
    name = pod_name(job.metadata.name, status.retry_count)

    # 1. A pod that was there and is gone was deleted by somebody else.
    if status.validation_pod_name == name:
        return attempt_failed(job, deleted_pod(name), now)

    # 2. No two pods of a job live at once, and another attempt gives its cause time to pass.
    deletions = live_pod_deletions(others)
    begins = begins_at(status)
    if any(not pod.is_finished for pod in others) or (begins is not None and not view.reached(begins)):
        return Decision(children=deletions)

    # 3. What the pod mounts and reads is there.
    missing = missing_references(view, namespace, spec)
    if missing:
        text = f"{' and '.join(missing)} in namespace {namespace} not found; create what is missing"
        state = stalled(status, "WaitingForDependency", text)
        return Decision(status=told(job, state, now), events=_news(job, state))

    # 4. A node can take it: nodes on which nothing runs do not count.
    pod = validation_pod(job, status.retry_count, git_image=view.settings[GIT_INIT_IMAGE])
    pod["spec"]["activeDeadlineSeconds"] = seconds_left(job, spec, now)
    placing = ask(view, pod)
    condition = placeable_condition(placing)
    if placing.answer == "SimulatedNode":
        return fail(job, "SimulatedNode", placing.message, now, conditions=(condition,))

    # 5. The API accepts it. A refusal is told before the next try; one for good ends the job.
    refused = view.problem
    if _INVALID in refused and f'"{name}"' in refused:
        failed = POD_CREATIONS.add(namespace, "failed")
        return fail(job, "ConfigurationError", refused, now, conditions=(condition,), metrics=(failed,))
    state = stalled(status, "PodCreationFailed", refused) if refused else _made(job, name, placing)
    writes = told(job, state, now, (condition,))
    return Decision(
        intent=(Create(CONFIG_MAP, runner_config_map(job, runner_zip())), *(writes if refused else ())),
        children=(Create(VALIDATION_POD, pod),),
        status=() if refused else writes,
        events=(created_event(job, pod), *_news(job, state)),
        metrics=(POD_CREATIONS.add(namespace, "success"),),
        log=scheduling_lines(pod),
        memory=JobMemory(placing),
    )


def _made(job: NotebookValidationJob, name: str, placing: PodPlacing) -> JobState:
    if placing.answer == "Unschedulable":
        return stalled(job.status, "Unschedulable", placing.message)
    return moving(job.status, "PodCreated", f"pod {name} was created; {placing.message}")


def _news(job: NotebookValidationJob, state: JobState) -> tuple[Event, ...]:
    """A job that begins to wait for somebody says so once."""
    known = find_condition(job.status.conditions, PLACEABLE if state.reason == "Unschedulable" else "Progressing")
    if state.progressing or (known is not None and (known.status, known.reason) == ("False", state.reason)):
        return ()
    return (event_about(job, "Warning", state.reason, state.message),)
