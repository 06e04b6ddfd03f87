"""Reviews as an API server sends them, as requests to webhook functions, and the answers of those."""

from __future__ import annotations

from mooring.admission.diff import json_diff
from mooring.admission.reviews import decode_request, encode_response
from mooring.kube.objects import Object
from mooring.runtime.webhooks.model import Admitted, Denied, WebhookRequest


def read_review(body: bytes) -> tuple[str, WebhookRequest]:
    """The uid of a review and what it asks."""
    asked = decode_request(body)
    version = f"{asked.kind.group}/{asked.kind.version}" if asked.kind.group else asked.kind.version
    return asked.uid, WebhookRequest(
        operation=asked.operation,
        api_version=version,
        kind=asked.kind.kind,
        resource=asked.resource.resource,
        name=asked.name,
        namespace=asked.namespace,
        object=asked.object or None,
        old_object=asked.oldObject or None,
        subresource=asked.subResource,
        user=asked.userInfo.username,
        groups=asked.userInfo.groups,
        dry_run=bool(asked.dryRun),
    )


def write_review(uid: str, request: WebhookRequest, answer: Admitted | Denied) -> bytes:
    """The review that answers."""
    if isinstance(answer, Denied):
        return encode_response(uid, allowed=False, status=answer.status(request), warnings=answer.warnings)
    return encode_response(uid, allowed=True, patch=patch_of(request, answer), warnings=answer.warnings)


def patch_of(request: WebhookRequest, answer: Admitted) -> list[Object]:
    """The operations that an answer comes to; none where it leaves the object as it is."""
    if answer.patch:
        return list(answer.patch)
    return [] if answer.object is None else json_diff(request.object, answer.object)
