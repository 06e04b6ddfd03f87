"""A snapshot for a plan: nodes and pods as typed views, everything else as it stands in the file.

Nodes and pods are nearly all of a cluster, and nothing in a plan reads more of them than its controllers do. What an
API server has returned has been defaulted and checked there, so it goes into the plan's registry as it is; only what
a person wrote is read in full, completed and checked. Equal parts are shared, as they are in the views.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from mooring.api.core.views import Node, Pod
from mooring.kube.interning import intern
from mooring.kube.objects import Object
from mooring.manifests import Views, read_objects

Restored = Object | Node | Pod

_VIEWS: Final[Views] = {("v1", "Node"): Node, ("v1", "Pod"): Pod}
_KINDS: Final = {Node: "Node", Pod: "Pod"}
_MAX_PARTS: Final = 20_000


def read_snapshot(path: str) -> Iterator[Restored]:
    """The objects of a file; what an API server returned of nodes and pods comes as views."""
    for document in read_objects(path, _VIEWS, was_admitted):
        yield document.value


def was_admitted(view: Node | Pod) -> bool:
    """Whether an object comes from an API server: a hand-written manifest has no uid."""
    return bool(view.metadata.uid and view.metadata.creation_timestamp)


class Plain:
    """Turns views back into plain objects, without what is at its default."""

    def __init__(self) -> None:
        self._fields: dict[type[Any], list[tuple[str, str, Any]]] = {}
        # By identity, with the part kept alive: parts of views are shared, and their plain forms are, too.
        self._parts: dict[int, tuple[Any, Any]] = {}

    def of(self, view: Node | Pod) -> Object:
        made: Object = {"apiVersion": "v1", "kind": _KINDS[type(view)]}
        for section in ("metadata", "spec", "status"):
            made[section] = self._struct(getattr(view, section))
        return made

    def _struct(self, view: Any) -> Object:
        fields = self._fields.get(type(view))
        if fields is None:
            fields = self._fields[type(view)] = _fields_of(type(view))
        made = {}
        for name, spelt, default in fields:
            value = getattr(view, name)
            if value is default or value == default:
                continue
            kind = value.__class__
            made[spelt] = value if kind is str or kind is int or kind is bool or kind is dict else self._part(value)
        return made

    def _part(self, value: Any) -> Any:
        known = self._parts.get(id(value))
        if known is not None:
            return known[1]
        made: Any = value
        if isinstance(value, tuple):
            made = [self._part(item) if not isinstance(item, str) else item for item in value]
        elif isinstance(value, msgspec.Struct):
            made = self._struct(value)
        intern(self._parts, id(value), (value, made), _MAX_PARTS)
        return made


def _fields_of(view: type[Any]) -> list[tuple[str, str, Any]]:
    fields = []
    for field in msgspec.structs.fields(view):
        default = field.default
        if field.default_factory is not msgspec.NODEFAULT:
            default = field.default_factory()
        fields.append((field.name, field.encode_name, default))
    return fields
