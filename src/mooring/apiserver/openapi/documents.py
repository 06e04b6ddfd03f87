"""The documents of OpenAPI v3, one per group version, the index that names them, and the one document of v2.

A document follows from the kinds that are served: built-in ones never change, and the table entry of a custom kind is a
new one whenever its definition changes. So what was made is kept for as long as the entries are the same. The hash in
the index is of the content, and clients keep documents on disk under it.
"""

import hashlib
from collections.abc import Generator, Iterator
from functools import cached_property
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

import msgspec

from mooring.apiserver.discovery import review_resources
from mooring.apiserver.openapi.components import PATCH, Components
from mooring.apiserver.openapi.custom import add_custom_kind
from mooring.apiserver.openapi.operations import Bodies, paths
from mooring.apiserver.openapi.swagger import swagger_kind, swagger_path
from mooring.apiserver.openapi.swagger_protobuf import head_bytes, path_bytes, schema_bytes
from mooring.kube.objects import Object
from mooring.kube.status import NotFoundError
from mooring.registry import Registry, Resource

__all__ = ["Encoded", "document", "encoded", "index", "make_slices", "swagger_json", "swagger_protobuf"]


# Sub-resources whose objects are of another kind.
_OTHER_KINDS: Final = {
    "binding": ("v1", "Binding"),
    "eviction": ("policy/v1", "Eviction"),
    "token": ("authentication.k8s.io/v1", "TokenRequest"),
    "scale": ("autoscaling/v1", "Scale"),
}


_V2_HEAD: Final = {"swagger": "2.0", "info": {"title": "Kubernetes", "version": "v1.35"}}


class Encoded(NamedTuple):
    """A document as it is sent, and the hash that stands in the index."""

    body: bytes
    hash: str


class _Made(NamedTuple):
    source: tuple[Resource, ...]
    encoded: Encoded


_MADE: WeakKeyDictionary[Registry, dict[tuple[str, str], _Made]] = WeakKeyDictionary()


def make_slices(registry: Registry, *, v2: bool, protobuf: bool = False) -> Generator[None, None, None]:
    """Make what the index, or the document of v2, consists of, as far as it is not there: others may be served whenever
    it yields."""
    for (group, version), served in _served(registry).items():
        known = _MADE.get(registry, {}).get((group, version))
        found = _encoded(registry, group, version, served)
        if known is None or known.encoded is not found:
            yield
        if not v2:
            continue
        parts = _V2_PARTS.setdefault(registry, {})
        if found.hash not in parts:
            parts[found.hash] = _V2Part(msgspec.json.decode(found.body))
            yield
        if protobuf and "pieces" not in vars(part := parts[found.hash]):
            _ = part.pieces
            yield


def index(registry: Registry) -> Object:
    """The answer to `/openapi/v3`."""
    entries = {}
    for (group, version), served in _served(registry).items():
        path = f"apis/{group}/{version}" if group else f"api/{version}"
        digest = _encoded(registry, group, version, served).hash
        entries[path] = {"serverRelativeURL": f"/openapi/v3/{path}?hash={digest}"}
    return {"paths": entries}


def document(registry: Registry, group: str, version: str) -> Object:
    """The answer to `/openapi/v3/api/VERSION` and `/openapi/v3/apis/GROUP/VERSION`; NotFoundError without one."""
    made: Object = msgspec.json.decode(encoded(registry, group, version).body)
    return made


def encoded(registry: Registry, group: str, version: str) -> Encoded:
    """The same as bytes, made once."""
    served = _served(registry).get((group, version))
    if served is None:
        raise NotFoundError("the server could not find the requested resource")
    return _encoded(registry, group, version, served)


def swagger_json(registry: Registry) -> bytes:
    """The answer to `/openapi/v2`: all groups in one document."""
    made: Object = dict(_V2_HEAD, paths={}, definitions={})
    for part in _v2_parts(registry):
        made["paths"] |= part.paths
        made["definitions"] |= part.definitions
    return msgspec.json.encode(made)


def swagger_protobuf(registry: Registry) -> bytes:
    """The same in protobuf."""
    pieces: dict[str, bytes] = {}
    for part in _v2_parts(registry):
        pieces |= part.pieces
    return b"".join((head_bytes(_V2_HEAD), *pieces.values()))


class _V2Part:
    """What one group version adds to the document of v2."""

    def __init__(self, document: Object) -> None:
        schemas = document["components"]["schemas"]
        self.paths = {name: swagger_path(item) for name, item in document["paths"].items()}
        self.definitions = {name: swagger_kind(schema) for name, schema in schemas.items()}

    @cached_property
    def pieces(self) -> dict[str, bytes]:
        """In protobuf, by their names."""
        found = {name: path_bytes(name, item) for name, item in self.paths.items()}
        return found | {name: schema_bytes(name, schema) for name, schema in self.definitions.items()}


_V2_PARTS: WeakKeyDictionary[Registry, dict[str, _V2Part]] = WeakKeyDictionary()


def _v2_parts(registry: Registry) -> Iterator[_V2Part]:
    """Made once for each content: a new kind costs what its own group version does."""
    known = _V2_PARTS.get(registry, {})
    kept = _V2_PARTS[registry] = {}
    for (group, version), served in _served(registry).items():
        found = _encoded(registry, group, version, served)
        kept[found.hash] = known.get(found.hash) or _V2Part(msgspec.json.decode(found.body))
        yield kept[found.hash]


def _served(registry: Registry) -> dict[tuple[str, str], tuple[Resource, ...]]:
    found: dict[tuple[str, str], list[Resource]] = {}
    for resource in (*registry.resources, *review_resources()):
        found.setdefault((resource.group, resource.version), []).append(resource)
    return {key: tuple(resources) for key, resources in found.items()}


def _encoded(registry: Registry, group: str, version: str, served: tuple[Resource, ...]) -> Encoded:
    known = _MADE.setdefault(registry, {})
    made = known.get((group, version))
    if made is None or made.source != served:
        body = msgspec.json.encode(_document(registry, served))
        digest = hashlib.sha512(body, usedforsecurity=False).hexdigest().upper()
        made = known[group, version] = _Made(served, Encoded(body, digest))
    return made.encoded


def _document(registry: Registry, served: tuple[Resource, ...]) -> Object:
    components = Components()
    items: Object = {}
    for resource in sorted(served, key=lambda each: each.plural):
        items.update(paths(resource, _bodies(registry, components, resource)))
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "v1.35"},
        "paths": items,
        "components": {"schemas": dict(sorted(components.schemas.items()))},
    }


def _bodies(registry: Registry, components: Components, resource: Resource) -> Bodies:
    if not resource.store:
        # A question that is answered and not stored is only ever posted.
        return Bodies(one=components.add_kind(resource.api_version, resource.kind))
    if resource.custom:
        one, many = add_custom_kind(components, resource, _custom_schema(registry, resource))
    else:
        one = components.add_kind(resource.api_version, resource.kind)
        many = components.add_kind(resource.api_version, resource.list_kind)
    others = {name: _OTHER_KINDS[name] for name in resource.subresources if name in _OTHER_KINDS}
    return Bodies(
        one=one,
        many=many,
        patch=components.add_scalar(PATCH),
        status=components.add_kind("v1", "Status"),
        delete_options=components.add_kind("v1", "DeleteOptions"),
        others={name: (*kind, components.add_kind(*kind)) for name, kind in others.items()},
    )


def _custom_schema(registry: Registry, resource: Resource) -> Object | None:
    definition = registry.find("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", resource.store)
    for version in definition["spec"]["versions"] if definition is not None else ():
        if version["name"] == resource.version:
            schema: Object | None = (version.get("schema") or {}).get("openAPIV3Schema")
            return schema
    return None
