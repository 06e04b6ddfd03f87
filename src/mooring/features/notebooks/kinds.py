"""The kinds that notebook validation reads and writes, beside those that all workloads share."""

from __future__ import annotations

from typing import Final

from mooring.api.core.types import View
from mooring.api.kinds import Kind
from mooring.api.meta import Condition, Meta
from mooring.features.notebooks.api.jobs import NotebookValidationJob
from mooring.features.notebooks.api.names import API_VERSION, APP, APP_LABEL, KIND
from mooring.runtime.reads import metadata_of, named, selected

__all__ = [
    "CONFIG_MAP_META",
    "NOTEBOOK_VALIDATION_JOB",
    "SECRET_META",
    "VALIDATION_POD",
    "PodStep",
    "StepEnd",
    "StepState",
    "StepWait",
    "ValidationPod",
    "ValidationPodSpec",
    "ValidationPodStatus",
]


class StepEnd(View, frozen=True):
    """How a container ended."""

    exit_code: int = 0
    reason: str = ""
    message: str = ""
    started_at: str | None = None
    finished_at: str | None = None


class StepWait(View, frozen=True):
    reason: str = ""
    message: str = ""


class StepState(View, frozen=True):
    waiting: StepWait | None = None
    terminated: StepEnd | None = None


class PodStep(View, frozen=True):
    """One container of a validation pod: one that clones, or the one that runs the notebook."""

    name: str = ""
    state: StepState = StepState()


class ValidationPodSpec(View, frozen=True):
    node_name: str = ""


class ValidationPodStatus(View, frozen=True):
    phase: str = ""
    reason: str = ""
    message: str = ""
    conditions: tuple[Condition, ...] = ()
    init_container_statuses: tuple[PodStep, ...] = ()
    container_statuses: tuple[PodStep, ...] = ()


class ValidationPod(View, frozen=True):
    """A pod of a job, with everything that says how far it is and why it failed."""

    metadata: Meta = Meta()
    spec: ValidationPodSpec = ValidationPodSpec()
    status: ValidationPodStatus = ValidationPodStatus()

    @property
    def is_finished(self) -> bool:
        return self.status.phase in ("Succeeded", "Failed")


NOTEBOOK_VALIDATION_JOB: Final = Kind(API_VERSION, KIND, NotebookValidationJob, optional=True)
VALIDATION_POD: Final = selected(Kind("v1", "Pod", ValidationPod), f"{APP_LABEL}={APP}")
# Whether they are there is all that a controller knows of them: no value of theirs is ever received.
SECRET_META: Final = named(metadata_of("v1", "Secret"))
CONFIG_MAP_META: Final = named(metadata_of("v1", "ConfigMap"))
