"""What the answer of an API server holds: an object, or an error in the server's words."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from mooring.client.transport import UnknownOutcome, Unreachable
from mooring.kube.objects import Object
from mooring.kube.status import ApiError, error_from_status
from mooring.net.client_connection import HttpResponse

__all__ = ["error_of", "object_of", "proxied_message", "read_list", "read_status"]

_MOST_SHOWN_BYTES: Final = 200


class _Message(msgspec.Struct):
    message: str


class _Cause(msgspec.Struct):
    reason: str = ""
    field: str = ""


class _Details(msgspec.Struct):
    causes: list[_Cause] | None = None
    retryAfterSeconds: int | None = None


class _StatusMeta(msgspec.Struct):
    continue_: str = msgspec.field(default="", name="continue")


class _Status(msgspec.Struct):
    """What is read of a Status; proxies and other servers answer with JSON of their own."""

    code: int | None = None
    reason: str = ""
    message: str = ""
    details: _Details | None = None
    metadata: _StatusMeta | None = None


def read_status(data: msgspec.Raw | bytes) -> Object:
    """A Status, or anything that can be read as one. Raises msgspec.DecodeError."""
    found: Object = msgspec.json.decode(data, type=dict[str, Any])
    msgspec.convert(found, _Status)
    return found


def error_of(answer: HttpResponse) -> ApiError:
    after = answer.headers.get(b"retry-after", b"")
    seconds = int(after) if after.isdigit() else None
    try:
        status = read_status(answer.body)
    except msgspec.DecodeError:
        # Not an API server's answer: a proxy's, or that of a server on its way down.
        text = answer.body[:_MOST_SHOWN_BYTES].decode(errors="replace").strip()
        status = {"message": f"the server answered {answer.status}: {text}" if text else ""}
    return error_from_status(status, answer.status, seconds)


def object_of(answer: HttpResponse, otherwise: type[Unreachable | UnknownOutcome] = UnknownOutcome) -> Object:
    try:
        found: Object = msgspec.json.decode(answer.body, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise otherwise(f"the server answered what cannot be read: {error}") from None
    return found


def proxied_message(body: bytes) -> str:
    """What went wrong behind the API server: in its words, or in those of a pod, which may write anything."""
    try:
        return msgspec.json.decode(body, type=_Message).message[:_MOST_SHOWN_BYTES]
    except msgspec.DecodeError:
        return body[:_MOST_SHOWN_BYTES].decode(errors="replace").strip() or "empty"


class _ListMeta(msgspec.Struct):
    resourceVersion: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class _List(msgspec.Struct):
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)
    # A Go server writes null for a list that holds nothing.
    items: list[msgspec.Raw] | None = None


read_list = msgspec.json.Decoder(_List).decode
