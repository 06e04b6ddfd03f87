"""ConversionReviews, both ends of them: what an API server sends when it has objects of a custom kind converted, how a
webhook answers, and what the server takes for an answer.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from mooring.admission.reviews import BadReview
from mooring.kube.errors import MooringError, go_quote
from mooring.kube.nesting import TOO_DEEP, is_deeper
from mooring.kube.objects import Object

__all__ = [
    "ConversionFailed",
    "MalformedConversion",
    "conversion_version",
    "convert_review",
    "encode_conversion",
    "read_conversion",
]

# The function that turns an object of a group and kind into another version of it.
Functions = Mapping[tuple[str, str], Callable[[Object, str], Object]]

_GROUP: Final = "apiextensions.k8s.io"
_KIND: Final = "ConversionReview"
_VERSIONS: Final = ("v1", "v1beta1")
_encode = msgspec.json.Encoder().encode


class ConversionFailed(MooringError):
    """Objects that were not converted."""


class MalformedConversion(ConversionFailed):
    """An answer that does not convert what was sent."""


class _Request(msgspec.Struct):
    uid: str
    desiredAPIVersion: str
    objects: Sequence[dict[str, Any]]


class _ConversionWithRequest(msgspec.Struct):
    apiVersion: str
    kind: str
    request: _Request


class _Response(msgspec.Struct):
    uid: str = ""
    result: dict[str, Any] = msgspec.field(default_factory=dict)
    convertedObjects: list[dict[str, Any]] | None = None


class _ConversionWithResponse(msgspec.Struct):
    apiVersion: str = ""
    kind: str = ""
    response: _Response | None = None


_read_question = msgspec.json.Decoder(_ConversionWithRequest).decode
_read_answer = msgspec.json.Decoder(_ConversionWithResponse).decode

# The server's end


def conversion_version(versions: Sequence[str]) -> str:
    """The first version of reviews that a webhook understands and this server speaks."""
    found = next((each for each in versions if each in _VERSIONS), "")
    if not found:
        raise ConversionFailed("no supported conversion review versions")
    return found


def encode_conversion(version: str, uid: str, objects: Sequence[Object], wanted: str) -> bytes:
    """The review that asks."""
    return _encode(_ConversionWithRequest(f"{_GROUP}/{version}", _KIND, _Request(uid, wanted, objects)))


def read_conversion(body: bytes, uid: str, version: str, objects: list[Object], wanted: str) -> list[Object]:
    """The objects of an answer, if it is one to what was sent."""
    try:
        found = _read_answer(body)
    except RecursionError:
        raise ConversionFailed(f"couldn't get version/kind; json parse error: {TOO_DEEP}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConversionFailed(f"couldn't get version/kind; json parse error: {error}") from None
    if version == "v1" and (found.apiVersion, found.kind) != (f"{_GROUP}/v1", _KIND):
        got = f"{found.apiVersion}, Kind={found.kind}"
        raise ConversionFailed(
            f"expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got {got}"
        )
    response = found.response
    if response is None:
        raise ConversionFailed("no response provided")
    if version == "v1" and response.uid != uid:
        raise ConversionFailed(f"expected response.uid={go_quote(uid)}, got {go_quote(response.uid)}")
    status = response.result.get("status") or ""
    if status != "Success":
        raise ConversionFailed(
            response.result.get("message") or f"response.result.status was '{status}', not 'Success'"
        )
    made = response.convertedObjects or []
    if len(made) != len(objects):
        raise MalformedConversion(f"returned {len(made)} objects, expected {len(objects)}")
    for index, (before, after) in enumerate(zip(objects, made, strict=True)):
        if why := TOO_DEEP if is_deeper(after) else _difference(before, after, wanted):
            raise MalformedConversion(f"returned invalid object at index {index}: {why}")
    return made


def _difference(before: Object, after: Object, wanted: str) -> str:
    """What a conversion changed that it must not."""
    if after.get("apiVersion") != wanted:
        return f"invalid groupVersion (expected {wanted}, received {after.get('apiVersion')})"
    if after.get("kind") != before["kind"]:
        return f"invalid kind (expected {before['kind']}, received {after.get('kind')})"
    was, metadata = before["metadata"], after.get("metadata")
    if not isinstance(metadata, dict):
        return "missing metadata in converted object"
    for name, word in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        if metadata.get(name, "") != was.get(name, ""):
            return f"must have the same {word}: {was.get(name, '')} != {metadata.get(name, '')}"
    return ""


# The webhook's end


def convert_review(body: bytes, functions: Functions) -> bytes:
    """The answer to a ConversionReview; `functions` are by group and kind."""
    try:
        asked = _read_question(body).request
    except RecursionError:
        raise BadReview(f"the body is no ConversionReview: {TOO_DEEP}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadReview(f"the body is no ConversionReview: {error}") from None
    response: Object = {"uid": asked.uid}
    try:
        made = [_convert(each, asked.desiredAPIVersion, functions) for each in asked.objects]
        response |= {"result": {"status": "Success"}, "convertedObjects": made}
    except MooringError as error:
        response["result"] = {"status": "Failure", "message": str(error)}
    return _encode({"apiVersion": f"{_GROUP}/v1", "kind": _KIND, "response": response})


def _convert(obj: Object, wanted: str, functions: Functions) -> Object:
    if obj.get("apiVersion") == wanted:
        return obj
    group, kind = str(obj.get("apiVersion")).rpartition("/")[0], str(obj.get("kind"))
    function = functions.get((group, kind))
    if function is None:
        raise ConversionFailed(f"no conversion is registered for {kind} of {group}")
    made = function(obj, wanted)
    # Conversion is about the fields of the kind: metadata passes it by, but for labels and annotations.
    kept = {key: value for key, value in made["metadata"].items() if key in ("labels", "annotations")}
    rest = {key: value for key, value in obj["metadata"].items() if key not in ("labels", "annotations")}
    return {**made, "apiVersion": wanted, "kind": obj["kind"], "metadata": rest | kept}
