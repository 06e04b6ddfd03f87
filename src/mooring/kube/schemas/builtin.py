"""The schemas of the built-in kinds, read from the table that this package carries.

The table has a line per type; a line is parsed when a kind first needs it, and a type is one object however many kinds
contain it. Reading all of it at once would cost every command time that most never get back.
"""

import json
from collections.abc import Iterator
from functools import cache
from pkgutil import get_data
from typing import Any, Final, NamedTuple

from mooring.kube.schemas.model import ABSENT, Schema

__all__ = ["builtin_kinds", "builtin_schema", "builtin_type", "empty_object", "object_meta"]

_SIMPLE: Final = {
    # Every built-in field takes null for "not set".
    "any": Schema(builtin=True, nullable=True, preserve_unknown_fields=True),
    "boolean": Schema(type="boolean", builtin=True, nullable=True),
    "byte": Schema(type="string", format="byte", builtin=True, nullable=True),
    "double": Schema(type="number", builtin=True, nullable=True),
    "fields": Schema(type="object", name="meta.v1.FieldsV1", preserve_unknown_fields=True, builtin=True, nullable=True),
    "int-or-string": Schema(int_or_string=True, builtin=True, nullable=True),
    "int32": Schema(type="integer", format="int32", builtin=True, nullable=True),
    "int64": Schema(type="integer", format="int64", builtin=True, nullable=True),
    "quantity": Schema(format="quantity", builtin=True, nullable=True),
    # Whatever it holds has one owner: the API cannot look inside.
    "raw": Schema(
        type="object",
        name="runtime.RawExtension",
        preserve_unknown_fields=True,
        atomic=True,
        builtin=True,
        nullable=True,
    ),
    "string": Schema(type="string", builtin=True, nullable=True),
    "time": Schema(type="string", format="date-time", builtin=True, nullable=True),
}


class _Line(NamedTuple):
    marks: tuple[str, ...]
    fields: str


class _Field(NamedTuple):
    name: str
    required: bool
    type: str
    marks: dict[str, str]
    default: Any


def _lines(name: str) -> list[str]:
    # Not importlib.resources: importing that takes longer than reading and parsing all of this.
    data = get_data("mooring.kube.schemas", f"data/{name}")
    assert data is not None, f"The package has lost its file {name}."
    return [line for line in data.decode().splitlines() if not line.startswith("#")]


@cache
def _table() -> dict[str, _Line]:
    table: dict[str, _Line] = {}
    for line in _lines("builtin.txt"):
        head, _, fields = line.partition(":")
        name, *marks = head.split()
        table[name] = _Line(tuple(marks), fields.strip())
    return table


@cache
def _empty() -> dict[tuple[str, str], str]:
    return {(version, kind): text for version, kind, text in (line.split(" ", 2) for line in _lines("empty.txt"))}


@cache
def _kinds() -> dict[tuple[str, str], str]:
    return {
        (mark[1:], name.rpartition(".")[2]): name
        for name, line in _table().items()
        for mark in line.marks
        if mark.startswith("@")
    }


def builtin_kinds() -> frozenset[tuple[str, str]]:
    """Every built-in kind as (apiVersion, kind), lists and options of requests included."""
    return frozenset(_kinds())


def builtin_schema(api_version: str, kind: str) -> Schema:
    """The schema of a built-in kind; KeyError when there is no such kind."""
    name = _kinds()[api_version, kind]
    found = _TYPES.get(name)
    return _resolve(name) if found is None else found


def builtin_type(name: str) -> Schema:
    """The schema of any built-in type, such as core.v1.PodSpec or quantity; KeyError when there is no such type."""
    return _type(name)


def empty_object(api_version: str, kind: str) -> dict[str, Any]:
    """What the API has of an object before anything is set: the parts of a built-in kind that are never absent.

    The creator of an object owns the fields that differ from this. A custom kind starts from nothing.
    """
    made: dict[str, Any] = json.loads(_empty().get((api_version, kind), "{}"))
    return made


def object_meta() -> Schema:
    """The schema of the metadata of every object."""
    return _type("meta.v1.ObjectMeta")


_TYPES: Final[dict[str, Schema]] = dict(_SIMPLE)


def _resolve(name: str) -> Schema:
    line = _table()[name]
    properties: dict[str, Schema] = {}
    fields = list(_fields(line.fields))
    schema = Schema(
        type="object",
        name=name,
        properties=properties,
        required=tuple(field.name for field in fields if field.required),
        builtin=True,
        nullable=True,
        atomic="atomic" in line.marks,
    )
    # Known before its fields are: some types contain themselves.
    _TYPES[name] = schema
    for field in fields:
        properties[field.name] = _field_schema(field)
    write = object.__setattr__
    write(schema, "defaulted", tuple(name for name, child in properties.items() if child.default is not ABSENT))
    write(schema, "fills", bool(schema.defaulted) or any(child.fills for child in properties.values()))
    return schema


def _fields(text: str) -> Iterator[_Field]:
    for item in filter(None, text.split("; ")):
        name, kind, *words = item.split(" ")
        marks = {}
        default: Any = ABSENT
        for word in words:
            if word.startswith("="):
                default = json.loads(word[1:])
            else:
                mark, _, argument = word.partition("(")
                marks[mark] = argument.removesuffix(")")
        yield _Field(name.removesuffix("!"), name.endswith("!"), kind, marks, default)


def _field_schema(field: _Field) -> Schema:
    marks = field.marks
    changes: dict[str, Any] = {}
    if "patch" in marks:
        changes["patch_strategy"] = tuple(marks["patch"].split(","))
        changes["patch_merge_key"] = marks.get("by", "")
    # A required field whose default is the zero value of its type has no default: it only cannot be left out.
    if field.default is not ABSENT and (field.default or not field.required) and field.default != "":
        changes["default"] = field.default
    if field.type.startswith("["):
        return _list_schema(field, changes)
    if field.type.startswith("{"):
        return _map_schema(field, changes)
    if "granular" in marks or "atomic" in marks:
        changes["atomic"] = "atomic" in marks
    schema = _type(field.type)
    return schema.with_attributes(**changes) if changes else schema


def _map_schema(field: _Field, changes: dict[str, Any]) -> Schema:
    values = _type(field.type[1:-1])
    atomic = "atomic" in field.marks
    return Schema(type="object", builtin=True, nullable=True, additional_properties=values, atomic=atomic, **changes)


def _list_schema(field: _Field, changes: dict[str, Any]) -> Schema:
    items = _type(field.type[1:-1])
    if "map" in field.marks:
        keys = tuple(field.marks["map"].split(","))
        changes |= {"list_type": "map", "list_map_keys": keys, "key_defaults": _key_defaults(items, keys)}
    elif "set" in field.marks:
        changes["list_type"] = "set"
    return Schema(type="array", builtin=True, nullable=True, items=items, fills=items.fills, **changes)


def _key_defaults(items: Schema, keys: tuple[str, ...]) -> tuple[Any, ...]:
    defaults = {field.name: field.default for field in _fields(_table()[items.name].fields)}
    return tuple(defaults.get(key, ABSENT) for key in keys)


def _type(name: str) -> Schema:
    if name.startswith("{"):
        return Schema(type="object", builtin=True, nullable=True, additional_properties=_type(name[1:-1]))
    if name.startswith("["):
        return Schema(type="array", builtin=True, nullable=True, items=_type(name[1:-1]))
    found = _TYPES.get(name)
    return _resolve(name) if found is None else found
