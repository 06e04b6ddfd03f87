"""Answers in the shape of the recorded ones: what upstream's operator was asked, and what it said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from mooring.api.core.views import Node
from mooring.features.workspaces.api import INFERENCE_CONFIG, Workspace
from mooring.features.workspaces.models import find_model
from mooring.features.workspaces.selection import matching_nodes, selector_labels
from mooring.features.workspaces.settings import Settings
from mooring.features.workspaces.target import estimated_nodes
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object

__all__ = ["answer"]


def answer(request: Object) -> Object:
    operation = _OPERATIONS.get(request["op"])
    if operation is None:
        known = ", ".join(_OPERATIONS)
        raise MooringError(f"op: {request['op']!r} is not known, use one of {known}")
    return {"id": request["id"], **operation(request)}


def _estimate(request: Object) -> Object:
    workspace = msgspec.convert(request["object"], Workspace)
    matching = matching_nodes(selector_labels(workspace.resource.label_selector), _nodes(request["objects"]))
    preset = workspace.inference.preset if workspace.inference is not None else None
    model = None if preset is None else find_model(preset.name)
    answered: Object = {}
    if model is not None:
        answered["model"] = {
            "weights": model.weights,
            "bytesPerToken": model.bytes_per_token,
            "contextLimit": model.context_limit,
            "disk": f"{model.disk_gib}Gi",
            "startupSeconds": model.startup_seconds,
        }
    try:
        nodes = estimated_nodes(workspace, _settings(request["config"]), matching, _config(workspace, request))
    except MooringError as error:
        return {**answered, "error": str(error)}
    return {**answered, "nodes": nodes}


def _settings(config: Object) -> Settings:
    return Settings(config.get("nodeProvisioner", "byo"), config.get("cloudProvider", "azure"))


def _nodes(objects: Iterable[Object]) -> Iterator[Node]:
    return (msgspec.convert(each, Node) for each in objects if each["kind"] == "Node")


def _config(workspace: Workspace, request: Object) -> str | None:
    """The text of the ConfigMap that the Workspace names, if it is there."""
    name = "" if workspace.inference is None else workspace.inference.config
    for each in request["objects"]:
        found = (each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"])
        if found == ("ConfigMap", workspace.metadata.namespace, name):
            text: Any = (each.get("data") or {}).get(INFERENCE_CONFIG)
            return text if isinstance(text, str) else None
    return None


_OPERATIONS = {"estimate": _estimate}
