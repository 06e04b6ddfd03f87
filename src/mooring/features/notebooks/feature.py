"""Notebook validation as a feature: what the product must know of it, and nothing that takes long to load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mooring.features.notebooks.flags import UNSCHEDULABLE_GRACE
from mooring.runtime.feature import Feature, Parts

if TYPE_CHECKING:
    from mooring.api.crds.resource import CustomResource
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


NOTEBOOKS: Final = Feature(
    "notebooks",
    resources=_resources,
    controllers=Parts(("notebook-validation",), _controllers),
    settings=(UNSCHEDULABLE_GRACE,),
    webhooks=Parts(("notebook-validation-webhook",), _webhooks),
)
