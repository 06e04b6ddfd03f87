"""Watch events as lines of JSON or frames of protobuf, each encoded once for all streams that want the same."""

from typing import Any, Final

from mooring.apiserver.messages.negotiation import Representation
from mooring.apiserver.messages.representations import Representations
from mooring.apiserver.messages.responses import encode
from mooring.apiserver.tables import partial
from mooring.kube.objects import Object
from mooring.kube.status import ApiError
from mooring.registry import Resource, WatchEvent

__all__ = ["WatchEventEncoder", "WatchEventFormat", "error_line"]


_MAX_CACHED_BYTES: Final = 16 * 1024 * 1024


class WatchEventFormat:
    """The representation of one stream's events. `headless`: only the first Table has column definitions."""

    __slots__ = ("headless", "include", "key", "representation", "resource", "version")

    def __init__(self, resource: Resource, representation: Representation, include: str) -> None:
        self.resource, self.representation, self.include = resource, representation, include
        self.version = f"meta.k8s.io/{representation.version}"
        self.key = (resource.api_version, resource.kind, representation, include)
        self.headless = False


class WatchEventEncoder:
    """Encodes events and caches the lines.

    A revision is one change of one object, so representation, event type and revision determine a line.
    """

    def __init__(self, representations: Representations) -> None:
        self._representations = representations
        self._cached: dict[tuple[Any, ...], bytes] = {}
        self._cached_bytes = 0

    def encode_shared(self, event_format: WatchEventFormat, event: WatchEvent) -> bytes:
        """The line of an event that other streams may need too."""
        key = event_format.key, event_format.headless, event.type, event.object["metadata"].get("resourceVersion")
        line = self._cached.get(key)
        if line is None:
            line = self.encode_once(event_format, event)
            self._cached_bytes += len(line)
            if self._cached_bytes > _MAX_CACHED_BYTES:
                # Streams that keep up need the newest lines only.
                self._cached.clear()
                self._cached_bytes = len(line)
            self._cached[key] = line
        return line

    def encode_once(self, event_format: WatchEventFormat, event: WatchEvent) -> bytes:
        """The line of an event that only this stream needs, such as the initial events of a watch."""
        obj = event.object
        if event_format.representation.kind == "Table":
            obj = self._table(event_format, event)
        elif event_format.representation.kind:
            obj = partial(obj, event_format.version)
        return _line(event.type, obj, event_format.representation)

    def _table(self, event_format: WatchEventFormat, event: WatchEvent) -> Object:
        """A table of one row. That of a bookmark is of an object without anything but its annotations."""
        return self._representations.table(
            event_format.representation,
            event_format.resource,
            [event.object],
            event_format.include,
            headers=not event_format.headless,
        )


def error_line(error: ApiError, representation: Representation) -> bytes:
    return _line("ERROR", error.status(), representation)


def _line(event: str, obj: Object, representation: Representation) -> bytes:
    if representation.encoding == "protobuf":
        from mooring.apiserver.protobuf.writing import watch_frame

        return watch_frame(event, obj)
    return b'{"type":"%b","object":%b}\n' % (event.encode(), encode(obj))
