"""What is said between an API server and an admission webhook: the review that is sent, and what its answer means."""

from base64 import b64decode
from binascii import Error as Base64Error
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import msgspec

from mooring.apiserver.users import User
from mooring.kube.errors import MooringError, go_quote
from mooring.kube.objects import Object
from mooring.kube.status import ApiError, BadRequestError, InternalError
from mooring.net.client_connection import Answer
from mooring.registry import Resource
from mooring.registry.admission import Operation

__all__ = [
    "Attributes",
    "BadReview",
    "Kind",
    "Verdict",
    "call_failure",
    "denial",
    "dry_run_refusal",
    "failure_of",
    "read_verdict",
    "review",
    "review_version",
]


_KNOWN: Final = ("v1", "v1beta1")
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


class BadReview(MooringError):
    """An answer that is no answer to the review that was sent."""


class Kind(NamedTuple):
    group: str
    version: str
    kind: str


@dataclass(frozen=True, slots=True)
class Attributes:
    """What is true of a request whichever webhook is asked. `kind` is that of the object, which a sub-resource may have
    of its own."""

    operation: Operation
    resource: Resource
    subresource: str
    kind: Kind
    namespace: str
    name: str
    user: User
    dry_run: bool
    options: Object


class Verdict(NamedTuple):
    """What a webhook says. `patch` is a list of operations, and None where there is nothing to change."""

    allowed: bool
    patch: list[Object] | None = None
    status: Object | None = None
    warnings: tuple[str, ...] = ()


def review_version(versions: tuple[str, ...]) -> str:
    """The first version of reviews that a webhook understands and this server speaks."""
    found = next((each for each in versions if each in _KNOWN), "")
    if not found:
        raise BadReview(
            "could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)"
        )
    return found


def review(
    version: str, uid: str, about: Attributes, resource: Resource, kind: Kind, obj: Object | None, old: Object | None
) -> Object:
    """The AdmissionReview that is sent; `resource` and `kind` are those in which the webhook sees the objects."""
    asked = about.resource
    request: Object = {
        "uid": uid,
        "kind": kind._asdict(),
        "resource": {"group": resource.group, "version": resource.version, "resource": resource.plural},
        "requestKind": about.kind._asdict(),
        "requestResource": {"group": asked.group, "version": asked.version, "resource": asked.plural},
        "operation": about.operation,
        "userInfo": _user(about.user),
        "object": obj,
        "oldObject": old,
        "dryRun": about.dry_run,
        "options": about.options,
    }
    if about.subresource:
        request["subResource"] = request["requestSubResource"] = about.subresource
    if about.name:
        request["name"] = about.name
    if about.namespace:
        request["namespace"] = about.namespace
    return {"kind": "AdmissionReview", "apiVersion": f"admission.k8s.io/{version}", "request": request}


def _user(user: User) -> Object:
    made: Object = {"username": user.name}
    if user.uid:
        made["uid"] = user.uid
    if user.groups:
        made["groups"] = list(user.groups)
    return made


class _Response(msgspec.Struct):
    uid: str = ""
    allowed: bool = False
    patch: str | None = None
    patchType: str | None = None
    status: dict[str, Any] | None = None
    warnings: list[str] | None = None


class _Review(msgspec.Struct):
    apiVersion: str = ""
    kind: str = ""
    response: _Response | None = None


_decode = msgspec.json.Decoder(_Review).decode


def read_verdict(body: bytes, uid: str, version: str, *, mutates: bool) -> Verdict:
    """What an answer says; BadReview where it is not the answer to the review."""
    try:
        found = _decode(body)
    except msgspec.DecodeError as error:
        raise BadReview(f"failed to call webhook: couldn't get version/kind; json parse error: {error}") from None
    response = found.response
    if response is None:
        raise _invalid("webhook response was absent")
    if version == "v1":
        _check(found, response, uid, mutates=mutates)
    patch = _patch(response.patch) if mutates and response.patch else None
    if patch and version == "v1" and response.patchType != "JSONPatch":
        raise BadReview(f"unsupported patch type {go_quote(response.patchType or '')}")
    return Verdict(response.allowed, patch, response.status, tuple(response.warnings or ()))


def _check(found: _Review, response: _Response, uid: str, *, mutates: bool) -> None:
    if response.uid != uid:
        raise _invalid(f"expected response.uid={go_quote(uid)}, got {go_quote(response.uid)}")
    if (found.apiVersion, found.kind) != ("admission.k8s.io/v1", "AdmissionReview"):
        got = f"{found.apiVersion or '/'}, Kind={found.kind}"
        raise _invalid(f"expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got {got}")
    if not mutates:
        if response.patch:
            raise _invalid("validating webhook may not return response.patch")
        if response.patchType is not None:
            raise _invalid("validating webhook may not return response.patchType")
        return
    if response.patch and response.patchType is None:
        raise _invalid("webhook returned response.patch but not response.patchType")
    if response.patchType is not None:
        if not response.patch:
            raise _invalid("webhook returned response.patchType but not response.patch")
        if not response.patchType:
            raise _invalid('webhook returned invalid response.patchType of ""')


def _invalid(why: str) -> BadReview:
    return BadReview(f"received invalid webhook response: {why}")


def _patch(text: str) -> list[Object] | None:
    try:
        operations = msgspec.json.decode(b64decode(text, validate=True), type=list[dict[str, Any]])
    except (msgspec.DecodeError, Base64Error, ValueError) as error:
        raise BadReview(f"received undecodable patch in webhook response: {error}") from None
    return operations or None


# Refusals


def denial(name: str, status: Object | None) -> ApiError:
    """The refusal of a webhook as a client hears it."""
    status = status or {}
    head, message, reason = f"admission webhook {go_quote(name)} denied the request", "", status.get("reason") or ""
    if status.get("message") or reason:
        message = f"{head}: {status.get('message') or reason}"
    error = ApiError(message or f"{head} without explanation", status.get("details"))
    code = status.get("code")
    error.code = code if isinstance(code, int) and code >= 400 else 400
    error.reason = reason
    return error


def dry_run_refusal(name: str) -> ApiError:
    return BadRequestError(f"admission webhook {go_quote(name)} does not support dry run")


def call_failure(name: str, why: str) -> InternalError:
    """The refusal of a request because a webhook could not be asked."""
    return InternalError.of(f"failed calling webhook {go_quote(name)}: {why}")


def failure_of(answer: Answer) -> str:
    """What an HTTP status that is no success means, in the words of a Go client."""
    status, body = answer.status, answer.body
    try:
        found = msgspec.json.decode(body)
        if isinstance(found, dict) and found.get("kind") == "Status" and found.get("message"):
            return str(found["message"])
    except msgspec.DecodeError:
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
