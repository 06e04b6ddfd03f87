"""Frames: how a payload travels whole or not at all through the log of a container.

A log is text, may lose its beginning to rotation, and ends anywhere when the process is killed. So a frame says how
long its payload is and what its digest is, and one that does not add up is no payload.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import zlib
from typing import Final

__all__ = ["ARTIFACT", "RESULT", "FrameError", "decode", "encode"]

ARTIFACT: Final = "ARTIFACT"
"""The executed notebook and the report, as JSON."""
RESULT: Final = "RESULT"
"""What `mooring.notebook_runner.result` describes, as JSON."""

LINE_CHARACTERS: Final = 4000
MAX_PAYLOAD_BYTES: Final = 256 << 20

_BEGIN: Final = re.compile(r"-----BEGIN MOORING NOTEBOOK ([A-Z]+) ([0-9]{1,12}) ([0-9a-f]{64})-----")


class FrameError(ValueError):
    """A log without the frame, or with one that is incomplete or was changed on its way."""


def encode(name: str, payload: bytes) -> str:
    """The lines of a frame, each ended by a line break."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    packed = base64.b64encode(packer.compress(payload) + packer.flush()).decode()
    lines = [packed[start : start + LINE_CHARACTERS] for start in range(0, len(packed), LINE_CHARACTERS)]
    digest = hashlib.sha256(payload).hexdigest()
    head = f"-----BEGIN MOORING NOTEBOOK {name} {len(payload)} {digest}-----"
    return "\n".join([head, *lines, _end(name)]) + "\n"


def decode(log: str, name: str, most_bytes: int = MAX_PAYLOAD_BYTES) -> bytes:
    """The payload of the last frame of this name in a log. An earlier one never stands in for a broken last one.

    A frame that claims more than `most_bytes` is not unpacked.
    """
    lines = [line.rstrip("\r") for line in log.split("\n")]
    for start in range(len(lines) - 1, -1, -1):
        head = _BEGIN.fullmatch(lines[start])
        if head is not None and head.group(1) == name:
            break
    else:
        raise FrameError(f"the log has no {name} frame: the runner was stopped before it reported, or the log was cut")
    try:
        end = lines.index(_end(name), start + 1)
    except ValueError:
        raise FrameError(f"the {name} frame in the log has no end: the runner was stopped while it reported") from None
    size = int(head.group(2))
    if size > most_bytes:
        raise FrameError(f"the {name} frame claims {size} bytes; at most {most_bytes} are read")
    payload = _unpacked("".join(lines[start + 1 : end]), size, name)
    if hashlib.sha256(payload).hexdigest() != head.group(3):
        raise FrameError(f"the {name} frame in the log differs from what the runner wrote: its digest is another")
    return payload


def _unpacked(text: str, size: int, name: str) -> bytes:
    try:
        unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
        payload = unpacker.decompress(base64.b64decode(text, validate=True), size + 1)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise FrameError(f"the {name} frame in the log cannot be read: {error}") from None
    if len(payload) != size:
        raise FrameError(f"the {name} frame in the log has other than the {size} bytes that it claims")
    return payload


def _end(name: str) -> str:
    return f"-----END MOORING NOTEBOOK {name}-----"
