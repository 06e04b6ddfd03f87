"""What keys remember from run to run: immutable values of a declared type, because runs share them."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar

import msgspec

from mooring.kube.errors import MooringError

K = TypeVar("K", bound=Hashable)

_FROZEN: Final = (bool, int, float, str, bytes, tuple, frozenset, datetime, MappingProxyType)


def is_frozen(memory: type[Any]) -> bool:
    if issubclass(memory, msgspec.Struct):
        return memory.__struct_config__.frozen
    if dataclasses.is_dataclass(memory):
        return bool(getattr(memory, "__dataclass_params__").frozen)  # noqa: B009 - it is not part of the type
    return issubclass(memory, _FROZEN)


class Memories(Generic[K]):
    """What each key remembers, of the type that its controller declares."""

    def __init__(self) -> None:
        self._memories: dict[K, Any] = {}

    def get(self, key: K) -> Any:
        return self._memories.get(key)

    def put(self, key: K, name: str, declared: type[Any] | None, memory: Any) -> None:
        """Keep what a run of a controller of that name left; None is nothing."""
        if memory is None:
            self._memories.pop(key, None)
            return
        if declared is None or not isinstance(memory, declared):
            wanted = "nothing" if declared is None else declared.__name__
            raise MooringError(f"{name} declares to remember {wanted}, and remembers {type(memory).__name__}")
        self._memories[key] = memory

    def forget(self, key: K) -> None:
        self._memories.pop(key, None)
