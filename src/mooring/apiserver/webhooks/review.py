"""A request as the server's webhooks are asked about it, and what an HTTP status that is no answer means."""

from dataclasses import dataclass
from typing import Final

import msgspec

from mooring.admission.reviews import GroupVersionKind, GroupVersionResource, Operation, ReviewRequest, UserInfo
from mooring.apiserver.authentication.users import User
from mooring.kube.errors import go_quote
from mooring.kube.objects import Object
from mooring.net.client_connection import HttpResponse
from mooring.registry import Resource

__all__ = ["AdmissionAttributes", "failure_of", "review"]


_WORDS: Final = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be processing the request",
}


@dataclass(frozen=True, slots=True)
class AdmissionAttributes:
    """What is true of a request whichever webhook is asked. `kind` is that of the object, which a sub-resource may have
    of its own."""

    operation: Operation
    resource: Resource
    subresource: str
    kind: GroupVersionKind
    namespace: str
    name: str
    user: User
    dry_run: bool
    options: Object
    # For the audit log; None where none is written.
    annotations: dict[str, str] | None = None


def review(
    uid: str,
    about: AdmissionAttributes,
    resource: Resource,
    kind: GroupVersionKind,
    obj: Object | None,
    old: Object | None,
) -> ReviewRequest:
    """What is asked; `resource` and `kind` are those in which the webhook sees the objects."""
    return ReviewRequest(
        uid=uid,
        kind=kind,
        resource=_resource(resource),
        operation=about.operation,
        subResource=about.subresource,
        requestKind=about.kind,
        requestResource=_resource(about.resource),
        requestSubResource=about.subresource,
        name=about.name,
        namespace=about.namespace,
        userInfo=UserInfo(about.user.name, about.user.uid, about.user.groups, dict(about.user.extra)),
        object=obj,
        oldObject=old,
        dryRun=about.dry_run,
        options=about.options,
    )


def _resource(resource: Resource) -> GroupVersionResource:
    return GroupVersionResource(resource.group, resource.version, resource.plural)


def failure_of(answer: HttpResponse) -> str:
    """What an HTTP status that is no success means, in the words of a Go client."""
    status, body = answer.status, answer.body
    try:
        found = msgspec.json.decode(body)
        if isinstance(found, dict) and found.get("kind") == "Status" and found.get("message"):
            return str(found["message"])
    except (msgspec.DecodeError, RecursionError):
        pass
    is_text = answer.headers.get(b"content-type", b"text/plain").startswith(b"text/")
    text = body[:2048].decode(errors="replace").strip() if is_text else "unknown"
    if status in _WORDS:
        return _WORDS[status]
    if status in (403, 406, 415):
        return text
    if status >= 500:
        return f"an error on the server ({go_quote(text)}) has prevented the request from succeeding"
    return f"the server responded with the status code {status} but did not return more information"
