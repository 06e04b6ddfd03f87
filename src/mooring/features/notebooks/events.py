"""Events about a job, and the lines of the log that say what scheduling its pod was given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from mooring.api.kinds import Key, key_of, key_of_object
from mooring.features.notebooks.api.jobs import NotebookValidationJob
from mooring.features.notebooks.conditions import SUCCEEDED, JobState
from mooring.features.notebooks.kinds import NOTEBOOK_VALIDATION_JOB, VALIDATION_POD
from mooring.kube.objects import Object
from mooring.runtime.decision import Event

__all__ = ["REPORTER", "created_event", "ended_event", "event_about", "scheduling_lines"]

REPORTER: Final = "jupyter-notebook-validator-operator"
_NOTIFICATION: Final = "mlops.dev/notification-type"


def event_about(job: NotebookValidationJob, severity: Literal["Normal", "Warning"], reason: str, message: str) -> Event:
    return Event(NOTEBOOK_VALIDATION_JOB, key_of(job), severity, reason, message)


def ended_event(job: NotebookValidationJob, state: JobState) -> Event:
    """One for each job that ended; what notifies people selects it by its label."""
    if state.phase == SUCCEEDED:
        told, label = event_about(job, "Normal", "ValidationSucceeded", state.message), "validation-success"
    else:
        text = f"{state.reason}: {state.message}"
        told, label = event_about(job, "Warning", "ValidationFailed", text), "validation-failure"
    return told._replace(labels=((_NOTIFICATION, label),))


def created_event(job: NotebookValidationJob, pod: Object) -> Event:
    key: Key = key_of_object(pod)
    applied = ", ".join(_scheduling(pod)) or "no constraints"
    text = f"Created pod {key.name}; scheduling: {applied}"
    return Event(NOTEBOOK_VALIDATION_JOB, key_of(job), "Normal", "PodCreated", text, (VALIDATION_POD, key), "Create")


def scheduling_lines(pod: Object) -> tuple[str, ...]:
    """What was put into the pod, one line each; none for a pod that may go anywhere."""
    name = pod["metadata"]["name"]
    return tuple(f"Adding {part} to pod {name}" for part in _scheduling(pod))


def _scheduling(pod: Object) -> Iterator[str]:
    spec = pod["spec"]
    if tolerations := spec.get("tolerations"):
        yield f"tolerations (count {len(tolerations)})"
    if selector := spec.get("nodeSelector"):
        yield f"nodeSelector {', '.join(f'{key}={value}' for key, value in selector.items())}"
    if "affinity" in spec:
        yield f"affinity ({', '.join(spec['affinity']) or 'empty'})"
