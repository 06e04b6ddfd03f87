"""LeaderWorkerSets as a custom resource. `config/crd/` holds the definition that comes out of it."""

from __future__ import annotations

from typing import Final

from mooring.api.crds.resource import AGE, CustomResource, PrinterColumn, ScaleSubresource, Version, definition
from mooring.features.groups.api import GROUP, KIND, PLURAL, LeaderWorkerSet
from mooring.kube.objects import Object

__all__ = ["LEADER_WORKER_SETS", "leader_worker_set_definition"]


LEADER_WORKER_SETS: Final = CustomResource(
    GROUP,
    KIND,
    PLURAL,
    versions=(
        Version(
            "v1",
            LeaderWorkerSet,
            columns=(
                PrinterColumn("Ready", "integer", ".status.readyReplicas", "Groups that are ready"),
                PrinterColumn("Desired", "integer", ".spec.replicas", "Groups that are wanted"),
                PrinterColumn("Up-to-date", "integer", ".status.updatedReplicas", "Groups of the newest template"),
                AGE,
            ),
            scale=ScaleSubresource(label_selector=".status.hpaPodSelector"),
        ),
    ),
    short_names=("lws",),
)


def leader_worker_set_definition() -> Object:
    """The definition, ready to be applied. It is shared and must not be changed."""
    return definition(LEADER_WORKER_SETS)
