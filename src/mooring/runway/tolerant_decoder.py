"""Reads objects of a cluster as views, where null counts as absent: other writers than Go's put it there."""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec

from mooring.manifests.views import convert

__all__ = ["TolerantDecoder"]

T = TypeVar("T", bound=msgspec.Struct)


class TolerantDecoder(Generic[T]):
    def __init__(self, view: type[T]) -> None:
        self._view = view
        self._decode = msgspec.json.Decoder(view).decode

    def __call__(self, raw: msgspec.Raw) -> T:
        try:
            return self._decode(raw)
        except msgspec.ValidationError:
            # Slow, and rare.
            found: T = convert(msgspec.json.decode(raw), self._view)
            return found
