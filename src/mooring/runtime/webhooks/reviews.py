"""Reviews as an API server sends them, and the answers to them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.runtime.webhooks.diff import json_diff
from mooring.runtime.webhooks.model import Admitted, Denied, Operation, Request

_ADMISSION: Final = "admission.k8s.io/v1"
_CONVERSION: Final = "apiextensions.k8s.io/v1"
_encode = msgspec.json.Encoder().encode


class BadReview(MooringError):
    """What was sent is no review that can be answered."""


class _Kind(msgspec.Struct):
    group: str = ""
    version: str = ""
    kind: str = ""


class _Resource(msgspec.Struct):
    resource: str = ""


class _User(msgspec.Struct):
    username: str = ""
    groups: tuple[str, ...] = ()


class _Request(msgspec.Struct):
    uid: str
    kind: _Kind
    resource: _Resource
    operation: Operation
    name: str = ""
    namespace: str = ""
    subResource: str = ""
    userInfo: _User = msgspec.field(default_factory=_User)
    object: dict[str, Any] | None = None
    oldObject: dict[str, Any] | None = None
    dryRun: bool | None = None


class _Review(msgspec.Struct):
    apiVersion: str
    kind: str
    request: _Request


class _ConversionRequest(msgspec.Struct):
    uid: str
    desiredAPIVersion: str
    objects: list[dict[str, Any]]


class _ConversionReview(msgspec.Struct):
    apiVersion: str
    kind: str
    request: _ConversionRequest


_read_admission = msgspec.json.Decoder(_Review).decode
_read_conversion = msgspec.json.Decoder(_ConversionReview).decode


def read_review(body: bytes) -> tuple[str, Request]:
    """The uid of a review and what it asks."""
    try:
        review = _read_admission(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadReview(f"the body is no AdmissionReview: {error}") from None
    if (review.apiVersion, review.kind) != (_ADMISSION, "AdmissionReview"):
        raise BadReview(f"the body is a {review.kind} of {review.apiVersion}, not an AdmissionReview of {_ADMISSION}")
    asked = review.request
    version = f"{asked.kind.group}/{asked.kind.version}" if asked.kind.group else asked.kind.version
    return asked.uid, Request(
        operation=asked.operation,
        api_version=version,
        kind=asked.kind.kind,
        resource=asked.resource.resource,
        name=asked.name,
        namespace=asked.namespace,
        object=asked.object,
        old_object=asked.oldObject,
        subresource=asked.subResource,
        user=asked.userInfo.username,
        groups=asked.userInfo.groups,
        dry_run=bool(asked.dryRun),
    )


def write_review(uid: str, request: Request, answer: Admitted | Denied) -> bytes:
    """The review that answers."""
    response: Object = {"uid": uid, "allowed": isinstance(answer, Admitted)}
    if answer.warnings:
        response["warnings"] = list(answer.warnings)
    if isinstance(answer, Denied):
        response["status"] = answer.status(request)
    elif patch := patch_of(request, answer):
        response |= {"patchType": "JSONPatch", "patch": b64encode(_encode(patch)).decode()}
    return _encode({"apiVersion": _ADMISSION, "kind": "AdmissionReview", "response": response})


def patch_of(request: Request, answer: Admitted) -> list[Object]:
    """The operations that an answer comes to; none where it leaves the object as it is."""
    if answer.patch:
        return list(answer.patch)
    return [] if answer.object is None else json_diff(request.object, answer.object)


def convert_review(body: bytes, functions: Mapping[tuple[str, str], Callable[[Object, str], Object]]) -> bytes:
    """The answer to a ConversionReview; `functions` are by group and kind."""
    try:
        review = _read_conversion(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadReview(f"the body is no ConversionReview: {error}") from None
    asked = review.request
    response: Object = {"uid": asked.uid}
    try:
        made = [_converted(each, asked.desiredAPIVersion, functions) for each in asked.objects]
        response |= {"result": {"status": "Success"}, "convertedObjects": made}
    except MooringError as error:
        response["result"] = {"status": "Failure", "message": str(error)}
    return _encode({"apiVersion": _CONVERSION, "kind": "ConversionReview", "response": response})


def _converted(
    obj: Object, wanted: str, functions: Mapping[tuple[str, str], Callable[[Object, str], Object]]
) -> Object:
    if obj.get("apiVersion") == wanted:
        return obj
    group, kind = str(obj.get("apiVersion")).rpartition("/")[0], str(obj.get("kind"))
    function = functions.get((group, kind))
    if function is None:
        raise BadReview(f"nobody here converts {kind} of {group}")
    made = function(obj, wanted)
    # Conversion is about the fields of the kind: metadata passes it by, but for labels and annotations.
    kept = {key: value for key, value in made["metadata"].items() if key in ("labels", "annotations")}
    rest = {key: value for key, value in obj["metadata"].items() if key not in ("labels", "annotations")}
    return {**made, "apiVersion": wanted, "kind": obj["kind"], "metadata": rest | kept}
