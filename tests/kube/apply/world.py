"""A kind with every way of sharing in it, and verbs to write it, so that stories about writers read as stories."""

from typing import Any, NamedTuple

from mooring.kube.apply import apply, update
from mooring.kube.schemas import structural_schema

VERSION = "x.io/v1"
NOW = "2024-01-01T00:00:00Z"

_TEXTS: dict[str, Any] = {"type": "object", "additionalProperties": {"type": "string"}}
_PART: dict[str, Any] = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "size": {"type": "integer"},
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
    },
}
OPENAPI: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "replicas": {"type": "integer"},
                "image": {"type": "string"},
                "labels": _TEXTS,
                "selector": {**_TEXTS, "x-kubernetes-map-type": "atomic"},
                "command": {"type": "array", "items": {"type": "string"}},
                "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                "parts": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": _PART,
                },
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            },
        },
        "status": {"type": "object", "properties": {"ready": {"type": "integer"}}},
    },
}
SCHEMA = structural_schema(OPENAPI)


def thing(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": VERSION, "kind": "Thing", "metadata": {"name": "a", "namespace": "ns"}, "spec": spec}


class World(NamedTuple):
    """One object and its managers. Every verb gives the world after it."""

    live: dict[str, Any] | None = None
    managed: list[dict[str, Any]] = []  # noqa: RUF012 - never changed in place

    def applied(self, manager: str, wanted: dict[str, Any], *, force: bool = False, subresource: str = "") -> "World":
        made = apply(self.live, wanted, manager, SCHEMA, self.managed, VERSION, NOW, force, subresource)
        return World(_stored(made.object), made.managed)

    def updated(self, manager: str, new: dict[str, Any], *, subresource: str = "") -> "World":
        if self.live is not None:
            new = _stored(new)
        managed = update(self.live, new, manager, SCHEMA, self.managed, VERSION, NOW, subresource)
        new = {**new, "metadata": {name: each for name, each in new["metadata"].items() if name != "managedFields"}}
        return World(_stored(new), managed)

    @property
    def spec(self) -> dict[str, Any]:
        assert self.live is not None
        found: dict[str, Any] = self.live["spec"]
        return found

    def fields_of(self, manager: str) -> Any:
        """What a manager owns, or None."""
        return next((entry["fieldsV1"] for entry in self.managed if entry["manager"] == manager), None)

    @property
    def managers(self) -> list[str]:
        return [entry["manager"] for entry in self.managed]


def _stored(value: dict[str, Any]) -> dict[str, Any]:
    return {**value, "metadata": {**value["metadata"], "uid": "1"}}
