"""How large values of a schema can be: what a rule could cost is estimated from it.

A value that nothing else bounds is bounded by the largest request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from mooring.kube.cel.estimates.estimate import Path
from mooring.kube.cel.estimates.ranges import CostRange
from mooring.kube.cel.rules.escaping import escape
from mooring.kube.cel.rules.types import METADATA_FIELDS
from mooring.kube.schemas.model import ABSENT, Schema

__all__ = ["Extent", "children_at_most", "extent_of"]

LARGEST_REQUEST: Final = 3 * 1024 * 1024
_LONGEST_TEXT: Final = LARGEST_REQUEST - 2
# The bytes of a character at most.
_WIDEST: Final = 4
# Formats of texts: the bytes that one takes in JSON at least, and its characters at most.
_FORMATS: Final = {"duration": (3, 32), "date": (12, 12), "date-time": (21, 32)}
_NO_FIELDS: Final[Mapping[str, Extent]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Extent:
    """`most` counts characters, items or entries, 0 for what has none; `least_bytes` is how short its JSON can be."""

    least_bytes: int
    most: int = 0
    items: Extent | None = None
    fields: Mapping[str, Extent] = field(default_factory=lambda: _NO_FIELDS)

    @property
    def occurrences(self) -> int:
        """How often such a value fits into a request."""
        return LARGEST_REQUEST // (self.least_bytes + 1)

    def size_at(self, path: Path) -> CostRange | None:
        """How large the part at a path is, whose first name is that of the whole."""
        found: Extent | None = self
        for step in path[1:]:
            if found is None:
                return None
            if step in ("@items", "@values"):
                found = found.items
            elif step == "@keys":
                found = _KEY if found.items is not None else None
            else:
                found = found.fields.get(step)
        return None if found is None else CostRange(0, found.most)


_KEY: Final = Extent(2)
_TEXT: Final = Extent(2, _LONGEST_TEXT)


def extent_of(schema: Schema, *, resource: bool) -> Extent | None:
    """None for what expressions do not see. `resource` is true for whole objects of the API."""
    if schema.int_or_string:
        return Extent(1, _LONGEST_TEXT if schema.max_length is None else schema.max_length * _WIDEST)
    if schema.type == "array":
        return None if schema.items is None else _list(schema, schema.items)
    if schema.type == "object":
        if schema.additional_properties is not None and not resource:
            return _map(schema, schema.additional_properties)
        return _object(schema, resource=resource)
    if schema.type == "string":
        return _string(schema)
    return {"boolean": Extent(4), "number": Extent(1), "integer": Extent(1)}.get(schema.type)


def children_at_most(schema: Schema) -> int | None:
    """How often a value has each of its children, None where that has no bound."""
    if schema.type == "array":
        return schema.max_items
    if schema.type == "object" and schema.additional_properties is not None:
        return schema.max_properties
    return 1


def _list(schema: Schema, items: Schema) -> Extent | None:
    inner = extent_of(items, resource=items.embedded_resource)
    if inner is None:
        return None
    most = (LARGEST_REQUEST - 2) // (inner.least_bytes + 1) if schema.max_items is None else schema.max_items
    return Extent(2, most, inner)


def _map(schema: Schema, values: Schema) -> Extent | None:
    inner = extent_of(values, resource=values.embedded_resource)
    if inner is None:
        return None
    # With each value come its key, quotes, a colon and a comma.
    most = (LARGEST_REQUEST - 2) // (inner.least_bytes + 6) if schema.max_properties is None else schema.max_properties
    return Extent(2, most, inner)


def _object(schema: Schema, *, resource: bool) -> Extent:
    fields, least = _identity(schema) if resource else {}, 2
    for name, child in schema.properties.items():
        inner = fields.get(name) or extent_of(child, resource=child.embedded_resource)
        if inner is None:
            continue
        if (written := escape(name)) is not None:
            fields[written] = inner
        if name in schema.required and child.default is ABSENT:
            least += len(name.encode()) + inner.least_bytes + 4
    return Extent(least, fields=fields)


def _identity(schema: Schema) -> dict[str, Extent]:
    """What every object has. A definition's own bounds count only if it has them for all names of an object."""
    names = {name: schema.properties["metadata"].properties[name] for name in METADATA_FIELDS}
    texts = {name: schema.properties[name] for name in ("apiVersion", "kind")}
    own = not any(each.builtin for each in names.values())
    extents = {name: _string(each) if own else _TEXT for name, each in (names | texts).items()}
    metadata = Extent(2, fields={name: extents[name] for name in names})
    return {"metadata": metadata, **{name: extents[name] for name in texts}}


def _string(schema: Schema) -> Extent:
    if schema.format in _FORMATS:
        return Extent(*_FORMATS[schema.format])
    if schema.max_length is not None:
        return Extent(2, schema.max_length if schema.format == "byte" else schema.max_length * _WIDEST)
    if schema.enum and schema.format != "byte":
        return Extent(2, max(len(value.encode()) if isinstance(value, str) else 0 for value in schema.enum))
    return _TEXT
