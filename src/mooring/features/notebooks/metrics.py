"""What is counted of notebook validation, under the names and labels that dashboards of the API know."""

from __future__ import annotations

from collections import Counter as Counts
from typing import Any, Final

from mooring.api.kinds import Kind
from mooring.features.notebooks.api.jobs import NotebookValidationJob
from mooring.features.notebooks.kinds import VALIDATION_POD, ValidationPod
from mooring.features.notebooks.validation_pod.names import CLONE
from mooring.kube.times import moment
from mooring.runtime.controllermetrics import Counter, Durations, Gauge, Sample
from mooring.runtime.dispatcher.store import Changed
from mooring.runtime.folds import Fold

__all__ = [
    "ACTIVE_PODS",
    "ALL_METRICS",
    "CLONE_SECONDS",
    "PODS_IN_PHASES",
    "POD_CREATIONS",
    "PROBLEMS",
    "UNSCHEDULABLE_PODS",
    "VALIDATIONS",
    "clone_seconds",
    "pod_gauges",
    "pod_problem",
]

_PREFIX: Final = "notebookvalidationjob"
_ACTIVE_PHASES: Final = ("Pending", "Running")

VALIDATIONS: Final = Counter(f"{_PREFIX}_validations_total", "Jobs that ended, by how.", ("namespace", "status"))
POD_CREATIONS: Final = Counter(
    f"{_PREFIX}_pod_creations_total",
    "Pods that were created, and jobs that ended because theirs was refused.",
    ("namespace", "result"),
)
PROBLEMS: Final = Counter(
    f"{_PREFIX}_reconciliation_errors_total",
    "Attempts that failed for another reason than the notebook, by the reason.",
    ("namespace", "error_type"),
)
ACTIVE_PODS: Final = Gauge(f"{_PREFIX}_active_pods", "Pods that have not ended, by phase.", ("namespace", "phase"))
UNSCHEDULABLE_PODS: Final = Gauge(
    f"{_PREFIX}_unschedulable_pods", "Pods that a scheduler found no node for.", ("namespace",)
)
CLONE_SECONDS: Final = Durations(
    f"{_PREFIX}_git_clone_duration_seconds",
    "How long the repository of a notebook took to clone.",
    ("namespace", "auth_type"),
    (0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0),
)
ALL_METRICS: Final = (VALIDATIONS, POD_CREATIONS, PROBLEMS, ACTIVE_PODS, UNSCHEDULABLE_PODS, CLONE_SECONDS)

# How many pods of a namespace are in a phase; an unschedulable one is counted once more, under that word.
PhaseCounts = Counts[tuple[str, str]]
_UNSCHEDULABLE: Final = "Unschedulable"


def _words(pod: ValidationPod | None) -> tuple[str, ...]:
    if pod is None:
        return ()
    phase = pod.status.phase or "Pending"
    waits = any(c.type == "PodScheduled" and c.reason == _UNSCHEDULABLE for c in pod.status.conditions)
    return (phase, _UNSCHEDULABLE) if waits and phase == "Pending" else (phase,)


def _apply(counts: PhaseCounts, kind: Kind[Any], change: Changed) -> bool:
    key, old, new = change[:3]
    for word in _words(old):
        counts[key.namespace, word] -= 1
    for word in _words(new):
        counts[key.namespace, word] += 1
    # Nobody decides by it.
    return False


PODS_IN_PHASES: Final[Fold[PhaseCounts]] = Fold("validation-pods", (VALIDATION_POD,), Counts, _apply)


def pod_gauges(counts: PhaseCounts, namespace: str) -> tuple[Sample, ...]:
    active = (ACTIVE_PODS.set(namespace, phase, value=counts[namespace, phase]) for phase in _ACTIVE_PHASES)
    return (*active, UNSCHEDULABLE_PODS.set(namespace, value=counts[namespace, _UNSCHEDULABLE]))


def pod_problem(namespace: str, reason: str) -> Sample:
    return PROBLEMS.add(namespace, reason)


def clone_seconds(job: NotebookValidationJob, pod: ValidationPod | None) -> tuple[Sample, ...]:
    """How long the notebook's own repository took, once it was cloned."""
    steps = () if pod is None else pod.status.init_container_statuses
    ended = next((step.state.terminated for step in steps if step.name == CLONE), None)
    if ended is None or ended.exit_code or job.spec is None or not (ended.started_at and ended.finished_at):
        return ()
    took = moment(ended.finished_at) - moment(ended.started_at)
    return (CLONE_SECONDS.observe(job.metadata.namespace, _auth_type(job), seconds=took.total_seconds()),)


def _auth_type(job: NotebookValidationJob) -> str:
    """By the address alone: what is in a Secret is not known here."""
    assert job.spec is not None
    git = job.spec.notebook.git
    if not git.credentials_secret:
        return "none"
    return "ssh" if git.url.startswith(("ssh://", "git@")) else "https"
