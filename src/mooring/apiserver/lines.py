"""Watch events as lines of JSON, each encoded once for all streams that want it in the same form."""

from typing import Any, Final

from mooring.apiserver.forms import Forms
from mooring.apiserver.negotiation import Form
from mooring.apiserver.responses import encode
from mooring.apiserver.tables import partial
from mooring.kube.objects import Object
from mooring.kube.status import ApiError
from mooring.registry import Resource, WatchEvent

__all__ = ["LineForm", "Lines", "error_line"]


_MOST_CACHED_BYTES: Final = 16 * 1024 * 1024


class LineForm:
    """How one stream wants its lines. After the first line of a table, the rest come without column definitions."""

    __slots__ = ("form", "headless", "include", "key", "resource", "version")

    def __init__(self, resource: Resource, form: Form, include: str) -> None:
        self.resource, self.form, self.include = resource, form, include
        self.version = f"meta.k8s.io/{form.version}"
        self.key = (resource.api_version, resource.kind, form, include)
        self.headless = False


class Lines:
    """A revision is one change, so form, type and revision say what a line looks like."""

    def __init__(self, forms: Forms) -> None:
        self._forms = forms
        self._cached: dict[tuple[Any, ...], bytes] = {}
        self._size = 0

    def shared(self, form: LineForm, event: WatchEvent) -> bytes:
        """The line of an event that other streams may want too."""
        key = form.key, form.headless, event.type, event.object["metadata"].get("resourceVersion")
        line = self._cached.get(key)
        if line is None:
            line = self.encoded(form, event)
            self._size += len(line)
            if self._size > _MOST_CACHED_BYTES:
                # Streams that keep up want the newest lines only.
                self._cached.clear()
                self._size = len(line)
            self._cached[key] = line
        return line

    def encoded(self, form: LineForm, event: WatchEvent) -> bytes:
        """The line of an event that only this stream wants."""
        obj = event.object
        if form.form.kind == "Table":
            obj = self._table(form, event)
        elif form.form.kind:
            obj = partial(obj, form.version)
        return b'{"type":"%b","object":%b}\n' % (event.type.encode(), encode(obj))

    def _table(self, form: LineForm, event: WatchEvent) -> Object:
        """A table of one row."""
        if event.type != "BOOKMARK":
            return self._forms.table(form.form, form.resource, [event.object], form.include, headers=not form.headless)
        # There is nothing to print about a bookmark, but its row carries the annotations.
        return {
            "kind": "Table",
            "apiVersion": form.version,
            "metadata": {"resourceVersion": event.object["metadata"]["resourceVersion"]},
            "columnDefinitions": None,
            "rows": [{"cells": [], "object": partial(event.object, form.version)}],
        }


def error_line(error: ApiError) -> bytes:
    return b'{"type":"ERROR","object":%b}\n' % encode(error.status())
