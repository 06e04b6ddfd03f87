"""Notebook validation as a feature: what the product must know of it, and nothing that takes long to load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mooring.features.notebooks.flags import GIT_INIT_IMAGE, UNSCHEDULABLE_GRACE
from mooring.kube.objects import Object
from mooring.runtime.feature import Feature, Parts

if TYPE_CHECKING:
    from mooring.api.crds.resource import CustomResource
    from mooring.placement.workloads.kinds import WorkloadKind
    from mooring.runtime.controller import Controller
    from mooring.runtime.webhooks.model import Webhook


def _resources() -> tuple[CustomResource, ...]:
    from mooring.features.notebooks.definition import NOTEBOOK_VALIDATION_JOBS

    return (NOTEBOOK_VALIDATION_JOBS,)


def _controllers() -> tuple[Controller, ...]:
    from mooring.features.notebooks.controller import CONTROLLER

    return (CONTROLLER,)


def _webhooks() -> tuple[Webhook, ...]:
    from mooring.features.notebooks.webhooks import WEBHOOKS

    return WEBHOOKS


def _workloads() -> tuple[WorkloadKind, ...]:
    from mooring.features.notebooks.workload import NOTEBOOK_PODS

    return (NOTEBOOK_PODS,)


def _plan_controllers() -> tuple[Controller, ...]:
    from mooring.features.notebooks import plan_jobs, plan_runs

    return (plan_jobs.CONTROLLER, plan_runs.CONTROLLER)


def _progress(obj: Object) -> str:
    status = obj.get("status") or {}
    if status.get("phase") == "Succeeded":
        return ""
    return str(status.get("message") or "its pod is not there yet")


NOTEBOOKS: Final = Feature(
    "notebooks",
    resources=_resources,
    controllers=Parts(("notebook-validation",), _controllers),
    settings=(UNSCHEDULABLE_GRACE, GIT_INIT_IMAGE),
    webhooks=Parts(("notebook-validation-webhook",), _webhooks),
    workloads=Parts(("NotebookValidationJob",), _workloads),
    progress={("mlops.mlops.dev/v1alpha1", "NotebookValidationJob"): _progress},
    plan_controllers=_plan_controllers,
)
