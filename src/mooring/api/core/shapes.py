"""The fields of every built-in kind and of everything in it, with their types, as the API has them.

The table in `data/` has one line per type; a line is parsed when something first needs it. Types of the core and meta
groups have bare names, others that of their group before them: `apps.Deployment`.

A field is `name type`; `name!` is written even when it has its zero value, any other field only when it is set; `name?`
marks a time that is left out when it is not set, as most are written as null. Types: `str`, `bool`, `int` (32 bits),
`long` (64 bits), `double`, `quantity`, `amount` (a quantity that keeps its spelling), `port` (a number or a name),
`time`, `microtime`, `bytes`, `raw`, `any`, a type of the table, `*T` (optional: its zero value counts as set), `[T]` a
list, `{T}` a map of strings to T. What follows an `@` is the type's name in errors, where it differs; what follows a
`^` is taken over from a type of that name.
"""

from functools import cache
from pkgutil import get_data
from typing import NamedTuple

__all__ = ["Field", "fields_of", "is_shape", "shape_name", "status_shape"]


class Field(NamedTuple):
    """One field. `go_type` names the innermost type in errors, where it has a name; `inside` says whence it comes."""

    name: str
    type: str
    always: bool
    omits_zero: bool
    go_type: str
    inside: str


@cache
def _lines() -> dict[str, str]:
    data = get_data("mooring.api.core", "data/shapes.txt")
    assert data is not None, "The package has lost its file shapes.txt."
    pairs = (line.partition(": ") for line in data.decode().splitlines() if not line.startswith("#"))
    return {name.removesuffix(":"): fields for name, _, fields in pairs}


def is_shape(name: str) -> bool:
    return name in _lines()


def shape_name(group: str, version: str, kind: str) -> str:
    """The name in the table of a kind that is served."""
    if not group:
        return kind
    first = group.partition(".")[0]
    if group == "autoscaling" and version == "v1":
        first = "autoscaling1"
    return f"{first}.{kind}"


@cache
def status_shape(name: str) -> str:
    """The type of a kind's status."""
    return next(field.type for field in fields_of(name) if field.name == "status")


@cache
def fields_of(name: str) -> tuple[Field, ...]:
    """The fields of a type; KeyError when there is none of that name."""
    found = []
    inside = ""
    for item in filter(None, _lines()[name].split("; ")):
        if item.startswith("^"):
            inside = item[1:]
            continue
        field, _, kind = item.partition(" ")
        kind, _, go_type = kind.partition("@")
        found.append(Field(field.rstrip("!?"), kind, field.endswith("!"), field.endswith("?"), go_type, inside))
    return tuple(found)
