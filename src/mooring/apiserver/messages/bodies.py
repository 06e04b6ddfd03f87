"""From the bytes of a request to plain JSON values: JSON, YAML or protobuf, with limits on what they may unfold to.

Everything behind this point walks objects recursively, so what is nested without reason stops here. YAML that is large
is read on another thread: its parser takes seconds for what JSON does in milliseconds, and others wait for the loop.
"""

import asyncio
from typing import Any, Final, NamedTuple

import msgspec

from mooring.kube.json_errors import json_complaint
from mooring.kube.nesting import DEPTH_LIMIT, TOO_DEEP, is_deeper
from mooring.kube.status import ApiError, BadRequestError
from mooring.registry.patches import PatchType

__all__ = [
    "BodyDocument",
    "UnsupportedMediaTypeError",
    "decode_object",
    "decode_patch",
    "media_type",
    "read_document",
    "read_json",
    "read_yaml",
]


_SHOWN: Final = 30
_LARGE_YAML: Final = 32 * 1024
_OBJECT_TYPES: Final = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
_PATCH_TYPES: Final[dict[str, PatchType]] = {
    "application/json-patch+json": "json",
    "application/merge-patch+json": "merge",
    "application/strategic-merge-patch+json": "strategic",
    "application/apply-patch+yaml": "apply",
}


class BodyDocument(NamedTuple):
    """The value of a body, and what the YAML parser says of keys that came twice; JSON has its own way for these."""

    value: Any
    duplicate_keys: tuple[str, ...] = ()


class UnsupportedMediaTypeError(ApiError):
    code = 415
    reason = "UnsupportedMediaType"


def media_type(content_type: str) -> str:
    """The media type without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def read_json(body: bytes) -> Any:
    """The value of a JSON text; BadRequestError when it is none, or nested without reason."""
    try:
        value = msgspec.json.decode(body)
    except RecursionError:
        raise BadRequestError(TOO_DEEP) from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadRequestError(json_complaint(body) or str(error)) from None
    # Without that many brackets it cannot be too deep, and nothing needs to be walked.
    if body.count(b"{") + body.count(b"[") > DEPTH_LIMIT and is_deeper(value):
        raise BadRequestError(TOO_DEEP)
    return value


async def decode_object(content_type: str, body: bytes, kind: str) -> Any:
    """The object that was sent to be created or put in another's place."""
    return (await read_document(content_type, body, kind)).value


async def read_document(content_type: str, body: bytes, kind: str) -> BodyDocument:
    """The same with the keys that came twice."""
    media = media_type(content_type) or "application/json"
    if media == "application/vnd.kubernetes.protobuf":
        return BodyDocument(_read_protobuf(body))
    if media not in _OBJECT_TYPES:
        raise _unsupported(_OBJECT_TYPES)
    try:
        return await _read_yaml(body) if media == "application/yaml" else BodyDocument(read_json(body))
    except BadRequestError as error:
        why = str(error) if media == "application/yaml" else f"couldn't get version/kind; json parse error: {error}"
        shown = f"the object provided is unrecognized (must be of type {kind}): {why} ({_beginning(body)})"
        raise BadRequestError(shown) from None


async def decode_patch(content_type: str, body: bytes, *, custom: bool) -> tuple[PatchType, BodyDocument]:
    """The type of a patch and its value."""
    patch_type = _PATCH_TYPES.get(media_type(content_type))
    if patch_type is None or (custom and patch_type == "strategic"):
        raise _unsupported([name for name, each in _PATCH_TYPES.items() if not (custom and each == "strategic")])
    try:
        # An apply patch may be YAML, and nearly always is JSON.
        if patch_type == "apply" and not body.lstrip().startswith(b"{"):
            return patch_type, await _read_yaml(body)
        return patch_type, BodyDocument(read_json(body))
    except BadRequestError as error:
        raise error if patch_type == "strategic" else BadRequestError(f"error decoding patch: {error}") from None


def _beginning(body: bytes) -> str:
    """As much of a body as the API shows: text of what may be JSON, bytes of anything else."""
    if not body:
        return "<empty>"
    more = " ..." if len(body) > _SHOWN else ""
    shown = body[:_SHOWN]
    return (shown.decode("utf-8", "replace") if body.startswith(b"{") else shown.hex()) + more


async def _read_yaml(body: bytes) -> BodyDocument:
    if len(body) > _LARGE_YAML:
        return await asyncio.to_thread(read_yaml, body)
    return read_yaml(body)


def read_yaml(body: bytes) -> BodyDocument:
    """The value of a YAML text, with the keys that came twice; BadRequestError when it is none."""
    # Nearly no request is YAML, and the parser takes as long to import as everything else here.
    from mooring.manifests.errors import ManifestError
    from mooring.manifests.loader import load_with_duplicates

    try:
        return BodyDocument(*load_with_duplicates(body.decode("utf-8")))
    except UnicodeDecodeError:
        raise BadRequestError("error converting YAML to JSON: the text is not UTF-8") from None
    except (ManifestError, RecursionError) as error:
        raise BadRequestError(f"error converting YAML to JSON: {error}") from None


def _read_protobuf(body: bytes) -> Any:
    from mooring.apiserver.protobuf import decode

    try:
        return decode(body)
    except RecursionError:
        raise BadRequestError(TOO_DEEP) from None


def _unsupported(accepted: tuple[str, ...] | list[str]) -> UnsupportedMediaTypeError:
    return UnsupportedMediaTypeError(
        "the body of the request was in an unknown format - accepted media types include: " + ", ".join(accepted)
    )
