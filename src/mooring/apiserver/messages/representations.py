"""Representations of objects and lists, as a client negotiated them: whole, metadata alone, or the rows of a Table."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from mooring.apiserver.messages.list_body import ListBody
from mooring.apiserver.messages.negotiation import NotAcceptableError, Representation
from mooring.apiserver.messages.request import HttpRequest
from mooring.apiserver.messages.responses import Response, encode, json_response
from mooring.apiserver.tables import partial, printer_columns, table
from mooring.kube.errors import go_quote
from mooring.kube.objects import Object
from mooring.kube.status import BadRequestError
from mooring.registry import ListResult, Registry, Resource

__all__ = ["Representations"]

# Objects as they are stored to objects as they are answered.
Transform = Callable[[Sequence[Object]], Sequence[Object]]

_METADATA_LIST: Final = "PartialObjectMetadataList"
_INCLUDES: Final = ("", "Metadata", "None", "Object")


def _go_type(resource: Resource, kind: str) -> str:
    """What a real server calls a kind within itself."""
    if resource.custom:
        return "*unstructured.UnstructuredList" if kind == resource.list_kind else "*unstructured.Unstructured"
    return f"*{resource.group.partition('.')[0] or 'core'}.{kind}"


def _unchanged(items: Sequence[Object]) -> Sequence[Object]:
    return items


def _untyped(items: Sequence[Object]) -> Sequence[Object]:
    return [{key: value for key, value in obj.items() if key != "apiVersion" and key != "kind"} for obj in items]


class Representations:
    """Turns objects of the registry into responses."""

    def __init__(self, registry: Registry, clock: Callable[[], datetime]) -> None:
        self._registry = registry
        self._clock = clock

    def one(
        self,
        request: HttpRequest,
        representation: Representation,
        resource: Resource,
        obj: Object,
        status: int = 200,
        warnings: Sequence[str] = (),
    ) -> Response:
        """An answer that is one object."""
        if representation.kind == "Table":
            obj = self.table(representation, resource, [obj], self.include(request))
        elif representation.kind:
            if representation.kind == _METADATA_LIST:
                asked = f"you requested {representation.kind}, but the requested object is not a list"
                raise NotAcceptableError(f"{asked} ({_go_type(resource, resource.kind)})")
            obj = partial(obj, f"meta.k8s.io/{representation.version}")
        return json_response(obj, status, warnings)

    def many(
        self, request: HttpRequest, representation: Representation, resource: Resource, found: ListResult
    ) -> Response:
        """An answer that is a list, or a page of one."""
        metadata: Object = {"resourceVersion": found.resource_version}
        if found.continue_:
            metadata["continue"] = found.continue_
        if found.remaining is not None:
            metadata["remainingItemCount"] = found.remaining
        if representation.kind == "Table":
            include = self.include(request)
            # A table without rows ends in `[]}`, and the rows go where that bracket opens.
            head = encode(self.table(representation, resource, (), include, metadata))[:-2]
            return _list_response(head, found.items, lambda part: self._rows(representation, resource, part, include))
        if representation.kind:
            if representation.kind != _METADATA_LIST:
                asked = f"you requested {representation.kind}, but the requested object is a list"
                raise NotAcceptableError(f"{asked} ({_go_type(resource, resource.list_kind)})")
            version = f"meta.k8s.io/{representation.version}"
            if not found.items:
                # So a real server puts a list of metadata that has none.
                return json_response(
                    {"kind": _METADATA_LIST, "apiVersion": version, "metadata": metadata, "items": None}
                )
            head = _head(_METADATA_LIST, version, metadata)
            return _list_response(head, found.items, lambda part: [partial(obj, version) for obj in part])
        head = _head(resource.list_kind, resource.api_version, metadata)
        # The real server leaves the type out of the items of its own kinds and in those of custom ones.
        return _list_response(head, found.items, _unchanged if resource.custom else _untyped)

    def _rows(
        self, representation: Representation, resource: Resource, items: Sequence[Object], include: str
    ) -> Sequence[Object]:
        rows: Sequence[Object] = self.table(representation, resource, items, include, headers=False)["rows"]
        return rows

    def include(self, request: HttpRequest) -> str:
        """What a client wants to find in the rows of a table beside the cells."""
        wanted = request.text("includeObject")
        if wanted not in _INCLUDES:
            raise BadRequestError(
                "Unable to convert to Table as requested: includeObject: Invalid value: "
                f"{go_quote(wanted)}: must be 'Metadata', 'Object', 'None', or empty"
            )
        return wanted or "Metadata"

    def table(
        self,
        representation: Representation,
        resource: Resource,
        items: Sequence[Object],
        include: str,
        list_metadata: Object | None = None,
        *,
        headers: bool = True,
    ) -> Object:
        return table(
            resource,
            items,
            now=self._clock(),
            columns=printer_columns(self._registry, resource),
            include=include,
            list_metadata=list_metadata,
            headers=headers,
            api_version=f"meta.k8s.io/{representation.version}",
        )


def _head(kind: str, api_version: str, metadata: Object) -> bytes:
    """The beginning of a list, up to its items."""
    return encode({"kind": kind, "apiVersion": api_version, "metadata": metadata})[:-1] + b',"items":['


def _list_response(head: bytes, items: Sequence[Object], transform: Transform) -> Response:
    body = ListBody(head, items, transform)
    pieces = iter(body)
    first = next(pieces)
    # Nearly every list is short, and sent at once.
    return Response(200, first if next(pieces, None) is None else body)
