"""TokenRequests: the form of their spec, their defaults, and what the API says about them, in its order."""

from __future__ import annotations

from typing import Final

import msgspec

from mooring.kube.errors import FieldError, invalid

__all__ = ["BoundObject", "TokenRequestSpec", "validate_token_request"]

_DEFAULT_SECONDS: Final = 3600
_LEAST_SECONDS: Final = 600
_MOST_SECONDS: Final = 1 << 32


class BoundObject(msgspec.Struct, frozen=True, rename="camel"):
    """The object that a token ends with."""

    kind: str = ""
    api_version: str = ""
    name: str = ""
    uid: str = ""


class TokenRequestSpec(msgspec.Struct, frozen=True, rename="camel"):
    audiences: tuple[str, ...] | None = None
    expiration_seconds: int | None = None
    bound_object_ref: BoundObject | None = None

    @property
    def seconds(self) -> int:
        return _DEFAULT_SECONDS if self.expiration_seconds is None else self.expiration_seconds


def validate_token_request(spec: TokenRequestSpec) -> list[FieldError]:
    path, seconds = "spec.expirationSeconds", spec.seconds
    if seconds < _LEAST_SECONDS:
        return [invalid(path, seconds, "may not specify a duration less than 10 minutes")]
    if seconds > _MOST_SECONDS:
        return [invalid(path, seconds, "may not specify a duration larger than 2^32 seconds")]
    return []
