"""Answers in the shape of the recorded ones: what upstream's operator was asked, and what it said."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from mooring.api.core.views import Node
from mooring.api.crds.resource import definition
from mooring.api.kinds import Key, key_of_object
from mooring.features.workspaces.api import API_VERSION, INFERENCE_CONFIG, KIND, Workspace
from mooring.features.workspaces.definition import WORKSPACES
from mooring.features.workspaces.recorded.cluster import Place, RecordedCluster
from mooring.features.workspaces.selection import matching_nodes, selector_labels
from mooring.features.workspaces.settings import Settings
from mooring.features.workspaces.sizing.models import find_model
from mooring.features.workspaces.sizing.target import estimated_nodes
from mooring.features.workspaces.validation.creation import TEMPLATE_PATH, validate_workspace, workspace_warnings
from mooring.features.workspaces.validation.nodes import NODES_PATH, RUNTIME_PATH
from mooring.features.workspaces.validation.update import validate_workspace_update
from mooring.kube.errors import FieldError, MooringError, invalid
from mooring.kube.names import is_dns1123_subdomain
from mooring.kube.objects import Object
from mooring.kube.patches.merge import merge_patch
from mooring.kube.schemas.defaulting import apply_defaults
from mooring.kube.schemas.model import Schema
from mooring.kube.schemas.pruning import prune, unknown_fields
from mooring.kube.schemas.structural import structural_schema
from mooring.kube.schemas.validation import validate

__all__ = ["answer", "recorded_cluster"]

# Of a new Workspace, upstream tells these without a field.
_WITHOUT_FIELD: Final = frozenset({NODES_PATH, RUNTIME_PATH, "inference"})


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


def _render(request: Object) -> Object:
    """One Workspace, reconciled until nothing moves."""
    cluster, key = recorded_cluster(request)
    return _step(cluster, key)


def _follow(request: Object) -> Object:
    """A Workspace while things happen around it: what each step left behind."""
    cluster, key = recorded_cluster(request)
    steps = []
    for step in request["steps"]:
        for each in step.get("apply") or ():
            known = cluster.find(each["apiVersion"], each["kind"], *key_of_object(each))
            cluster.put(each if known is None else merge_patch(json.loads(json.dumps(known)), each))
        for each in step.get("delete") or ():
            cluster.remove(each["kind"], each.get("namespace", ""), each["name"])
        steps.append(_step(cluster, key))
    return {"steps": steps}


def recorded_cluster(request: Object) -> tuple[RecordedCluster, Key]:
    """Everything that a request brings along, and the Workspace that it is about."""
    given = request["object"]
    schema = _schema(given["apiVersion"].rpartition("/")[2])
    obj = {**apply_defaults(schema, prune(schema, given)), "apiVersion": API_VERSION}
    logs = request.get("podLogs") or {}
    cluster = RecordedCluster((*request["objects"], obj), _settings(request["config"]), logs)
    return cluster, key_of_object(obj)


def _step(cluster: RecordedCluster, key: Key) -> Object:
    before = cluster.objects
    cluster.events.clear()
    cluster.reconcile(key)
    after = cluster.objects
    workspace = cluster.find(API_VERSION, KIND, *key) or {}
    answered: Object = {
        "created": [_as_recorded(obj, key) for place, obj in after.items() if place not in before],
        "deleted": [_told(place, key, cluster) for place in before if place not in after],
        "events": list(cluster.events),
        "status": workspace.get("status") or {},
    }
    status = answered["status"]
    if not status.get("targetNodeCount") and "conditions" in status:
        answered["error"] = status["conditions"][0]["message"]
    return answered


def _told(place: Place, key: Key, cluster: RecordedCluster) -> str:
    """An object that went; claims that were made here are numbered, as in the recordings."""
    _, kind, namespace, name = place
    if kind == "NodeClaim" and place in cluster.made:
        return f"{kind} {key.namespace}/ws#{cluster.made.index(place) + 1}"
    return f"{kind} {namespace}/{name}"


def _as_recorded(obj: Object, key: Key) -> Object:
    """Upstream gives NodeClaims a namespace, which an API server drops."""
    if obj["kind"] != "NodeClaim":
        return obj
    return {**obj, "metadata": {**obj["metadata"], "namespace": key.namespace}}


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
        told = [{**_error(each), "path": _upstream_path(each, is_new="old" not in request)} for each in errors]
        return {**answered, "allowed": False, "stage": "webhook", "errors": told}
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


def _upstream_path(error: FieldError, *, is_new: bool) -> str:
    without = error.path in _WITHOUT_FIELD or error.path.startswith(TEMPLATE_PATH)
    return "" if is_new and without else error.path


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


_OPERATIONS = {"admit": _admit, "estimate": _estimate, "render": _render, "status": _follow}
