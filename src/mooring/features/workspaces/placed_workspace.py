"""Workspaces as a kind that makes pods: how `explain`, `plan` and snapshots read and tell them."""

from __future__ import annotations

from typing import Final

import msgspec

from mooring.api.core.types import LabelSelector, ObjectMeta, View
from mooring.features.workspaces.api import (
    API_VERSION,
    BYPASS_RESOURCE_CHECKS,
    KIND,
    PLURAL,
    REVISION,
    RUNTIME,
    ResourceSpec,
)
from mooring.features.workspaces.workload.editable import fixed_parts
from mooring.kube.objects import Object
from mooring.placement.pods import Owner
from mooring.placement.workloads.expansion import Expansion
from mooring.placement.workloads.kinds import WorkloadKind
from mooring.placement.workloads.known_cluster import KnownCluster, NodeSelection
from mooring.placement.workloads.owners import PodTemplate

__all__ = ["WORKSPACE_PODS"]

_FIRST_REVISION: Final = "1"


class PlacedAnnotations(View, frozen=True):
    """The annotations that decide how many nodes are needed."""

    runtime: str | None = msgspec.field(default=None, name=RUNTIME)
    bypass: str | None = msgspec.field(default=None, name=BYPASS_RESOURCE_CHECKS)


class PlacedMeta(ObjectMeta, frozen=True):
    annotations: PlacedAnnotations | None = None


class PlacedPreset(View, frozen=True):
    name: str = ""


class PlacedInference(View, frozen=True):
    preset: PlacedPreset | None = None
    template: PodTemplate | None = None
    config: str = ""


class PlacedStatus(View, frozen=True):
    target_node_count: int = 0


class PlacedWorkspace(View, frozen=True):
    """A Workspace, as far as placement asks."""

    metadata: PlacedMeta = PlacedMeta()
    resource: ResourceSpec = ResourceSpec(LabelSelector())
    inference: PlacedInference | None = None
    status: PlacedStatus = PlacedStatus()


def _expand(value: Object, namespace: str, cluster: KnownCluster) -> Expansion:
    # Explaining anything else must not wait for what makes pods of Workspaces.
    from mooring.features.workspaces.expansion import expand_workspace

    return expand_workspace(value, namespace, cluster)


def _select(value: Object, namespace: str, cluster: KnownCluster) -> NodeSelection:
    from mooring.features.workspaces.expansion import select_nodes

    return select_nodes(value, namespace, cluster)


def _owns(expansion: Expansion, owner: Owner) -> bool:
    return owner.kind == "StatefulSet" and owner.name == expansion.name


def _template_path(manifest: Object, labels: object) -> str:
    return "inference.template" if _has_template(manifest) else ""


def _fixed_parts(manifest: Object) -> tuple[str, ...]:
    return fixed_parts(is_template=_has_template(manifest))


def _has_template(manifest: Object) -> bool:
    return (manifest.get("inference") or {}).get("template") is not None


def _restored(owned: Object) -> Object:
    """A StatefulSet whose revision is not known is taken as up to date: otherwise its pods would be replaced."""
    metadata = owned["metadata"]
    if owned.get("kind") != "StatefulSet" or REVISION in (metadata.get("annotations") or {}):
        return owned
    annotations = {**(metadata.get("annotations") or {}), REVISION: _FIRST_REVISION}
    return {**owned, "metadata": {**metadata, "annotations": annotations}}


WORKSPACE_PODS: Final = WorkloadKind(
    API_VERSION,
    KIND,
    PLURAL,
    "wk",
    PlacedWorkspace,
    expand=_expand,
    select=_select,
    owns=_owns,
    template_path=_template_path,
    fixed=_fixed_parts,
    create_only=True,
    waits_for_nodes=True,
    restored=_restored,
)
