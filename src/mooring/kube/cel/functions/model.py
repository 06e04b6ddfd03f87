"""A function of an expression: its types as Kubernetes declares them, what it does, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Final

from mooring.kube.cel.types import CelType, parse_type
from mooring.kube.cel.values import CelOptional, Cidr, Ip

__all__ = [
    "NO_SUCH_OVERLOAD",
    "Cost",
    "Function",
    "pattern_cost",
    "per_item_cost",
    "read_argument",
    "size",
    "traversal",
]

NO_SUCH_OVERLOAD: Final = "no such overload"

# Of the arguments and the result.
Cost = Callable[[Sequence[Any], Any], int]
# A step over ten characters costs as much as any other step.
STRING_FACTOR: Final = 0.1
PATTERN_FACTOR: Final = 0.25


@dataclass(frozen=True, slots=True)
class Function:
    """One overload. What `call` raises is the error of the expression, by its text; a TypeError means no overload.

    Without `cost` a call costs 1.
    """

    name: str
    parameters: tuple[str, ...]
    result: str
    call: Callable[..., Any]
    # Whether the first parameter stands before the name: `version.major()`.
    member: bool = False
    cost: Cost | None = None
    # Whether the cost is a price, and no measure of the time that the call takes.
    idle: bool = False

    @property
    def parameter_types(self) -> tuple[CelType, ...]:
        return tuple(map(parse_type, self.parameters))

    @property
    def result_type(self) -> CelType:
        return parse_type(self.result)


def size(value: Any) -> int:
    """How large a value is for what it costs: the length of texts, bytes, lists and maps, else 1."""
    if isinstance(value, str | bytes | list | dict):
        return len(value)
    if isinstance(value, CelOptional) and value.present:
        return size(value.value)
    if isinstance(value, Ip):
        return value.address.max_prefixlen // 8
    if isinstance(value, Cidr):
        return ceil(value.length / 8)
    return 1


def traversal(value: Any, times: float = 1) -> int:
    return ceil(size(value) * times * STRING_FACTOR)


def read_argument(times: float = 1) -> Cost:
    """The cost of reading the first argument so many times."""
    return lambda arguments, _: traversal(arguments[0], times)


def pattern_cost(arguments: Sequence[Any], _: Any) -> int:
    """The cost of a search in the first argument for the pattern in the second."""
    return ceil((1 + size(arguments[0])) * STRING_FACTOR) * ceil(size(arguments[1]) * PATTERN_FACTOR)


def per_item_cost(arguments: Sequence[Any], _: Any) -> int:
    """The cost of a look at every item of a list."""
    return sum(1 + (traversal(item) if isinstance(item, str | bytes) else 0) for item in arguments[0])
