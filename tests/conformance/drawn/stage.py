"""The objects of people, and the same ones standing in a server, so that they can be changed there."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from mooring.registry.resources import Resource, builtin_resources
from mooring.testing.http import JSON, PATCHES
from tests.conformance.drawn.pointers import Change, changed
from tests.conformance.drawn.servers import Reply, Server

HERE = Path(__file__).parent
NAMESPACE = "drawn"
# What cannot be there twice has other names where it stands.
_STANDING: dict[str, list[Change]] = {
    "service": [
        ["metadata/name", "service-stands"],
        ["spec/clusterIP", "10.96.0.78"],
        ["spec/clusterIPs", ["10.96.0.78"]],
        ["spec/healthCheckNodePort", 30789],
        ["spec/ports/0/nodePort", 30787],
        ["spec/ports/1/nodePort", 30788],
    ],
    "definition": [
        ["metadata/name", "stands.drawn.example.com"],
        ["spec/names/plural", "stands"],
        ["spec/names/kind", "Stand"],
        ["spec/names/singular", "stand"],
        ["spec/names/listKind", "StandList"],
        ["spec/names/shortNames", ["st"]],
    ],
    "apiservice": [["metadata/name", "v1.stands.example.com"], ["spec/group", "stands.example.com"]],
    "ipaddress": [["metadata/name", "10.60.0.6"]],
    "servicecidr": [["metadata/name", "servicecidr-stands"], ["spec/cidrs", ["fd61::/64"]]],
    "pod-host": [
        ["metadata/name", "pod-host-stands"],
        ["spec/containers/0/ports/0/hostPort", 8081],
        ["spec/containers/0/ports/0/containerPort", 8081],
    ],
}


class Place(NamedTuple):
    """Where objects of a kind are."""

    resource: Resource
    namespace: str

    def path(self, name: str = "", below: str = "") -> str:
        base = f"/apis/{self.resource.api_version}" if self.resource.group else f"/api/{self.resource.api_version}"
        within = f"/namespaces/{self.namespace}" if self.resource.namespaced else ""
        return "/".join(filter(None, (f"{base}{within}/{self.resource.plural}", name, below)))


@cache
def objects() -> dict[str, Any]:
    """By their names; `status` is what is written to the one that stands."""
    found: dict[str, Any] = {}
    for path in sorted((HERE / "objects").glob("*.yaml")):
        if path.stem != "stage":
            found |= _read(path)
    return found


@cache
def files() -> dict[str, list[str]]:
    """The names of the objects of each file."""
    return {path.stem: list(_read(path)) for path in sorted((HERE / "objects").glob("*.yaml")) if path.stem != "stage"}


@cache
def _resources() -> dict[tuple[str, str], Resource]:
    return {(each.api_version, each.kind): each for each in builtin_resources()}


def place_of(obj: Any, namespace: str = "") -> Place:
    resource = _resources()[obj["apiVersion"], obj["kind"]]
    return Place(resource, namespace or obj["metadata"].get("namespace", NAMESPACE))


def new_object(name: str) -> Any:
    return {key: value for key, value in objects()[name].items() if key != "status"}


def standing_object(name: str) -> Any:
    obj = objects()[name]
    changes = _STANDING.get(name, [["metadata/name", f"{obj['metadata']['name']}-stands"]])
    return changed(obj, changes)


def set_up(server: Server) -> dict[str, Any]:
    """Make everything; the objects that stand, as the server shows them."""
    for obj in _read(HERE / "objects" / "stage.yaml"):
        if obj["kind"] == "ServiceAccount":
            # A controller makes them too, at once in the embedded server.
            path = f"{place_of(obj).path(obj['metadata']['name'])}?fieldManager=stage&force=true"
            _sent(server, "PATCH", path, obj, PATCHES["apply"])
        else:
            _made(server, obj)
    for name in objects():
        _stand(server, standing_object(name))
    return {name: _found(server, standing_object(name)) for name in objects()}


def _stand(server: Server, obj: Any) -> None:
    place, name = place_of(obj), obj["metadata"]["name"]
    made = _made(server, {key: value for key, value in obj.items() if key != "status"})
    if "status" in obj:
        _sent(server, "PUT", place.path(name, "status"), made | {"status": obj["status"]})


def _found(server: Server, obj: Any) -> Any:
    return server.send("GET", place_of(obj).path(obj["metadata"]["name"]), None, JSON).body


def _made(server: Server, obj: Any) -> Any:
    return _sent(server, "POST", place_of(obj).path(), obj).body


def _sent(server: Server, method: str, path: str, body: Any, content: str = JSON) -> Reply:
    reply = server.send(method, path, json.dumps(body, separators=(",", ":")).encode(), content)
    if reply.code >= 300:
        raise ValueError(f"{method} {path} got {reply.code}: {reply.body}")
    return reply


def _read(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
