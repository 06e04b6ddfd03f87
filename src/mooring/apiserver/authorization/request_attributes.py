"""The attributes of an HTTP request, found as kube-apiserver finds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mooring.apiserver.authorization.attributes import Attributes
from mooring.apiserver.messages.request import HttpRequest
from mooring.apiserver.routing import RequestInfo
from mooring.kube.names import path_segment_texts

__all__ = ["demanded_fields", "request_attributes"]

_VERBS: Final = {
    "GET": "get",
    "HEAD": "get",
    "POST": "create",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}


def request_attributes(request: HttpRequest, target: RequestInfo) -> Attributes:
    if not target.plural:
        return Attributes(request.user, request.method.lower(), path=request.path)
    verb, name = _VERBS.get(request.method, ""), target.name
    fields: tuple[tuple[str, str], ...] = ()
    if not name and verb in ("get", "delete"):
        if selectors := request.query.get("fieldSelector"):
            fields = demanded_fields(selectors)
        if verb == "delete":
            verb = "deletecollection"
        else:
            verb = "watch" if request.flag("watch") else "list"
            name = _selected_name(fields)
    namespace = target.namespace
    if namespace is None:
        # A namespace counts as being in itself.
        namespace = target.name if target.plural == "namespaces" else ""
    return Attributes(
        request.user,
        verb,
        target.group,
        target.plural,
        target.subresource,
        namespace,
        name,
        target.version,
        fields=fields,
    )


def demanded_fields(selectors: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The fields that selectors want to be equal to a value. All of them hold together, so one of them may be trusted.

    What is escaped is left out: no value that access hangs on has anything to escape.
    """
    found = []
    for selector in selectors:
        for term in () if "\\" in selector else selector.split(","):
            field, equals, value = term.partition("=")
            if equals and not field.endswith("!"):
                found.append((field, value.removeprefix("=")))
    return tuple(found)


def _selected_name(fields: Sequence[tuple[str, str]]) -> str:
    """The name that a field selector asks for; empty when it leaves more than one."""
    names = (value for field, value in fields if field == "metadata.name" and value)
    return next((name for name in names if not path_segment_texts(name)), "")
