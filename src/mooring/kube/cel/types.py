"""The types of expressions: how they are written, and when a value of one may stand where another is asked for.

A type is a value: a kind, parameters, and for objects their fields. Type parameters (`A` in `list<A>`) are bound while
a call is checked; the bindings live in a `TypeBindings` of the checker, never in the type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

__all__ = [
    "BOOL",
    "BYTES",
    "DOUBLE",
    "DURATION",
    "DYN",
    "ERROR",
    "INT",
    "NULL",
    "STRING",
    "TIMESTAMP",
    "UINT",
    "CelType",
    "TypeBindings",
    "list_of",
    "map_of",
    "object_type",
    "optional_of",
    "parse_type",
    "type_of",
]


@dataclass(frozen=True, slots=True)
class CelType:
    """`kind` is one of the scalar names, or list, map, type, opaque, object or parameter.

    `name` is the name of an opaque type, an object or a parameter. Two objects are the same type if their names are.
    """

    kind: str
    name: str = ""
    parameters: tuple[CelType, ...] = ()
    fields: Mapping[str, CelType] | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        inner = ", ".join(map(str, self.parameters))
        name = self.name or _WRITTEN.get(self.kind, self.kind)
        return f"{name}({inner})" if inner else name

    @property
    def is_optional(self) -> bool:
        return self.kind == "opaque" and self.name == "optional_type"

    @property
    def is_open(self) -> bool:
        """Whether nothing is known of it, or nothing will be asked of it any more."""
        return self.kind in ("dyn", "error")


_WRITTEN: Final = {"error": "!error!"}

BOOL: Final = CelType("bool")
BYTES: Final = CelType("bytes")
DOUBLE: Final = CelType("double")
DURATION: Final = CelType("duration")
DYN: Final = CelType("dyn")
ERROR: Final = CelType("error")
INT: Final = CelType("int")
NULL: Final = CelType("null")
STRING: Final = CelType("string")
TIMESTAMP: Final = CelType("timestamp")
UINT: Final = CelType("uint")

_SCALARS: Final = {each.kind: each for each in (BOOL, BYTES, DOUBLE, DURATION, DYN, INT, NULL, STRING, TIMESTAMP, UINT)}
# Types for which null may stand, from the time before wrappers.
_NULLABLE: Final = frozenset({"opaque", "object", "duration", "timestamp"})


def list_of(element: CelType) -> CelType:
    return CelType("list", "", (element,))


def map_of(key: CelType, value: CelType) -> CelType:
    return CelType("map", "", (key, value))


def optional_of(inner: CelType) -> CelType:
    return CelType("opaque", "optional_type", (inner,))


def type_of(inner: CelType) -> CelType:
    return CelType("type", "", (inner,))


def object_type(name: str, fields: Mapping[str, CelType]) -> CelType:
    return CelType("object", name, (), fields)


@cache
def parse_type(text: str) -> CelType:
    """A type from its short form: `map<string,list<A>>`; a single capital is a parameter."""
    text = text.strip()
    if text in _SCALARS:
        return _SCALARS[text]
    if len(text) == 1 and text.isupper():
        return CelType("parameter", text)
    head, _, rest = text.partition("<")
    if not rest:
        return CelType("type") if text == "type" else CelType("opaque", text)
    inner = tuple(map(parse_type, _split(rest[:-1])))
    return CelType("opaque", "optional_type", inner) if head == "optional" else CelType(head, "", inner)


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for index, letter in enumerate(text):
        depth += (letter == "<") - (letter == ">")
        if letter == "," and not depth:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


class TypeBindings:
    """What type parameters stand for so far."""

    __slots__ = ("_bound", "_count")

    def __init__(self) -> None:
        self._bound: dict[CelType, CelType] = {}
        self._count = 0

    def fresh(self) -> CelType:
        """A parameter that nothing is known about."""
        made = CelType("parameter", f"_var{self._count}")
        self._count += 1
        return made

    def instance(self, types: Sequence[CelType]) -> list[CelType]:
        """The same types with fresh parameters in the place of their own."""
        fresh: dict[CelType, CelType] = {}

        def replace(found: CelType) -> CelType:
            if found.kind == "parameter":
                if found not in fresh:
                    fresh[found] = self.fresh()
                return fresh[found]
            return _with(found, tuple(map(replace, found.parameters)))

        return list(map(replace, types))

    def resolve(self, found: CelType, *, open_ends: bool = False) -> CelType:
        """The type with parameters replaced by what they stand for, or by dyn where they stand for nothing."""
        if found.kind == "parameter":
            bound = self._bound.get(found)
            if bound is not None:
                return self.resolve(bound, open_ends=open_ends)
            return DYN if open_ends else found
        if not found.parameters:
            return found
        return _with(found, tuple(self.resolve(each, open_ends=open_ends) for each in found.parameters))

    def assign(self, given: Sequence[CelType], wanted: Sequence[CelType]) -> bool:
        """Whether each given type may stand for the wanted one; binds parameters only if all may."""
        if len(given) != len(wanted):
            return False
        before = dict(self._bound)
        if all(map(self._fits, given, wanted)):
            return True
        self._bound = before
        return False

    def _fits(self, one: CelType, other: CelType) -> bool:
        if other.kind == "parameter":
            valid, known = self._substitutes(one, other)
            if valid or known:
                return valid
        if one.kind == "parameter":
            return self._substitutes(other, one)[0]
        if one.is_open or other.is_open:
            return True
        if "null" in (one.kind, other.kind):
            rest = other if one.kind == "null" else one
            return rest.kind in _NULLABLE or rest.kind == "null"
        if one.kind != other.kind:
            return False
        if one.kind == "type":
            return True
        if one.name != other.name or len(one.parameters) != len(other.parameters):
            return False
        return all(map(self._fits, one.parameters, other.parameters))

    def _substitutes(self, found: CelType, parameter: CelType) -> tuple[bool, bool]:
        """Whether a type may stand for a parameter, and whether the parameter stands for something already."""
        if found == parameter:
            return True, True
        bound = self._bound.get(parameter)
        if bound is not None:
            if bound == found:
                return True, True
            if not self._fits(found, bound):
                return False, True
            general = most_general(found, bound)
            if not self._refers(parameter, general):
                self._bound[parameter] = general
            return True, True
        if self._refers(parameter, found):
            return False, False
        self._bound[parameter] = found
        return True, False

    def _refers(self, parameter: CelType, within: CelType) -> bool:
        if parameter == within:
            return True
        if within.kind == "parameter":
            bound = self._bound.get(within)
            return bound is not None and self._refers(parameter, bound)
        return any(self._refers(parameter, each) for each in within.parameters)


def most_general(one: CelType, other: CelType) -> CelType:
    """The more general of two types that fit together."""
    return one if _less_specific(one, other) else other


def _less_specific(one: CelType, other: CelType) -> bool:
    if one.kind in ("dyn", "parameter"):
        return True
    if other.kind in ("dyn", "parameter") or one.kind != other.kind:
        return False
    if one.kind == "type":
        return True
    if one.name != other.name or len(one.parameters) != len(other.parameters):
        return False
    return all(map(_less_specific, one.parameters, other.parameters))


def _with(found: CelType, parameters: tuple[CelType, ...]) -> CelType:
    return found if parameters == found.parameters else CelType(found.kind, found.name, parameters, found.fields)
