"""Values that may be missing: `object.?spec.orValue({})`."""

from __future__ import annotations

from typing import Any, Final

from mooring.kube.cel.functions.model import Function
from mooring.kube.cel.functions.times import MOMENTS
from mooring.kube.cel.values import CelOptional, Timestamp


def _of(value: Any) -> CelOptional:
    return CelOptional(value, present=True)


def _of_non_zero(value: Any) -> CelOptional:
    if isinstance(value, Timestamp):
        empty = int(value) == MOMENTS.start
    else:
        empty = value is None or (not isinstance(value, CelOptional) and not value)
    return CelOptional() if empty else _of(value)


def _value(optional: CelOptional) -> Any:
    if not optional.present:
        raise ValueError("optional.none() dereference")
    return optional.value


def _unwrap(optionals: list[Any]) -> list[Any]:
    return [each.value for each in optionals if each.present]


def _insert(entries: dict[Any, Any], key: Any, value: Any) -> dict[Any, Any]:
    if key in entries:
        shown = str(key).lower() if key.__class__ is bool else key
        raise ValueError(f"insert failed: key {shown} already exists")
    # The accumulator of a loop, which nothing else holds.
    entries[key] = value
    return entries


def _insert_all(entries: dict[Any, Any], others: dict[Any, Any]) -> dict[Any, Any]:
    for key, value in others.items():
        _insert(entries, key, value)
    return entries


OPTIONALS: Final = (
    Function("optional.of", ("A",), "optional<A>", _of),
    Function("optional.ofNonZeroValue", ("A",), "optional<A>", _of_non_zero),
    Function("optional.none", (), "optional<A>", CelOptional),
    Function("value", ("optional<A>",), "A", _value, member=True),
    Function("hasValue", ("optional<A>",), "bool", lambda optional: optional.present, member=True),
    Function("or", ("optional<A>", "optional<A>"), "optional<A>", lambda a, b: a if a.present else b, member=True),
    Function("orValue", ("optional<A>", "A"), "A", lambda a, b: a.value if a.present else b, member=True),
    Function("optional.unwrap", ("list<optional<A>>",), "list<A>", _unwrap),
    Function("unwrapOpt", ("list<optional<A>>",), "list<A>", _unwrap, member=True),
    Function("cel.@mapInsert", ("map<A,B>", "A", "B"), "map<A,B>", _insert),
    Function("cel.@mapInsert", ("map<A,B>", "map<A,B>"), "map<A,B>", _insert_all),
)
