"""What may be a controller's memory: a type whose values nobody can change, because runs share them."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

import msgspec

_FROZEN: Final = (bool, int, float, str, bytes, tuple, frozenset, datetime, MappingProxyType)


def is_frozen(memory: type[Any]) -> bool:
    if issubclass(memory, msgspec.Struct):
        return memory.__struct_config__.frozen
    if dataclasses.is_dataclass(memory):
        return bool(getattr(memory, "__dataclass_params__").frozen)  # noqa: B009 - it is not part of the type
    return issubclass(memory, _FROZEN)
