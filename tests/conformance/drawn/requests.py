"""One drawn request: what it changes of which object, and the bytes that are sent for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from mooring.testing.http import JSON, PATCHES
from tests.conformance.drawn.pointers import Change, changed, steps_of
from tests.conformance.drawn.servers import Reply, Server
from tests.conformance.drawn.stage import new_object, place_of

METHODS = {"create": "POST", "update": "PUT", "delete": "DELETE", "post": "POST", "get": "GET"}


class Drawn(NamedTuple):
    """`of` is the name of an object, `do` one of METHODS or a kind of patch, `below` a sub-resource, `within` another
    namespace, `by` another user.

    A new object is changed for `create`, the one that stands for all others; `delete` and `post` send just the change.
    """

    of: str
    do: str
    changes: list[Change]
    below: str = ""
    within: str = ""
    by: str = ""

    @property
    def about(self) -> str:
        """In words, for people who see it fail."""
        where = "".join(f" {word} {each}" for word, each in (("in", self.within), ("by", self.by)) if each)
        return f"{self.do} {self.of}{'/' + self.below if self.below else ''}{where} {json.dumps(self.changes)[:400]}"


def send(server: Server, request: Drawn, live: Mapping[str, Any]) -> Reply:
    """Nothing that is asked stays."""
    standing = live[request.of]
    place = place_of(standing, request.within)
    if request.do == "create":
        body = changed(new_object(request.of), request.changes)
        if isinstance(body.get("metadata"), dict):
            body["metadata"].pop("namespace", None) if request.within else None
        path = place.path()
    else:
        body = _body(request, standing)
        path = place.path(standing["metadata"]["name"], request.below)
    query = "&fieldManager=drawn&force=true" if request.do == "apply" else ""
    data = None if body is None else json.dumps(body, separators=(",", ":")).encode()
    content = PATCHES.get(request.do, JSON)
    return server.send(METHODS.get(request.do, "PATCH"), f"{path}?dryRun=All{query}", data, content, request.by)


def _body(request: Drawn, standing: Any) -> Any:
    match request.do:
        case "get":
            return None
        case "update":
            return changed(standing, request.changes)
        case "delete" | "post":
            return changed({}, request.changes)
        case "json":
            return [_operation(each) for each in request.changes]
        case "apply":
            named = {
                "apiVersion": standing["apiVersion"],
                "kind": standing["kind"],
                "metadata": {"name": standing["metadata"]["name"]},
            }
            return changed(named, request.changes)
    # A merge says null for what goes.
    return changed({}, [[place, *(values or [None])] for place, *values in request.changes])


def _operation(change: Change) -> dict[str, Any]:
    place, *values = change
    return {"op": "add", "path": f"/{place}", "value": values[0]} if values else {"op": "remove", "path": f"/{place}"}


def goes_as_merge(changes: list[Change]) -> bool:
    """A merge has no places in lists."""
    return not any(step.isdigit() for place, *_ in changes for step in steps_of(place))
