"""The lines of a watch as changes, each with the object as it came."""

from __future__ import annotations

import msgspec

from mooring.client.answers import read_status
from mooring.client.transport import Batch, Change
from mooring.kube.status import ApiError, error_from_status

__all__ = ["read_batch"]


class _Event(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _Meta(msgspec.Struct):
    resourceVersion: str = ""


class _Versioned(msgspec.Struct):
    metadata: _Meta


_read_events = msgspec.json.Decoder(_Event).decode_lines
_read_version = msgspec.json.Decoder(_Versioned).decode


def read_batch(lines: bytes, version: str) -> tuple[Batch, ApiError | None]:
    """The changes in some lines, and the error that comes after them."""
    changes = []
    error = None
    last = None
    for event in _read_events(lines):
        if event.type == "ERROR":
            error = error_from_status(read_status(event.object))
            break
        last = event.object
        changes.append(Change(event.type, last))
    if last is not None:
        version = _read_version(last).metadata.resourceVersion or version
    return Batch(changes, version), error
