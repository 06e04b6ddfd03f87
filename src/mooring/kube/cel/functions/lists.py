"""Lists and sets in expressions: Kubernetes' own functions and those of the extensions for lists and for sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final

from mooring.kube.cel.functions.model import Function, per_item_cost, size
from mooring.kube.cel.functions.operators import add
from mooring.kube.cel.values import CelOptional, equal

List = Sequence[Any]

LIST_COST: Final = 10


def _is_sorted(items: List) -> bool:
    return all(not later < earlier for earlier, later in pairwise(items))


def _extreme(choose: Callable[[List], Any], name: str) -> Callable[[List], Any]:
    def call(items: List) -> Any:
        if not items:
            raise ValueError(f"{name} called on empty list")
        return choose(items)

    return call


def _sum(items: List) -> Any:
    """By the types of what is added: the declarations know them, lists do not."""
    if not items:
        return 0
    total = items[0]
    for item in items[1:]:
        total = add(total, item)
    return total


def _index_of(items: List, wanted: Any) -> int:
    return next((index for index, item in enumerate(items) if equal(item, wanted)), -1)


def _last_index_of(items: List, wanted: Any) -> int:
    return next((index for index in reversed(range(len(items))) if equal(items[index], wanted)), -1)


def _contains(items: List, wanted: List) -> bool:
    return all(any(equal(one, item) for item in items) for one in wanted)


def _overlap(items: List, others: List) -> bool:
    return any(equal(one, other) for one in items for other in others)


def _slice(items: List, start: int, end: int) -> List:
    head = f"cannot slice({start}, {end}), "
    if start < 0 or end < 0:
        raise ValueError(f"{head}negative indexes not supported")
    if start > end:
        raise ValueError(f"{head}start index must be less than or equal to end index")
    if end > len(items):
        raise ValueError(f"{head}list is length {len(items)}")
    return items[start:end]


def _flatten(items: List, depth: int = 1) -> list[Any]:
    if depth < 0:
        raise ValueError("level must be non-negative")
    made: list[Any] = []
    for item in items:
        if isinstance(item, list) and depth:
            made += _flatten(item, depth - 1)
        else:
            made.append(item)
    return made


def _distinct(items: List) -> list[Any]:
    made: list[Any] = []
    for item in items:
        if not any(equal(item, other) for other in made):
            made.append(item)
    return made


def _sort_by(items: List, keys: List) -> list[Any]:
    if len({key.__class__ for key in keys}) > 1:
        raise ValueError("list elements must have the same type")
    order = sorted(range(len(items)), key=lambda index: keys[index])
    return [items[index] for index in order]


def _first(items: List) -> CelOptional:
    return CelOptional(items[0], present=True) if items else CelOptional()


def _last(items: List) -> CelOptional:
    return CelOptional(items[-1], present=True) if items else CelOptional()


def _pairs(arguments: Sequence[Any], _: Any) -> int:
    return size(arguments[0]) * size(arguments[1]) + 1


def _squared(arguments: Sequence[Any], _: Any) -> int:
    return LIST_COST + 2 * size(arguments[0]) ** 2 + 1


def _produced(_: Sequence[Any], result: Any) -> int:
    return LIST_COST + size(result) + 1


_COMPARABLE: Final = ("int", "uint", "double", "bool", "string", "bytes", "duration", "timestamp")
_SUMMABLE: Final = ("int", "uint", "double", "duration")
_SETS: Final = ("list<A>", "list<A>")

LISTS: Final = (
    *(Function("isSorted", (f"list<{kind}>",), "bool", _is_sorted, True, per_item_cost) for kind in _COMPARABLE),
    *(Function("min", (f"list<{kind}>",), kind, _extreme(min, "min"), True, per_item_cost) for kind in _COMPARABLE),
    *(Function("max", (f"list<{kind}>",), kind, _extreme(max, "max"), True, per_item_cost) for kind in _COMPARABLE),
    *(Function("sum", (f"list<{kind}>",), kind, _sum, True, per_item_cost) for kind in _SUMMABLE),
    Function("indexOf", ("list<A>", "A"), "int", _index_of, True, per_item_cost),
    Function("lastIndexOf", ("list<A>", "A"), "int", _last_index_of, True, per_item_cost),
    Function("sets.contains", _SETS, "bool", _contains, cost=_pairs),
    Function("sets.intersects", _SETS, "bool", _overlap, cost=_pairs),
    Function("sets.equivalent", _SETS, "bool", lambda a, b: _contains(a, b) and _contains(b, a), cost=_pairs),
    Function("slice", ("list<A>", "int", "int"), "list<A>", _slice, True, _produced),
    Function("flatten", ("list<list<A>>",), "list<A>", _flatten, True, _produced),
    Function("flatten", ("list<dyn>", "int"), "list<dyn>", _flatten, True, _produced),
    Function("distinct", ("list<A>",), "list<A>", _distinct, True, _squared),
    Function("reverse", ("list<A>",), "list<A>", lambda items: items[::-1], True, _produced),
    *(Function("sort", (f"list<{kind}>",), f"list<{kind}>", sorted, True, _squared) for kind in _COMPARABLE),
    *(
        Function("@sortByAssociatedKeys", ("list<A>", f"list<{kind}>"), "list<A>", _sort_by, True, _squared)
        for kind in _COMPARABLE
    ),
    Function("lists.range", ("int",), "list<int>", lambda count: list(range(count)), cost=_produced),
    Function("first", ("list<A>",), "optional<A>", _first, True),
    Function("last", ("list<A>",), "optional<A>", _last, True),
)
