"""AdmissionReviews, both ends of them: what an API server sends and how a webhook reads it, what a webhook answers and
what that means to the server.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from mooring.admission.go_decoding import GoDecodeError, decode_patch, decode_review
from mooring.kube.errors import MooringError, go_quote
from mooring.kube.nesting import TOO_DEEP
from mooring.kube.objects import Object

__all__ = [
    "BadReview",
    "GroupVersionKind",
    "GroupVersionResource",
    "Operation",
    "ReviewRequest",
    "ReviewResponse",
    "UserInfo",
    "WebhookVerdict",
    "decode_request",
    "encode_request",
    "encode_response",
    "read_verdict",
    "review_version",
    "strip_server_fields",
]

Operation = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]

_GROUP: Final = "admission.k8s.io"
_KIND: Final = "AdmissionReview"
_VERSIONS: Final = ("v1", "v1beta1")
_encode = msgspec.json.Encoder().encode


class BadReview(MooringError):
    """A request that is no review, or an answer that does not answer the review that was sent."""


class GroupVersionKind(msgspec.Struct, frozen=True):
    group: str = ""
    version: str = ""
    kind: str = ""


class GroupVersionResource(msgspec.Struct, frozen=True):
    group: str = ""
    version: str = ""
    resource: str = ""


class UserInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = {}


class ReviewRequest(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What is asked. The kind and resource are those in which the webhook sees the objects; the `request...` ones are
    those that the client named. UNSET is not sent, null is."""

    uid: str
    kind: GroupVersionKind
    resource: GroupVersionResource
    operation: Operation
    subResource: str = ""
    requestKind: GroupVersionKind | None = None
    requestResource: GroupVersionResource | None = None
    requestSubResource: str = ""
    name: str = ""
    namespace: str = ""
    userInfo: UserInfo = UserInfo()
    object: Object | UnsetType | None = UNSET
    oldObject: Object | UnsetType | None = UNSET
    dryRun: bool | None = None
    options: Object | UnsetType | None = UNSET


class ReviewResponse(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What is answered. `patch` is base64."""

    uid: str = ""
    allowed: bool | UnsetType = UNSET
    status: Object | None = None
    patchType: str | None = None
    patch: str | None = None
    warnings: list[str] | None = None


class _ReviewWithRequest(msgspec.Struct):
    apiVersion: str
    kind: str
    request: ReviewRequest


class _ReviewWithResponse(msgspec.Struct):
    apiVersion: str = ""
    kind: str = ""
    response: ReviewResponse | None = None


_read_question = msgspec.json.Decoder(_ReviewWithRequest).decode


def strip_server_fields(obj: Object) -> Object:
    """A new object as mutating webhooks see it, without the fields that the server sets on creation."""
    metadata = {key: value for key, value in obj["metadata"].items() if key not in ("uid", "creationTimestamp")}
    return {**obj, "metadata": metadata}


# The server's end: asking


def review_version(versions: tuple[str, ...]) -> str:
    """The first version of reviews that a webhook understands and this server speaks."""
    found = next((each for each in versions if each in _VERSIONS), "")
    if not found:
        raise BadReview(
            "could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)"
        )
    return found


def encode_request(version: str, request: ReviewRequest) -> bytes:
    """The review that asks."""
    return _encode(_ReviewWithRequest(apiVersion=f"{_GROUP}/{version}", kind=_KIND, request=request))


# The webhook's end


def decode_request(body: bytes) -> ReviewRequest:
    """What a review asks; BadReview where it is none."""
    try:
        review = _read_question(body)
    except RecursionError:
        raise BadReview(f"the body is no AdmissionReview: {TOO_DEEP}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadReview(f"the body is no AdmissionReview: {error}") from None
    if (review.apiVersion, review.kind) != (f"{_GROUP}/v1", _KIND):
        raise BadReview(f"the body is a {review.kind} of {review.apiVersion}, not an AdmissionReview of {_GROUP}/v1")
    return review.request


def encode_response(
    uid: str,
    *,
    allowed: bool,
    status: Object | None = None,
    patch: Sequence[Object] = (),
    warnings: Sequence[str] = (),
) -> bytes:
    """The review that answers."""
    response = ReviewResponse(
        uid=uid,
        allowed=allowed,
        status=status,
        patchType="JSONPatch" if patch else None,
        patch=b64encode(_encode(patch)).decode() if patch else None,
        warnings=list(warnings) or None,
    )
    return _encode(_ReviewWithResponse(apiVersion=f"{_GROUP}/v1", kind=_KIND, response=response))


# The server's end: understanding


class WebhookVerdict(NamedTuple):
    """The verdict of a webhook. `patch` is a list of operations, and None where there is nothing to change."""

    allowed: bool
    patch: list[Object] | None = None
    status: Object | None = None
    warnings: tuple[str, ...] = ()
    annotations: Mapping[str, str] = MappingProxyType({})


def read_verdict(
    body: bytes, uid: str, version: str, *, mutates: bool, status: int = 200, media: str = "application/json"
) -> WebhookVerdict:
    """The verdict of a response with this status and content type; BadReview where it does not answer the review."""
    try:
        review = decode_review(body, f"{_GROUP}/{version}", _KIND, status, media)
    except GoDecodeError as error:
        raise BadReview(f"failed to call webhook: {error}") from None
    response: Object | None = review.get("response")
    if response is None:
        raise _invalid("webhook response was absent")
    if version == "v1":
        _check(review, response, uid, mutates=mutates)
    patch = _patch(response["patch"]) if mutates and response.get("patch") else None
    if patch and version == "v1" and response["patchType"] != "JSONPatch":
        raise BadReview(f"unsupported patch type {go_quote(response['patchType'])}")
    return WebhookVerdict(
        response.get("allowed") is True,
        patch,
        response.get("status"),
        tuple(response.get("warnings") or ()),
        response.get("auditAnnotations") or {},
    )


def _check(review: Object, response: Object, uid: str, *, mutates: bool) -> None:
    if response.get("uid", "") != uid:
        raise _invalid(f"expected response.uid={go_quote(uid)}, got {go_quote(response.get('uid', ''))}")
    if (review.get("apiVersion"), review.get("kind")) != ("admission.k8s.io/v1", "AdmissionReview"):
        got = f"{review.get('apiVersion') or '/'}, Kind={review.get('kind', '')}"
        raise _invalid(f"expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got {got}")
    patch, patch_type = response.get("patch"), response.get("patchType")
    if not mutates:
        if patch:
            raise _invalid("validating webhook may not return response.patch")
        if patch_type is not None:
            raise _invalid("validating webhook may not return response.patchType")
        return
    if patch and patch_type is None:
        raise _invalid("webhook returned response.patch but not response.patchType")
    if patch_type is not None:
        if not patch:
            raise _invalid("webhook returned response.patchType but not response.patch")
        if not patch_type:
            raise _invalid('webhook returned invalid response.patchType of ""')


def _invalid(why: str) -> BadReview:
    return BadReview(f"received invalid webhook response: {why}")


def _patch(data: bytes) -> list[Object] | None:
    try:
        return decode_patch(data) or None
    except GoDecodeError as error:
        raise BadReview(f"received undecodable patch in webhook response: {error}") from None
