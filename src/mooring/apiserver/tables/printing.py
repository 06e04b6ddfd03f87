"""What the tables of the built-in kinds are made of: columns, and functions that make the cells of one object.

A module per API group registers its kinds here. Objects come from the store, where types are right but anything
optional may be missing or null, so cells are read with `part` and `items`.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from mooring.apiserver.tables.durations import since
from mooring.kube.errors import SelectorError
from mooring.kube.objects import Object
from mooring.kube.quantities import canonical
from mooring.kube.selectors import selector_from_dict

__all__ = [
    "NONE",
    "PRINTERS",
    "Cells",
    "Object",
    "Printer",
    "TableColumn",
    "age",
    "columns",
    "containers",
    "items",
    "joined_labels",
    "joined_selector",
    "limited",
    "name",
    "part",
    "printer",
    "quantity",
]

Cells = list[Any]
Print = Callable[[Object, datetime], Cells]

NONE: Final = "<none>"
_NOTHING: Final[Object] = {}


class TableColumn(NamedTuple):
    """One column; priority 0 is always shown, others with `-o wide`."""

    name: str
    type: str = "string"
    format: str = ""
    description: str = ""
    priority: int = 0

    def definition(self) -> Object:
        return self._asdict()


class Printer(NamedTuple):
    """The columns of a kind, and its row."""

    columns: tuple[TableColumn, ...]
    cells: Print
    # What the row says about the object beside its cells; clients use it to leave out what has completed.
    conditions: Callable[[Object], list[Object]] | None = None


PRINTERS: Final[dict[tuple[str, str], Printer]] = {}


def columns(text: str) -> tuple[TableColumn, ...]:
    """Columns from a line: `Name, Desired:integer, Selector+`, where a plus marks those for `-o wide` only.

    `Attacher:name` is text that names an object.
    """
    found = []
    for item in text.split(","):
        label, _, kind = item.strip().removesuffix("+").partition(":")
        form = "name" if label == "Name" or kind == "name" else ""
        found.append(
            TableColumn(label, "string" if form else kind or "string", form, "", 1 if item.endswith("+") else 0)
        )
    return tuple(found)


def printer(api_version: str, kind: str, text: str) -> Callable[[Print], Print]:
    """Registers a function as the one that makes the cells of a kind."""

    def register(function: Print) -> Print:
        PRINTERS[api_version, kind] = Printer(columns(text), function)
        return function

    return register


# Reading


def part(obj: Mapping[str, Any], *path: str) -> Any:
    """The object at a path of fields, empty where there is none."""
    found: Any = obj
    for field in path:
        found = found.get(field)
        if not found:
            return _NOTHING
    return found


def items(obj: Mapping[str, Any], field: str) -> list[Any]:
    return obj.get(field) or []


def name(obj: Object) -> str:
    return str(part(obj, "metadata").get("name") or "")


# Cells that many kinds have


def age(obj: Object, now: datetime) -> str:
    return since(part(obj, "metadata").get("creationTimestamp"), now)


def containers(pod_spec: Mapping[str, Any]) -> Cells:
    """The names of the containers, and their images."""
    found = items(pod_spec, "containers")
    return [",".join(each.get("name") or "" for each in found), ",".join(each.get("image") or "" for each in found)]


def joined_labels(labels: Mapping[str, str]) -> str:
    return ",".join(f"{key}={labels[key]}" for key in sorted(labels)) or NONE


def joined_selector(selector: Mapping[str, Any] | None) -> str:
    try:
        return str(selector_from_dict(selector)) or NONE
    except SelectorError:
        return "<error>"


def quantity(value: Any) -> str:
    return canonical(value) if value else "0"


def limited(values: Iterable[str], most: int, empty: str) -> str:
    """The first few values, and how many more there are."""
    found = list(values)
    shown = ",".join(found[:most])
    if len(found) > most:
        return f"{shown} + {len(found) - most} more..."
    return shown or empty
