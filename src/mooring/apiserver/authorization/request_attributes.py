"""The attributes of an HTTP request, found as kube-apiserver finds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mooring.apiserver.authorization.attributes import Attributes
from mooring.apiserver.request import HttpRequest
from mooring.apiserver.routing import RequestInfo
from mooring.kube.names import path_segment_texts

__all__ = ["request_attributes"]

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
    if not name:
        if verb == "get":
            verb = "watch" if request.flag("watch") else "list"
            name = _selected_name(request.query.get("fieldSelector", ()))
        elif verb == "delete":
            verb = "deletecollection"
    namespace = target.namespace
    if namespace is None:
        # A namespace counts as being in itself.
        namespace = target.name if target.plural == "namespaces" else ""
    return Attributes(
        request.user, verb, target.group, target.plural, target.subresource, namespace, name, target.version
    )


def _selected_name(selectors: Sequence[str]) -> str:
    """The name that a field selector asks for; empty when it leaves more than one."""
    for selector in selectors:
        for term in selector.split(","):
            field, equals, value = term.partition("=")
            name = value.removeprefix("=")
            if field == "metadata.name" and equals and name and "\\" not in name and not path_segment_texts(name):
                return name
    return ""
