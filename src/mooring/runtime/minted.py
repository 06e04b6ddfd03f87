"""Random values that a decision asks for and never sees: the driver mints them on the way to the server.

A decision marks a place of a Secret that it creates. The value exists in the request that is sent and in the stored
Secret, and nowhere else: not in a task, a log line or an event. A repeated decision finds the Secret that the first one
made, so the value stays. A simulation derives it from its seed and the place, so that a run can be repeated.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Callable
from typing import Final, Literal

from mooring.client.transport import Request
from mooring.kube.objects import Object

Encoding = Literal["hex", "base64", "base64url"]
# The bytes for a place, which is named by namespace, Secret and entry.
Mint = Callable[[str, int], bytes]

_MARKED: Final[tuple[str, ...]] = ("data", "stringData")


class Minted:
    """A place for random bytes, written in an encoding. It stands in the `data` or `stringData` of a created Secret."""

    __slots__ = ("count", "encoding")

    def __init__(self, count: int, encoding: Encoding = "hex") -> None:
        self.count = count
        self.encoding = encoding

    def __repr__(self) -> str:
        return f"Minted({self.count}, {self.encoding!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Minted) and (self.count, self.encoding) == (other.count, other.encoding)

    def __hash__(self) -> int:
        return hash((self.count, self.encoding))

    def text(self, raw: bytes) -> str:
        match self.encoding:
            case "hex":
                return raw.hex()
            case "base64":
                return base64.b64encode(raw).decode()
            case "base64url":
                return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def random_bytes(place: str, count: int) -> bytes:
    return secrets.token_bytes(count)


def bytes_from(seed: int) -> Mint:
    """Bytes that follow from a seed and the place, whatever was minted before."""

    def mint(place: str, count: int) -> bytes:
        return hashlib.shake_256(f"{seed}/{place}".encode()).digest(count)

    return mint


def fill(request: Request, mint: Mint) -> Request:
    """The request with values in the marked places."""
    if request.verb != "create" or request.kind != "Secret" or request.api_version != "v1":
        return request
    parts = {part: _filled(request, part, mint) for part in _MARKED if part in request.body}
    # An answer need not repeat what was just sent.
    return request._replace(body={**request.body, **parts}, metadata_only=True)


def _filled(request: Request, part: str, mint: Mint) -> Object:
    found = dict(request.body[part])
    for entry, value in found.items():
        if isinstance(value, Minted):
            place = f"{request.namespace}/{request.name}/{entry}"
            text = value.text(mint(place, value.count))
            found[entry] = base64.b64encode(text.encode()).decode() if part == "data" else text
    return found
