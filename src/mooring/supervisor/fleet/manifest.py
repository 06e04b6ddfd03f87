"""Fleets: the nodes, and whatever else, that an embedded cluster starts with, as ordinary Kubernetes YAML.

A Node annotated `mooring.dev/replicas: "3"` stands for three, numbered from 1. A fleet is checked as a whole against a
registry in memory before anything is started, in the API's words and with the line where the trouble is.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from mooring.api.core.validation.nodes import validate_node
from mooring.api.crds.resource import definition
from mooring.catalog import CATALOG
from mooring.kube.objects import Object
from mooring.kube.status import AlreadyExistsError, ApiError, NotFoundError
from mooring.manifests import Document, ManifestError, read_manifests
from mooring.nodes.stages.crd import stage_definition
from mooring.nodes.stages.lifecycle import stage_problem
from mooring.registry import Registry
from mooring.supervisor.fleet.lines import line_of

__all__ = ["DEFAULT_FLEET", "REPLICAS", "Fleet", "check_fleet", "read_fleet"]


DEFAULT_FLEET: Final = Path(__file__).parent.parent / "data" / "fleet.yaml"
REPLICAS: Final = "mooring.dev/replicas"
FAKE: Final = "kwok.x-k8s.io/node"
MOST_REPLICAS: Final = 20_000

# What a server keeps in metadata; a fleet made with `kubectl get nodes -o yaml` has it all.
_SERVERS_OWN: Final = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink")
_FIRST: Final = frozenset({"CustomResourceDefinition", "Namespace", "PriorityClass"})
_HOSTNAME: Final = "kubernetes.io/hostname"
_PATH: Final = re.compile(r"(?:metadata|spec|status|data)(?:\.[A-Za-z0-9_./-]*[A-Za-z0-9]|\[[^\]]*\])*")


class Fleet(NamedTuple):
    """The objects of a fleet, and those of its nodes that nothing simulates."""

    objects: list[Object]
    unattended: list[str]

    @property
    def nodes(self) -> int:
        return sum(obj["kind"] == "Node" for obj in self.objects)


def read_fleet(path: Path) -> Fleet:
    """Every object of a fleet file, numbered ones written out. Raises ManifestError where it makes no sense."""
    objects = [obj for document in _in_order(path) for obj in _written_out(document)]
    return Fleet(objects, [_name(obj) for obj in objects if obj["kind"] == "Node" and not _simulated(obj)])


def check_fleet(path: Path, now: datetime, controllers: Collection[str] = ()) -> Fleet:
    """The fleet, if an API server would take all of it; ManifestError with file, line and field if not.

    `controllers` are those that will run, and bring the kinds of their features with them.
    """
    registry = Registry(now=now)
    _define(registry, stage_definition(), now)
    seen: set[tuple[str, str, str]] = set()
    for document in _in_order(path):
        replicas = _written_out(document)
        for obj in replicas:
            key = (obj["kind"], _namespace(obj), _name(obj))
            if key in seen:
                raise _error(document, f'{obj["kind"]} "{_name(obj)}" is there twice', "metadata.name")
            seen.add(key)
        _define_own(registry, document.value, controllers, now)
        # Those in between differ in nothing that could be wrong.
        for obj in (replicas[0], *replicas[1:][-1:]):
            _check(registry, document, obj, now)
    return read_fleet(path)


def _in_order(path: Path) -> list[Document[Object]]:
    """The documents of a file, those that others need first: what `kubectl get` prints is in the order of its kinds."""
    documents = list(read_manifests(path))
    return sorted(documents, key=lambda document: document.value.get("kind") not in _FIRST)


def _define(registry: Registry, definition: Object, now: datetime) -> None:
    registry.create(registry.resource(definition["apiVersion"], definition["kind"]), definition, now=now)


def _define_own(registry: Registry, obj: Object, controllers: Collection[str], now: datetime) -> None:
    """Define a kind of a feature when the first object of it is met: a fleet has few of them."""
    group = str(obj.get("apiVersion")).rpartition("/")[0]
    if any((each.api_version, each.kind) == (obj.get("apiVersion"), obj.get("kind")) for each in registry.resources):
        return
    for resource in CATALOG.resources(controllers):
        if (resource.group, resource.kind) == (group, obj.get("kind")):
            _define(registry, definition(resource), now)


def _check(registry: Registry, document: Document[Object], obj: Object, now: datetime) -> None:
    try:
        resource = registry.resource(obj["apiVersion"], obj["kind"])
    except NotFoundError:
        kind = f"{obj['apiVersion']} {obj['kind']}"
        raise _error(document, f"{kind}: no such kind is served; define it first", "kind") from None
    if obj["kind"] == "Node" and (errors := validate_node(obj)):
        # The API says of a quantity only that it is none; these say which.
        raise _error(document, _spoken(f'Node "{_name(obj)}": {errors[0]}'), _spoken(errors[0].path))
    try:
        body = obj if not resource.namespaced else in_namespace(obj)
        registry.create(resource, body, now=now, field_validation="Strict")
    except AlreadyExistsError:
        # What every cluster has from the start, such as the namespace default.
        return
    except ApiError as error:
        raise _error(document, _spoken(error.message), *_fields(error)) from None
    if obj["kind"] == "Stage" and (problem := stage_problem(obj)):
        # The API takes it, but no simulated node would follow it.
        raise _error(document, f'Stage "{_name(obj)}": {problem}', *_PATH.findall(problem)[:1])


def in_namespace(obj: Object) -> Object:
    """An object of a kind that lives in namespaces, in the default one where it names none."""
    return {**obj, "metadata": {**obj["metadata"], "namespace": _namespace(obj) or "default"}}


def _spoken(text: str) -> str:
    """The API speaks of a node's taints as if they were in its metadata."""
    return text.replace("metadata.taints", "spec.taints")


def _fields(error: ApiError) -> list[str]:
    """The fields an error is about, the most telling first."""
    causes = [_spoken(cause["field"]) for cause in error.details.get("causes", ()) if cause.get("field")]
    return [*causes, *_PATH.findall(error.message)]


def _error(document: Document[Object], problem: str, *fields: str) -> ManifestError:
    line = line_of(Path(document.file), document.number, document.index, fields)
    return ManifestError(problem, file=document.file, document=document.number, index=document.index, line=line)


# Numbered nodes


def _written_out(document: Document[Object]) -> list[Object]:
    obj = document.value
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str) or not metadata["name"]:
        raise _error(document, f"{obj['kind']}: metadata.name: required, and must be a string", "metadata.name")
    kept = {name: value for name, value in metadata.items() if name not in _SERVERS_OWN}
    annotations = kept.get("annotations")
    if not isinstance(annotations, dict) or REPLICAS not in annotations:
        return [_kubelet({**obj, "metadata": kept}, 0) if obj["kind"] == "Node" else {**obj, "metadata": kept}]
    count = _count(document, annotations[REPLICAS])
    kept["annotations"] = {name: value for name, value in annotations.items() if name != REPLICAS}
    template = {**obj, "metadata": kept}
    return [_numbered(template, number) for number in range(1, count + 1)]


def _count(document: Document[Object], value: Any) -> int:
    field = f"metadata.annotations.{REPLICAS}"
    if document.value["kind"] != "Node":
        raise _error(document, f"{field}: only a Node can stand for several, not a {document.value['kind']}", field)
    if not isinstance(value, str) or not value.isascii() or not value.isdigit() or not 1 <= int(value) <= MOST_REPLICAS:
        said = f'"{value}"' if isinstance(value, str) else f"{value} without quotes"
        raise _error(document, f'{field}: {said} must be a number from 1 to {MOST_REPLICAS} in quotes, as "3"', field)
    return int(value)


def _numbered(template: Object, number: int) -> Object:
    metadata = template["metadata"]
    name = f"{metadata['name']}-{number}"
    labels = metadata.get("labels")
    if isinstance(labels, dict) and _HOSTNAME in labels:
        metadata = {**metadata, "labels": {**labels, _HOSTNAME: name}}
    return _kubelet({**template, "metadata": {**metadata, "name": name}}, number - 1)


def _kubelet(node: Object, offset: int) -> Object:
    """A node with what a kubelet would say of itself: its host name, an address of its own, all of it allocatable.

    What is not of the expected form is left for the API to complain about.
    """
    metadata, status = node["metadata"], node.get("status")
    labels = metadata.get("labels", {})
    if isinstance(labels, dict):
        metadata = {**metadata, "labels": {_HOSTNAME: metadata["name"], **labels}}
    if isinstance(status, dict):
        status = dict(status)
        if "capacity" in status:
            status.setdefault("allocatable", status["capacity"])
        if "addresses" in status:
            status["addresses"] = _addresses(status["addresses"], metadata["name"], offset)
        node = {**node, "status": status}
    return {**node, "metadata": metadata}


def _addresses(addresses: Any, name: str, offset: int) -> Any:
    return [_address(item, name, offset) for item in addresses] if isinstance(addresses, list) else addresses


def _address(item: Any, name: str, offset: int) -> Any:
    kind = item.get("type") if isinstance(item, dict) else None
    if kind == "Hostname":
        return {**item, "address": name}
    return {**item, "address": _counted(item.get("address"), offset)} if kind == "InternalIP" else item


def _counted(address: Any, offset: int) -> Any:
    try:
        return str(ipaddress.ip_address(address) + offset)
    except (ValueError, TypeError):
        return address


# Small questions


def _name(obj: Mapping[str, Any]) -> str:
    return str(obj["metadata"]["name"])


def _namespace(obj: Mapping[str, Any]) -> str:
    return str(obj["metadata"].get("namespace") or "")


def _simulated(node: Mapping[str, Any]) -> bool:
    annotations = node["metadata"].get("annotations")
    return isinstance(annotations, dict) and annotations.get(FAKE) == "fake"
