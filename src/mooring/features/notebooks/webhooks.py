"""The webhooks of NotebookValidationJobs: a job that could make no pod is refused at once, by its own fields."""

from __future__ import annotations

from typing import Final

import msgspec

from mooring.features.notebooks.api.jobs import NotebookValidationJob
from mooring.features.notebooks.api.names import API_VERSION, PLURAL
from mooring.features.notebooks.comparison import annotation_warnings
from mooring.features.notebooks.defaults import default_job
from mooring.features.notebooks.kinds import NOTEBOOK_VALIDATION_JOB
from mooring.features.notebooks.unavailable import unavailable_warnings
from mooring.features.notebooks.validation.job import validate_job, validate_job_update
from mooring.features.notebooks.validation.scheduling_warnings import scheduling_warnings
from mooring.runtime.view import View
from mooring.runtime.webhooks.model import Admitted, Denied, Rule, Webhook, WebhookRequest
from mooring.workloads.kinds import NODE

__all__ = ["WEBHOOKS"]

_RULES: Final = (Rule(API_VERSION, PLURAL, ("CREATE", "UPDATE")),)
_SWITCH: Final = "notebook-validation-webhook"
# As long as what the API server puts behind a generateName.
_SUFFIX: Final = "xxxxx"


def fill_in(request: WebhookRequest, view: View) -> Admitted | Denied:
    return Admitted() if request.object is None else Admitted(default_job(request.object))


def check(request: WebhookRequest, view: View) -> Admitted | Denied:
    job, old = request.typed(NOTEBOOK_VALIDATION_JOB), request.old_typed(NOTEBOOK_VALIDATION_JOB)
    if job is None or request.object is None or job.metadata.deleting:
        # What goes away must be able to go, whatever is wrong with it.
        return Admitted()
    job = _named(job, request.object["metadata"].get("generateName", ""))
    errors = validate_job(job) if old is None else validate_job_update(job, old)
    if errors or job.spec is None:
        return Denied(errors=tuple(errors)) if errors else Admitted()
    if old is not None and old.spec == job.spec:
        return Admitted()
    nodes = view.list(NODE) if job.spec.pod_config.node_selector else ()
    return Admitted(
        warnings=(
            *unavailable_warnings(job.spec),
            *annotation_warnings(job),
            *scheduling_warnings(job.spec, nodes),
        )
    )


def _named(job: NotebookValidationJob, prefix: str) -> NotebookValidationJob:
    """A job whose name the API server makes up, with one of the same length."""
    if job.metadata.name or not prefix:
        return job
    return msgspec.structs.replace(job, metadata=msgspec.structs.replace(job.metadata, name=f"{prefix}{_SUFFIX}"))


DEFAULTING: Final = Webhook("defaults.notebookvalidationjob.mooring.dev", "mutating", fill_in, _RULES, switch=_SWITCH)
VALIDATION: Final = Webhook(
    "validation.notebookvalidationjob.mooring.dev", "validating", check, _RULES, reads=(NODE,), switch=_SWITCH
)
WEBHOOKS: Final = (DEFAULTING, VALIDATION)
