"""Tables of custom kinds: the columns that the CustomResourceDefinition declares, or name and age."""

import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from mooring.apiserver.tables.durations import since
from mooring.apiserver.tables.jsonpath import Path, PathError, compile_path, find
from mooring.apiserver.tables.printing import Cells, Printer, TableColumn, name
from mooring.kube.objects import Object
from mooring.registry import Registry, Resource

__all__ = ["custom_printer", "printer_columns"]

_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
_NAME: Final = TableColumn("Name", "string", "name")
_AGE: Final[tuple[Mapping[str, Any], ...]] = (
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
)
_ESCAPED: Final = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})
# Beyond these, numbers are written with an exponent.
_LARGE: Final = 1e6
_SMALL: Final = 1e-4


def printer_columns(registry: Registry, resource: Resource) -> list[Object] | None:
    """The additionalPrinterColumns that a custom kind's definition has for a version; None for built-in kinds."""
    if not resource.custom:
        return None
    definition = registry.find("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", resource.store)
    versions = definition["spec"]["versions"] if definition is not None else ()
    for version in versions:
        if version["name"] == resource.version:
            return version.get("additionalPrinterColumns") or []
    return []


def custom_printer(declared: Iterable[Mapping[str, Any]]) -> Printer:
    """The printer for additionalPrinterColumns."""
    columns, paths = [_NAME], []
    for each in list(declared) or _AGE:
        text = each["jsonPath"]
        try:
            paths.append(compile_path(text))
        except PathError:
            # The real server shows the columns up to the first that it cannot read.
            break
        description = each.get("description") or f"Custom resource definition column (in JSONPath format): {text}"
        columns.append(
            TableColumn(each["name"], each["type"], each.get("format") or "", description, each.get("priority") or 0)
        )
    kinds = [column.type for column in columns[1:]]

    def cells(obj: Object, now: datetime) -> Cells:
        found = (_cell(path, kind, obj, now) for path, kind in zip(paths, kinds, strict=True))
        return [name(obj), *found]

    return Printer(tuple(columns), cells)


def _cell(path: Path, kind: str, obj: Object, now: datetime) -> Any:
    try:
        found = find(path, obj)
    except PathError:
        return None
    if not found:
        return None
    value = found[0]
    if kind == "string":
        return _text(value)
    if kind == "boolean":
        return value if isinstance(value, bool) else None
    if kind == "date":
        return _date(value, now) if isinstance(value, str) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if kind == "integer" or float(value).is_integer() else value


def _date(text: str, now: datetime) -> str:
    if text in ("", "null"):
        return since(None, now)
    try:
        return since(text, now) if _MOMENT.fullmatch(text) else "<invalid>"
    except ValueError:
        return "<invalid>"


def _text(value: Any) -> str:
    if isinstance(value, (dict, list)):
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return text.translate(_ESCAPED)
    if value is None:
        return "<no value>"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _number(value) if isinstance(value, float) else str(value)


def _number(value: float) -> str:
    """Six digits before the point, then an exponent."""
    if value == 0 or _SMALL <= abs(value) < _LARGE:
        return repr(value).removesuffix(".0")
    digits, _, exponent = f"{Decimal(repr(value)):e}".partition("e")
    whole = digits.rstrip("0").removesuffix(".") if "." in digits else digits
    return f"{whole}e{exponent[0]}{exponent[1:]:0>2}"
