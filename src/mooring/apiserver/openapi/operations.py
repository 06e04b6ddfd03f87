"""The paths of a served kind: every operation with its parameters and bodies.

kubectl reads three things here: the kind behind a path, whether PATCH takes `fieldValidation`, and which content types
a PATCH has. The rest is for people and generators of clients.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from mooring.apiserver.openapi.components import kind_mark, reference
from mooring.kube.objects import Object
from mooring.registry import Resource

__all__ = ["Bodies", "paths"]


class Bodies(NamedTuple):
    """The names of the schemas that a kind's requests and answers have."""

    one: str
    many: str = ""
    patch: str = ""
    status: str = ""
    delete_options: str = ""
    # Sub-resources with objects of another kind: its apiVersion, its name, and that of its schema.
    others: Mapping[str, tuple[str, str, str]] = MappingProxyType({})


def _parameter(name: str, kind: str, description: str, where: str = "query") -> Object:
    made: Object = {
        "name": name,
        "in": where,
        "description": description,
        "schema": {"type": kind, "uniqueItems": True},
    }
    return made if where == "query" else {**made, "required": True}


_NAME: Final = _parameter("name", "string", "The name of the object.", "path")
_NAMESPACE: Final = _parameter("namespace", "string", "The namespace of the object.", "path")
_DRY_RUN: Final = _parameter("dryRun", "string", "With All, everything is done but the storing.")
_MANAGER: Final = _parameter("fieldManager", "string", "The name under which the fields that change are owned.")
_VALIDATION: Final = _parameter(
    "fieldValidation",
    "string",
    "What happens to unknown and duplicate fields: they are dropped (Ignore), named (Warn) or refused (Strict).",
)
_FORCE: Final = _parameter("force", "boolean", "Take over fields that others own, when applying.")
_SELECTORS: Final = (
    _parameter("labelSelector", "string", "Keeps the list of returned objects to those whose labels match."),
    _parameter("fieldSelector", "string", "Keeps the list of returned objects to those whose fields match."),
)
_PAGES: Final = (
    _parameter("limit", "integer", "How many objects there are on a page at most."),
    _parameter("continue", "string", "Where the page before ended, as its metadata says."),
    _parameter("resourceVersion", "string", "The version that is to be read, or watched from."),
    _parameter("resourceVersionMatch", "string", "How resourceVersion is meant: Exact or NotOlderThan."),
)
_WATCHING: Final = (
    _parameter("watch", "boolean", "Watch for changes to the described resources: a stream in place of a list."),
    _parameter("allowWatchBookmarks", "boolean", "Send bookmarks that say how far the stream has come."),
    _parameter("sendInitialEvents", "boolean", "Begin a watch with what exists, and mark where that ends."),
    _parameter("timeoutSeconds", "integer", "End the stream after this time."),
)
_DELETING: Final = (
    _DRY_RUN,
    _parameter("gracePeriodSeconds", "integer", "How long the object may take to end; 0 is at once."),
    _parameter("propagationPolicy", "string", "What becomes of dependents: Orphan, Background or Foreground."),
    _parameter("orphanDependents", "boolean", "Use propagationPolicy instead."),
)
_WRITING: Final = (_DRY_RUN, _MANAGER, _VALIDATION)
_PATCHING: Final = (*_WRITING, _FORCE)

_PATCHES: Final = ("application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml")
_STRATEGIC: Final = "application/strategic-merge-patch+json"
_CREATED_THROUGH: Final = frozenset({"binding", "eviction", "token"})
_ONLY_REPLACED: Final = frozenset({"finalize"})


def paths(resource: Resource, bodies: Bodies) -> Iterator[tuple[str, Object]]:
    """Every path of a kind with what can be done there."""
    return _Writer(resource, bodies).paths()


class _Writer:
    def __init__(self, resource: Resource, bodies: Bodies) -> None:
        self._resource = resource
        self._bodies = bodies
        self._mark = kind_mark(resource.api_version, resource.kind)
        root = f"/apis/{resource.api_version}" if resource.group else f"/api/{resource.version}"
        self._everywhere = f"{root}/{resource.plural}"
        self._root = f"{root}/namespaces/{{namespace}}/{resource.plural}" if resource.namespaced else self._everywhere
        self._scope = [_NAMESPACE] if resource.namespaced else []
        self._label = _camel(resource.group.removesuffix(".k8s.io") or "core") + _camel(resource.version)

    def paths(self) -> Iterator[tuple[str, Object]]:
        if not self._resource.store:
            yield self._root, self._item(self._scope, {"post": self._post()})
            return
        reading = (*_SELECTORS, *_PAGES, *_WATCHING)
        listing = self._operation("list", "list", reading, self._bodies.many)
        if self._resource.namespaced:
            everywhere = {**listing, "operationId": self._id("list", "", "ForAllNamespaces", namespaced=False)}
            yield self._everywhere, {"get": everywhere}
        collection: Object = {"get": listing, "post": self._post()}
        if "deletecollection" in self._resource.verbs:
            deleting = (*_SELECTORS, *_DELETING)
            collection["delete"] = self._operation(
                "deletecollection", "deleteCollection", deleting, self._bodies.status
            )
        yield self._root, self._item(self._scope, collection)
        named = [_NAME, *self._scope]
        yield f"{self._root}/{{name}}", self._item(named, {**self._named(self._bodies.one), "delete": self._delete()})
        for name in sorted(self._resource.subresources):
            yield f"{self._root}/{{name}}/{name}", self._item(named, self._subresource(name))

    def _item(self, parameters: list[Object], operations: Object) -> Object:
        return {**operations, "parameters": parameters} if parameters else operations

    def _named(self, body: str, sub: str = "") -> Object:
        return {
            "get": self._operation("get", "read", (), body, sub=sub),
            "put": self._operation("put", "replace", _WRITING, body, _content(body), sub),
            "patch": self._operation("patch", "patch", _PATCHING, body, self._patch_content(), sub),
        }

    def _subresource(self, name: str) -> Object:
        own = self._resource.api_version, self._resource.kind, self._bodies.one
        api_version, kind, body = self._bodies.others.get(name, own)
        if name in _CREATED_THROUGH:
            operations = {"post": self._operation("post", "create", _WRITING, body, _content(body), name)}
        elif name in _ONLY_REPLACED:
            operations = {"put": self._operation("put", "replace", _WRITING, body, _content(body), name)}
        else:
            operations = self._named(body, name)
        mark = kind_mark(api_version, kind)
        return {verb: {**operation, "x-kubernetes-group-version-kind": mark} for verb, operation in operations.items()}

    def _post(self) -> Object:
        body = self._bodies.one
        return self._operation("post", "create", _WRITING, body, _content(body))

    def _delete(self) -> Object:
        content = _content(self._bodies.delete_options)
        return self._operation("delete", "delete", _DELETING, self._bodies.status, content)

    def _patch_content(self) -> Object:
        types = _PATCHES if self._resource.custom else (*_PATCHES, _STRATEGIC)
        return {each: {"schema": reference(self._bodies.patch)} for each in types}

    def _operation(
        self,
        action: str,
        verb: str,
        parameters: tuple[Object, ...],
        answer: str,
        body: Object | None = None,
        sub: str = "",
    ) -> Object:
        made: Object = {
            "operationId": self._id(verb, sub),
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": self._mark,
            "responses": {"200": {"description": "OK", "content": {"application/json": {"schema": reference(answer)}}}},
        }
        if parameters:
            made["parameters"] = parameters
        if body is not None:
            made["requestBody"] = {"content": body, "required": action != "delete"}
        return made

    def _id(self, verb: str, sub: str, end: str = "", *, namespaced: bool = True) -> str:
        scope = "Namespaced" if namespaced and self._resource.namespaced else ""
        if verb == "deleteCollection":
            return f"delete{self._label}Collection{scope}{self._resource.kind}"
        return f"{verb}{self._label}{scope}{self._resource.kind}{_camel(sub)}{end}"


def _content(body: str) -> Object:
    return {"*/*": {"schema": reference(body)}}


def _camel(text: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in text.replace("-", ".").split("."))
