"""Answers in the shape of the recorded ones: what upstream's operator was asked, and what it said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from mooring.api.core.views import Node
from mooring.api.crds.resource import definition
from mooring.features.workspaces.api import INFERENCE_CONFIG, Workspace
from mooring.features.workspaces.definition import WORKSPACES
from mooring.features.workspaces.models import find_model
from mooring.features.workspaces.selection import matching_nodes, selector_labels
from mooring.features.workspaces.settings import Settings
from mooring.features.workspaces.target import estimated_nodes
from mooring.features.workspaces.update_validation import validate_workspace_update
from mooring.features.workspaces.validation import validate_workspace, workspace_warnings
from mooring.kube.errors import FieldError, MooringError, invalid
from mooring.kube.names import is_dns1123_subdomain
from mooring.kube.objects import Object
from mooring.kube.schemas.defaulting import apply_defaults
from mooring.kube.schemas.model import Schema
from mooring.kube.schemas.pruning import prune, unknown_fields
from mooring.kube.schemas.structural import structural_schema
from mooring.kube.schemas.validation import validate

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


def _admit(request: Object) -> Object:
    """The schema of the API server first, then what a webhook says."""
    given = request["object"]
    schema = _schema(given["apiVersion"].rpartition("/")[2])
    dropped = [text.split('"')[1] for text in unknown_fields(schema, given)]
    obj = apply_defaults(schema, prune(schema, given))
    answered: Object = {"object": obj, "unknownFields": dropped, "warnings": []}
    errors: Sequence[FieldError] = _schema_errors(schema, obj)
    if errors:
        return {**answered, "allowed": False, "stage": "schema", "errors": [*map(_error, errors)]}
    settings, facts = _settings(request["config"]), _RecordedFacts(request["objects"])
    workspace = msgspec.convert(obj, Workspace)
    if "old" in request:
        old_schema = _schema(request["old"]["apiVersion"].rpartition("/")[2])
        old = msgspec.convert(apply_defaults(old_schema, prune(old_schema, request["old"])), Workspace)
        errors = validate_workspace_update(workspace, old, settings, facts)
    else:
        errors = validate_workspace(workspace, settings, facts)
        answered["warnings"] = [*workspace_warnings(workspace, settings, facts)]
    if errors:
        return {**answered, "allowed": False, "stage": "webhook", "errors": [*map(_error, errors)]}
    return {**answered, "allowed": True, "errors": []}


def _schema(version: str) -> Schema:
    (found,) = (each for each in definition(WORKSPACES)["spec"]["versions"] if each["name"] == version)
    return structural_schema(found["schema"]["openAPIV3Schema"])


def _schema_errors(schema: Schema, obj: Object) -> list[FieldError]:
    name = obj["metadata"]["name"]
    return [
        *(invalid("metadata.name", name, text) for text in is_dns1123_subdomain(name)),
        *validate(schema, obj),
    ]


def _error(error: FieldError) -> Object:
    return {"path": error.path, "message": error.body}


def _settings(config: Object) -> Settings:
    gates = config.get("featureGates", {})
    return Settings(
        config.get("nodeProvisioner", "byo"),
        config.get("cloudProvider", "azure"),
        node_classes=tuple(config.get("nodeClasses") or Settings().node_classes),
        model_streaming=gates.get("ModelStreaming", False),
    )


class _RecordedFacts:
    """The objects that a request brings along."""

    def __init__(self, objects: Iterable[Object]) -> None:
        self._objects = {
            (each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"]): each for each in objects
        }
        self.nodes = tuple(_nodes(objects))

    def config_map(self, namespace: str, name: str) -> Mapping[str, str] | None:
        found = self._objects.get(("ConfigMap", namespace, name))
        return None if found is None else found.get("data") or {}

    def has_csi_driver(self, name: str) -> bool:
        return ("CSIDriver", "", name) in self._objects


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


_OPERATIONS = {"admit": _admit, "estimate": _estimate}
