"""The StatefulSet that a Workspace stands for on the nodes that it has: of its template, or of its preset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mooring.api.core.views import Node
from mooring.features.workspaces.api import Workspace
from mooring.features.workspaces.settings import Settings
from mooring.features.workspaces.sizing.gpus import GpuError, gpus_of_instance_type, gpus_of_labels
from mooring.features.workspaces.sizing.instance_types import find_instance_type
from mooring.features.workspaces.sizing.models import find_model
from mooring.features.workspaces.workload.stateful_set import preset_stateful_set, template_stateful_set
from mooring.kube.objects import Object

__all__ = ["serving_stateful_set"]


def serving_stateful_set(
    workspace: Workspace,
    nodes: Sequence[Node],
    target: int,
    labels: Mapping[str, str],
    settings: Settings,
    owner: Object,
    *,
    has_nvme_class: bool,
) -> Object | None:
    """None where nothing is served. A preset asks for all GPUs of the first of `nodes`; the others are alike.

    Raises GpuError where its GPUs cannot be told.
    """
    inference = workspace.inference
    if inference is None:
        return None
    if inference.template is not None:
        return template_stateful_set(workspace, inference.template, target, labels, settings, owner)
    model = None if inference.preset is None else find_model(inference.preset.name)
    if inference.preset is None or model is None:
        return None
    known = find_instance_type(settings.cloud_provider, workspace.resource.instance_type)
    if settings.provisions and known is not None:
        gpus = gpus_of_instance_type(known)
    elif not nodes:
        raise GpuError("no node is there whose labels tell the GPUs that a pod asks for")
    else:
        first = nodes[0]
        gpus = gpus_of_labels(first.metadata.name, first.metadata.labels)
    nvme = settings.provisions and known is not None and known.nvme and has_nvme_class
    return preset_stateful_set(
        workspace, inference.preset, model, gpus, target, labels, settings, owner, claims_nvme=nvme
    )
