"""The operators of the language: arithmetic, comparisons, indexes, membership, sizes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from math import ceil, isnan
from typing import Any, Final

from mooring.kube.cel.functions.model import NO_SUCH_OVERLOAD, STRING_FACTOR, Function, read_argument, size
from mooring.kube.cel.functions.times import MOMENTS
from mooring.kube.cel.values import CelOptional, Duration, KeyedList, SetList, Timestamp, Uint, equal

INT64: Final = range(-(2**63), 2**63)
_UINT64: Final = range(2**64)

Binary = Callable[[Any, Any], Any]


def _int(do: Binary) -> Binary:
    def call(one: int, other: int) -> int:
        found: int = do(one, other)
        if found not in INT64:
            raise ValueError("integer overflow")
        return found

    return call


def _uint(do: Binary) -> Binary:
    def call(one: int, other: int) -> Uint:
        found: int = do(int(one), int(other))
        if found not in _UINT64:
            raise ValueError("unsigned integer overflow")
        return Uint(found)

    return call


def _divide(one: int, other: int) -> int:
    if not other:
        raise ValueError("division by zero")
    # Towards zero, as Go does.
    found = abs(one) // abs(other)
    return found if (one < 0) == (other < 0) else -found


def _modulo(one: int, other: int) -> int:
    if not other:
        raise ValueError("modulus by zero")
    found = abs(one) % abs(other)
    return -found if one < 0 else found


def _divide_doubles(one: float, other: float) -> float:
    if other:
        return one / other
    if not one or isnan(one):
        return float("nan")
    return float("inf") if (one > 0) == (str(other)[0] != "-") else float("-inf")


def _negate(one: int) -> int:
    if -one not in INT64:
        raise ValueError("integer overflow")
    return -one


def _duration(do: Binary) -> Binary:
    def call(one: int, other: int) -> Duration:
        found = do(int(one), int(other))
        if found not in INT64:
            raise ValueError("integer overflow")
        return Duration(found)

    return call


def _timestamp(do: Binary) -> Binary:
    def call(one: int, other: int) -> Timestamp:
        found = do(int(one), int(other))
        if found not in MOMENTS:
            raise ValueError("timestamp overflow")
        moment = one if isinstance(one, Timestamp) else other
        return Timestamp(found, moment.offset) if isinstance(moment, Timestamp) else Timestamp(found)

    return call


def _concatenate(one: list[Any], other: list[Any]) -> list[Any]:
    if isinstance(one, KeyedList):
        positions = {one.key_of(item): index for index, item in enumerate(one)}
        made = list(one)
        for item in other:
            at = positions.get(one.key_of(item))
            if at is None:
                made.append(item)
            else:
                made[at] = item
        return KeyedList(made, one.keys)
    if isinstance(one, SetList):
        return SetList([*one, *(item for item in other if not any(equal(item, each) for each in one))])
    return [*one, *other]


def _order(do: Binary) -> Binary:
    def call(one: Any, other: Any) -> bool:
        if (one.__class__ is float and isnan(one)) or (other.__class__ is float and isnan(other)):
            raise ValueError("NaN values cannot be ordered")
        return bool(do(one, other))

    return call


def _item(items: list[Any], index: Any) -> Any:
    at = int(index)
    if not 0 <= at < len(items):
        raise IndexError(f"index out of bounds: {at}")
    return items[at]


def _value(entries: dict[Any, Any], key: Any) -> Any:
    if key.__class__ not in _KEYS:
        raise ValueError(f"invalid qualifier type: types.{key.__class__.__name__.capitalize()}")
    try:
        return entries[key]
    except KeyError:
        raise KeyError(key) from None


def _optional_item(items: list[Any], index: Any) -> CelOptional:
    at = int(index)
    return CelOptional(items[at], present=True) if 0 <= at < len(items) else CelOptional()


def _optional_value(entries: dict[Any, Any], key: Any) -> CelOptional:
    return CelOptional(entries[key], present=True) if key in entries else CelOptional()


def _through(call: Binary) -> Binary:
    """The same on an optional."""

    def through(optional: CelOptional, key: Any) -> CelOptional:
        found = call(optional.value, key) if optional.present else CelOptional()
        assert isinstance(found, CelOptional)
        return found

    return through


def _optional_any(value: Any, key: Any) -> CelOptional:
    if isinstance(value, dict):
        return _optional_value(value, key)
    if isinstance(value, list):
        return _optional_item(value, key)
    raise ValueError(NO_SUCH_OVERLOAD)


def _in_list(value: Any, items: list[Any]) -> bool:
    return any(equal(value, item) for item in items)


def _in_map(value: Any, entries: dict[Any, Any]) -> bool:
    return value.__class__ in _KEYS and value in entries


_KEYS: Final = frozenset({int, Uint, str, bool, float})


def _smaller(arguments: Sequence[Any], _: Any) -> int:
    return ceil(min(size(arguments[0]), size(arguments[1])) * STRING_FACTOR)


def _both(arguments: Sequence[Any], _: Any) -> int:
    return ceil((size(arguments[0]) + size(arguments[1])) * STRING_FACTOR)


def _second(arguments: Sequence[Any], _: Any) -> int:
    return size(arguments[1])


def add(one: Any, other: Any) -> Any:
    """The sum of two values of one type."""
    if one.__class__ is not other.__class__ or one.__class__ not in _SUMS:
        raise ValueError(NO_SUCH_OVERLOAD)
    return _SUMS[one.__class__](one, other)


_SUMS: Final[dict[type, Binary]] = {
    int: _int(operator.add),
    Uint: _uint(operator.add),
    float: operator.add,
    Duration: _duration(operator.add),
}
_NUMBERS: Final = ("int", "uint", "double")
_ORDERED: Final = (
    *((one, other) for one in _NUMBERS for other in _NUMBERS),
    *((kind, kind) for kind in ("bool", "timestamp", "duration")),
)


def _arithmetic(name: str, do: Binary) -> list[Function]:
    return [
        Function(name, ("int", "int"), "int", _int(do)),
        Function(name, ("uint", "uint"), "uint", _uint(do)),
    ]


def _comparison(name: str, do: Binary) -> list[Function]:
    return [
        *(Function(name, pair, "bool", _order(do)) for pair in _ORDERED),
        *(Function(name, (kind, kind), "bool", do, cost=_smaller) for kind in ("string", "bytes")),
    ]


_LIST: Final = "list<A>"
_MAP: Final = "map<A,B>"

OPERATORS: Final = (
    *_arithmetic("_+_", operator.add),
    *_arithmetic("_-_", operator.sub),
    *_arithmetic("_*_", operator.mul),
    *_arithmetic("_/_", _divide),
    *_arithmetic("_%_", _modulo),
    Function("_+_", ("double", "double"), "double", operator.add),
    Function("_-_", ("double", "double"), "double", operator.sub),
    Function("_*_", ("double", "double"), "double", operator.mul),
    Function("_/_", ("double", "double"), "double", _divide_doubles),
    Function("-_", ("int",), "int", _negate),
    Function("-_", ("double",), "double", operator.neg),
    Function("_+_", ("string", "string"), "string", operator.add, cost=_both),
    Function("_+_", ("bytes", "bytes"), "bytes", operator.add, cost=_both),
    Function("_+_", (_LIST, _LIST), _LIST, _concatenate),
    Function("_+_", ("duration", "duration"), "duration", _duration(operator.add)),
    Function("_+_", ("duration", "timestamp"), "timestamp", _timestamp(operator.add)),
    Function("_+_", ("timestamp", "duration"), "timestamp", _timestamp(operator.add)),
    Function("_-_", ("duration", "duration"), "duration", _duration(operator.sub)),
    Function("_-_", ("timestamp", "duration"), "timestamp", _timestamp(operator.sub)),
    Function("_-_", ("timestamp", "timestamp"), "duration", _duration(operator.sub)),
    *_comparison("_<_", operator.lt),
    *_comparison("_<=_", operator.le),
    *_comparison("_>_", operator.gt),
    *_comparison("_>=_", operator.ge),
    # The language has these by themselves; they are here for their types.
    Function("_==_", ("A", "A"), "bool", equal, cost=_smaller),
    Function("_!=_", ("A", "A"), "bool", lambda one, other: not equal(one, other), cost=_smaller),
    Function("!_", ("bool",), "bool", operator.not_),
    Function("_&&_", ("bool", "bool"), "bool", lambda one, other: one and other),
    Function("_||_", ("bool", "bool"), "bool", lambda one, other: one or other),
    Function("_?_:_", ("bool", "A", "A"), "A", lambda test, one, other: one if test else other),
    Function("@not_strictly_false", ("bool",), "bool", lambda value: value is not False),
    Function("_[_]", (_LIST, "int"), "A", _item),
    Function("_[_]", (_MAP, "A"), "B", _value),
    Function("_[_]", ("optional<list<A>>", "int"), "optional<A>", _through(_optional_any)),
    Function("_[_]", ("optional<map<A,B>>", "A"), "optional<B>", _through(_optional_any)),
    Function("_[?_]", (_LIST, "int"), "optional<A>", _optional_item),
    Function("_[?_]", (_MAP, "A"), "optional<B>", _optional_value),
    Function("_[?_]", ("optional<list<A>>", "int"), "optional<A>", _through(_optional_any)),
    Function("_[?_]", ("optional<map<A,B>>", "A"), "optional<B>", _through(_optional_any)),
    Function("@in", ("A", _LIST), "bool", _in_list, cost=_second),
    Function("@in", ("A", _MAP), "bool", _in_map),
    *(
        Function("size", (kind,), "int", len, member)
        for kind in ("string", "bytes", _LIST, _MAP)
        for member in (False, True)
    ),
    Function("startsWith", ("string", "string"), "bool", str.startswith, member=True, cost=read_argument()),
    Function("endsWith", ("string", "string"), "bool", str.endswith, member=True, cost=read_argument()),
)
