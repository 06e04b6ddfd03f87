"""The base of what runway shows: frozen, camelCase on the wire, without fields that are at their default."""

from __future__ import annotations

import msgspec

__all__ = ["Shown"]


class Shown(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Only what may be absent has a default."""
