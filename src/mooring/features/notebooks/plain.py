"""Typed parts of a job as plain objects: lists where the types have tuples, as every reader of JSON gives them."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["plain"]


def plain(part: msgspec.Struct) -> Any:
    return msgspec.json.decode(msgspec.json.encode(part))
