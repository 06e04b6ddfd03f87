"""Watch events as lines of JSON, each encoded once for all streams that want it in the same form."""

from typing import Any, Final

from mooring.apiserver.negotiation import Representation
from mooring.apiserver.representations import Representations
from mooring.apiserver.responses import encode
from mooring.apiserver.tables import partial
from mooring.kube.objects import Object
from mooring.kube.status import ApiError
from mooring.registry import Resource, WatchEvent

__all__ = ["WatchEventEncoder", "WatchEventFormat", "error_line"]


_MOST_CACHED_BYTES: Final = 16 * 1024 * 1024


class WatchEventFormat:
    """How one stream wants its lines. After the first line of a table, the rest come without column definitions."""

    __slots__ = ("headless", "include", "key", "representation", "resource", "version")

    def __init__(self, resource: Resource, representation: Representation, include: str) -> None:
        self.resource, self.representation, self.include = resource, representation, include
        self.version = f"meta.k8s.io/{representation.version}"
        self.key = (resource.api_version, resource.kind, representation, include)
        self.headless = False


class WatchEventEncoder:
    """A revision is one change, so form, type and revision say what a line looks like."""

    def __init__(self, representations: Representations) -> None:
        self._representations = representations
        self._cached: dict[tuple[Any, ...], bytes] = {}
        self._size = 0

    def shared(self, event_format: WatchEventFormat, event: WatchEvent) -> bytes:
        """The line of an event that other streams may want too."""
        key = event_format.key, event_format.headless, event.type, event.object["metadata"].get("resourceVersion")
        line = self._cached.get(key)
        if line is None:
            line = self.encoded(event_format, event)
            self._size += len(line)
            if self._size > _MOST_CACHED_BYTES:
                # Streams that keep up want the newest lines only.
                self._cached.clear()
                self._size = len(line)
            self._cached[key] = line
        return line

    def encoded(self, event_format: WatchEventFormat, event: WatchEvent) -> bytes:
        """The line of an event that only this stream wants."""
        obj = event.object
        if event_format.representation.kind == "Table":
            obj = self._table(event_format, event)
        elif event_format.representation.kind:
            obj = partial(obj, event_format.version)
        return b'{"type":"%b","object":%b}\n' % (event.type.encode(), encode(obj))

    def _table(self, event_format: WatchEventFormat, event: WatchEvent) -> Object:
        """A table of one row."""
        if event.type != "BOOKMARK":
            return self._representations.table(
                event_format.representation,
                event_format.resource,
                [event.object],
                event_format.include,
                headers=not event_format.headless,
            )
        # There is nothing to print about a bookmark, but its row carries the annotations.
        return {
            "kind": "Table",
            "apiVersion": event_format.version,
            "metadata": {"resourceVersion": event.object["metadata"]["resourceVersion"]},
            "columnDefinitions": None,
            "rows": [{"cells": [], "object": partial(event.object, event_format.version)}],
        }


def error_line(error: ApiError) -> bytes:
    return b'{"type":"ERROR","object":%b}\n' % encode(error.status())
