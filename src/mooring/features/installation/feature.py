"""Installations as a feature: what the product must know of them, and nothing that takes long to load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mooring.features.installation.settings import HELM
from mooring.kube.objects import Object
from mooring.runtime.feature import Feature, Parts

if TYPE_CHECKING:
    from mooring.api.crds.resource import CustomResource
    from mooring.runtime.controller import Controller
    from mooring.runtime.webhooks.model import Webhook


def _resources() -> tuple[CustomResource, ...]:
    from mooring.features.installation.api.definition import INSTALLATIONS

    return (INSTALLATIONS,)


def _controllers() -> tuple[Controller, ...]:
    from mooring.features.installation.controller import CONTROLLER

    return (CONTROLLER,)


def _webhooks() -> tuple[Webhook, ...]:
    from mooring.features.installation.webhooks import WEBHOOKS

    return WEBHOOKS


def _progress(obj: Object) -> str:
    status = obj.get("status", {})
    return "" if status.get("phase") == "Installed" else str(status.get("message") or "nothing is installed yet")


INSTALLATION: Final = Feature(
    "installation",
    resources=_resources,
    controllers=Parts(("installation",), _controllers),
    webhooks=Parts(("installation-webhook",), _webhooks),
    progress={("runway.mooring.dev/v1alpha1", "Installation"): _progress},
    settings=(HELM,),
    # The right to act for others is as good as all rights, so nobody has it unbidden.
    on_request=frozenset({"installation"}),
)
