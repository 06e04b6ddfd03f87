"""The answer of a webhook as a Go server decodes it: what a field may be, and what is said of one that is not.

In Go null is nothing, an unknown field is passed over, and a byte that is no text becomes a replacement character. What
is wrong with an answer counts as a failed call, for which the failurePolicy says what follows; so it is found here.
"""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Union

import msgspec

from mooring.kube.errors import MooringError, go_quote
from mooring.kube.json_errors import TYPE_META, json_complaint, json_type, unmarshal_complaint
from mooring.kube.nesting import TOO_DEEP
from mooring.kube.objects import Object

__all__ = ["GoDecodeError", "decode_patch", "decode_review"]

_SCHEME: Final = '"pkg/runtime/scheme.go:111"'
_INT32_SIZE: Final = 2**31
_ALPHABET: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")


class GoDecodeError(MooringError):
    """What Go's decoder says."""


class _GoType(NamedTuple):
    """A type by its name in Go; `inner` is a JSON type, the type of elements, or the fields of a struct."""

    name: str
    inner: Union[str, "_GoType", Mapping[str, "_GoType"]]
    is_map: bool = False


_STRING: Final = _GoType("string", "string")
_UID: Final = _GoType("types.UID", "string")
_CAUSE: Final = _GoType(
    "v1.StatusCause", {"reason": _GoType("v1.CauseType", "string"), "message": _STRING, "field": _STRING}
)
_DETAILS: Final = _GoType(
    "v1.StatusDetails",
    {
        "name": _STRING,
        "group": _STRING,
        "kind": _STRING,
        "uid": _UID,
        "causes": _GoType("[]v1.StatusCause", _CAUSE),
        "retryAfterSeconds": _GoType("int32", "number"),
    },
)
_STATUS: Final = _GoType(
    "v1.Status",
    {
        "status": _STRING,
        "message": _STRING,
        "reason": _GoType("v1.StatusReason", "string"),
        "details": _DETAILS,
        "code": _GoType("int32", "number"),
    },
)
_RESPONSE: Final = _GoType(
    "v1.AdmissionResponse",
    {
        "uid": _UID,
        "allowed": _GoType("bool", "bool"),
        "status": _STATUS,
        "patch": _GoType("[]uint8", "base64"),
        "patchType": _GoType("v1.PatchType", "string"),
        "auditAnnotations": _GoType("map[string]string", _STRING, is_map=True),
        "warnings": _GoType("[]string", _STRING),
    },
)


def decode_review(body: bytes, api_version: str, kind: str, status: int, media: str) -> Object:
    """A review with what is known of its response; `patch` is bytes. GoDecodeError where Go would have none."""
    if not body:
        raise GoDecodeError(f"0-length response with status code: {status} and content type: {media}")
    found = _parsed(body)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise GoDecodeError(f"couldn't get version/kind; json parse error: {unmarshal_complaint(found, TYPE_META)}")
    for name in ("apiVersion", "kind"):
        if not isinstance(found.get(name), str | None):
            why = f"json: cannot unmarshal {json_type(found[name])} into Go struct field .{name} of type string"
            raise GoDecodeError(f"couldn't get version/kind; json parse error: {why}")
    _check_type(found.get("apiVersion") or "", found.get("kind") or "", api_version, kind)
    response = _unmarshal(found.get("response"), _RESPONSE, "AdmissionReview", "response")
    return {"apiVersion": found.get("apiVersion"), "kind": found.get("kind") or "", "response": response}


def decode_patch(data: bytes) -> list[Object]:
    try:
        found = msgspec.json.decode(data.decode(errors="replace"))
    except RecursionError:
        raise GoDecodeError(TOO_DEEP) from None
    except msgspec.DecodeError:
        raise GoDecodeError(json_complaint(data)) from None
    if not isinstance(found, list | None):
        raise GoDecodeError(unmarshal_complaint(found, "jsonpatch.Patch"))
    for operation in found or ():
        if not isinstance(operation, dict):
            raise GoDecodeError(unmarshal_complaint(operation, "jsonpatch.Operation"))
    return found or []


def _parsed(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body.decode(errors="replace"))
    except RecursionError:
        raise GoDecodeError(f"couldn't get version/kind; json parse error: {TOO_DEEP}") from None
    except msgspec.DecodeError:
        if body.lstrip()[:1] == b"{":
            why = json_complaint(body)
        else:
            # It is read as YAML then, in which nearly every text is a string.
            why = unmarshal_complaint("", TYPE_META)
        raise GoDecodeError(f"couldn't get version/kind; json parse error: {why}") from None


def _check_type(api_version: str, kind: str, wanted_version: str, wanted_kind: str) -> None:
    """A review that says what it is must be what was asked for; one that does not is looked at later."""
    if not api_version or not kind or (api_version, kind) == (wanted_version, wanted_kind):
        return
    group, _, version = api_version.rpartition("/")
    wanted_group, _, wanted = wanted_version.rpartition("/")
    if (group, kind) == (wanted_group, wanted_kind) and version in ("v1", "v1beta1"):
        raise GoDecodeError(f"converting ({version}.{kind}) to ({wanted}.{kind}): unknown conversion")
    raise GoDecodeError(
        f"no kind {go_quote(kind)} is registered for version {go_quote(api_version)} in scheme {_SCHEME}"
    )


def _unmarshal(value: Any, wanted: _GoType, owner: str, path: str) -> Any:
    """The value without what its type does not have; None for null."""
    if value is None:
        return None
    inner = wanted.inner
    if isinstance(inner, str):
        return _scalar(value, inner, wanted, owner, path)
    if isinstance(inner, _GoType):
        if wanted.is_map and isinstance(value, dict):
            return {key: _unmarshal(each, inner, owner, path) for key, each in value.items()}
        if wanted.is_map or not isinstance(value, list):
            raise _mismatch(value, wanted, owner, path)
        return [_unmarshal(each, inner, owner, path) or "" for each in value]
    if not isinstance(value, dict):
        raise _mismatch(value, wanted, owner, path)
    name = wanted.name.rpartition(".")[2]
    made = {key: _unmarshal(value.get(key), field, name, f"{path}.{key}") for key, field in inner.items()}
    return {key: each for key, each in made.items() if each is not None}


def _scalar(value: Any, inner: str, wanted: _GoType, owner: str, path: str) -> Any:
    if json_type(value) != ("string" if inner == "base64" else inner):
        raise _mismatch(value, wanted, owner, path)
    if inner == "base64":
        return _base64(value)
    # Not `in range()`: that looks for a fraction number by number.
    if inner == "number" and not (isinstance(value, int) and -_INT32_SIZE <= value < _INT32_SIZE):
        raise _mismatch(value, wanted, owner, path, shown=f"number {value}")
    return value


def _base64(text: str) -> bytes:
    text = text.replace("\r", "").replace("\n", "")
    try:
        return b64decode(text, validate=True)
    except (Base64Error, ValueError):
        at = next((place for place, char in enumerate(text.rstrip("=")) if char not in _ALPHABET), len(text))
        raise GoDecodeError(f"illegal base64 data at input byte {at}") from None


def _mismatch(value: Any, wanted: _GoType, owner: str, path: str, shown: str = "") -> GoDecodeError:
    found = shown or json_type(value)
    return GoDecodeError(f"json: cannot unmarshal {found} into Go struct field {owner}.{path} of type {wanted.name}")
