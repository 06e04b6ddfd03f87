"""A pod that is there: where it landed, how far it is, and what it found."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mooring.api.conditions import find_condition
from mooring.api.meta import Condition
from mooring.features.notebooks.api.jobs import NotebookValidationJob
from mooring.features.notebooks.conditions import JobState, moving, stalled
from mooring.features.notebooks.ending import attempt_failed, fail, succeed
from mooring.features.notebooks.events import event_about
from mooring.features.notebooks.flags import UNSCHEDULABLE_GRACE
from mooring.features.notebooks.job_memory import JobMemory
from mooring.features.notebooks.kinds import StepEnd, ValidationPod
from mooring.features.notebooks.placing import (
    MAX_ANSWER_AGE,
    PodPlacing,
    ask,
    is_simulated,
    placeable_condition,
    simulated_text,
)
from mooring.features.notebooks.pods.failures import deleted_pod, find_failure, reported_end
from mooring.features.notebooks.result_log import NO_RESULT, RunVerdict, is_passed, read_result
from mooring.features.notebooks.status_writes import told
from mooring.features.notebooks.validation_pod.pod import validation_pod
from mooring.kube.durations import duration_text
from mooring.kube.times import moment
from mooring.runtime.decision import Decision, Patch
from mooring.runtime.effects import Effect, PodLog
from mooring.runtime.view import View
from mooring.workloads.placeable import PLACEABLE

__all__ = ["follow_pod"]

_UNAVAILABLE_EXIT_CODE: Final = 3


def follow_pod(
    view: View, job: NotebookValidationJob, pod: ValidationPod, now: datetime, reader: Effect[PodLog]
) -> Decision:
    name, node = pod.metadata.name, pod.spec.node_name

    # 1. What runs on a simulated node does not run.
    if node and is_simulated(view, node):
        condition = Condition(PLACEABLE, "False", "SimulatedNode", simulated_text(view, name, node))
        return fail(job, "SimulatedNode", condition.message, now, pod=pod, conditions=(condition,))

    # 2. A run that ended says what it found in its log, and nowhere else.
    ended = reported_end(pod)
    if ended is not None:
        return _report(view, job, pod, ended, now, reader)

    # 3. A pod that failed, or that somebody deletes, may be followed by another.
    failure = find_failure(pod)
    if failure is None and pod.metadata.deleting:
        failure = deleted_pod(name)
    if failure is not None and failure.remedy != "wait":
        return attempt_failed(job, failure, now, pod)

    # 4. A pod without a node waits for one, but not for ever.
    if not node:
        return _wait_for_node(view, job, pod, now)

    # 5. It is under way.
    if failure is not None:
        state = stalled(job.status, failure.reason, failure.message, landed=True)
    else:
        state = _under_way(job, pod)
    landed = Condition(PLACEABLE, "True", "Fits", f"pod {name} is on node {node}")
    return Decision(status=_told(job, pod, state, now, landed))


def _report(
    view: View, job: NotebookValidationJob, pod: ValidationPod, ended: StepEnd, now: datetime, reader: Effect[PodLog]
) -> Decision:
    reading = read_result(view, job, pod, reader)
    if reading.given_up:
        return fail(job, "ResultUnreadable", reading.given_up, now, pod=pod)
    if reading.verdict is None:
        text = f"the notebook has run in pod {pod.metadata.name}; its result is being read"
        state = moving(job.status, "ValidationInProgress", text, landed=True)
        return Decision(status=_told(job, pod, state, now), effects=reading.runs)
    if is_passed(reading.verdict, ended.exit_code):
        return succeed(job, reading.verdict.message, now, pod)
    return fail(job, *_verdict(reading.verdict, ended), now, pod=pod)


def _verdict(verdict: RunVerdict, ended: StepEnd) -> tuple[str, str]:
    """The reason and the sentence of a run that did not pass."""
    if verdict.outcome == NO_RESULT and ended.exit_code == _UNAVAILABLE_EXIT_CODE:
        text = "the image lacks what the runner needs; install nbclient, nbformat and ipykernel in it"
        return "RunnerUnavailable", ended.message.strip() or text
    if verdict.outcome == "Passed":
        text = f"the result says that the notebook passed, but the runner ended with exit code {ended.exit_code}"
        return "ResultInconsistent", text
    return verdict.reason, verdict.message


def _wait_for_node(view: View, job: NotebookValidationJob, pod: ValidationPod, now: datetime) -> Decision:
    known = find_condition(job.status.conditions, PLACEABLE)
    verdict = find_condition(pod.status.conditions, "PodScheduled")
    memory = view.memory(JobMemory) or JobMemory()
    refused = verdict is not None and (verdict.status, verdict.reason) == ("False", "Unschedulable")
    if not refused and (known is None or known.status == "True"):
        text = f"pod {pod.metadata.name} waits for a scheduler"
        return Decision(status=_told(job, pod, moving(job.status, "PodCreated", text), now), memory=memory)
    placing = memory.placing
    if placing is None or now >= placing.found + MAX_ANSWER_AGE:
        placing = ask(view, validation_pod(job, job.status.retry_count))
    view.poll_again(placing.found + MAX_ANSWER_AGE)
    if placing.answer not in ("WaitingForRoom", "Unschedulable"):
        # A scheduler knows more than the engine, of volumes for example; or it has not looked yet.
        text = placing.message if verdict is None or not refused else verdict.message
        placing = placing._replace(answer="Unschedulable", message=text) if refused else placing
    condition = placeable_condition(placing)
    grace = view.settings[UNSCHEDULABLE_GRACE]
    since = known.last_transition_time if known is not None and known.status == condition.status == "False" else None
    if since is not None and view.reached(moment(since) + grace):
        text = f"{placing.message}; no node could take it within {duration_text(grace)}"
        return fail(job, "Unschedulable", text, now, pod=pod, conditions=(condition,))
    state = _waiting(job, placing)
    is_news = condition.status == "False" and (known is None or known.status != "False")
    return Decision(
        status=_told(job, pod, state, now, condition),
        events=(event_about(job, "Warning", placing.answer, placing.message),) if is_news else (),
        memory=JobMemory(placing),
    )


def _waiting(job: NotebookValidationJob, placing: PodPlacing) -> JobState:
    if placing.answer == "Unschedulable":
        return stalled(job.status, placing.answer, placing.message)
    return moving(job.status, "ValidationPending", placing.message)


def _under_way(job: NotebookValidationJob, pod: ValidationPod) -> JobState:
    name, node = pod.metadata.name, pod.spec.node_name
    if pod.status.phase == "Running":
        return moving(job.status, "PodRunning", f"the notebook runs in pod {name} on node {node}", landed=True)
    for step in pod.status.init_container_statuses:
        if step.state.waiting is None and step.state.terminated is None:
            text = f"container {step.name} of pod {name} clones on node {node}"
            return moving(job.status, "GitCloneInProgress", text, landed=True)
    return moving(job.status, "PodCreated", f"pod {name} starts on node {node}", landed=True)


def _told(
    job: NotebookValidationJob, pod: ValidationPod, state: JobState, now: datetime, *conditions: Condition
) -> tuple[Patch, ...]:
    """The status, with the pod once it has been seen."""
    seen = pod.metadata.name
    fields = {} if job.status.validation_pod_name == seen else {"validationPodName": seen}
    return told(job, state, now, conditions, fields)
