"""An installation for people: how far it is, step by step, and the releases that it has."""

from __future__ import annotations

from typing import Final

import msgspec

from mooring.client.transport import plain
from mooring.features.installation.api.installation import HelmRelease, Installation, StepStatus
from mooring.features.installation.api.names import API_VERSION
from mooring.kube.objects import Object
from mooring.manifests.views import convert
from mooring.runway.shown import Shown
from mooring.runway.workloads.records import ConditionShown

__all__ = ["INSTALLATION_KIND", "INSTALLATION_TOPIC", "InstallationShown", "installation_record", "installation_shown"]

INSTALLATION_TOPIC: Final = "installation"
INSTALLATION_KIND: Final = (API_VERSION, "Installation")


class InstallationShown(Shown, frozen=True):
    """`name` is the id of the provider; `version` that of the first chart that was asked for."""

    name: str
    phase: str
    message: str
    version: str
    steps: tuple[StepStatus, ...]
    releases: tuple[HelmRelease, ...]
    conditions: tuple[ConditionShown, ...]
    created_at: str


def installation_shown(obj: Object) -> InstallationShown:
    found: Installation = convert(obj, Installation)
    status = found.status
    return InstallationShown(
        found.metadata.name,
        "Uninstalling" if "deletionTimestamp" in obj["metadata"] else status.phase,
        status.message,
        found.spec.charts[0].version if found.spec.charts else "",
        status.steps,
        status.releases,
        tuple(ConditionShown(each.type, each.status, each.reason, each.message) for each in status.conditions),
        obj["metadata"].get("creationTimestamp") or "",
    )


def installation_record(raw: msgspec.Raw) -> InstallationShown:
    return installation_shown(plain(raw))
