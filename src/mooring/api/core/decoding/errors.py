"""Says what the API server says about JSON that does not fit a type.

It decodes into Go structs and passes on what its decoder says, so the sentence names Go's types: users search for it.
The decoder goes on after a plain mismatch and reports the first one, but stops where a type reads itself (times,
quantities), and then reports that.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from mooring.api.core.decoding.decoder import decode
from mooring.api.core.shapes import fields_of
from mooring.kube.errors import QuantityError, go_quote
from mooring.kube.quantities import parse_quantity

__all__ = ["decoding_error", "restoring_error"]

_GO: Final = {"str": "string", "bool": "bool", "int": "int32", "long": "int64", "double": "float64", "bytes": "[]uint8"}
_OWN_READERS: Final = frozenset({"quantity", "amount", "port", "time", "microtime"})
_SCHEMA: Final = "apiextensions.JSONSchemaProps"
_RFC3339: Final = "2006-01-02T15:04:05Z07:00"
_MICRO: Final = "2006-01-02T15:04:05.000000Z07:00"
# How a moment is read, piece by piece: the pattern, and the layout's name for it.
_PIECES: Final = (
    *((r"\d{4}", "2006"), ("-", "-"), (r"\d{2}", "01"), ("-", "-"), (r"\d{2}", "02"), ("T", "T")),
    *((r"\d{2}", "15"), (":", ":"), (r"\d{2}", "04"), (":", ":"), (r"\d{2}", "05")),
)
# Which numbers a piece may be. A day is compared with its month when everything is read.
_SPANS: Final = {
    "01": ("month", range(1, 13)),
    "15": ("hour", range(24)),
    "04": ("minute", range(60)),
    "05": ("second", range(60)),
}


class _Context(NamedTuple):
    """Where the decoder is: the struct it fills, and the names of the fields on the way there."""

    struct: str
    path: tuple[str, ...]


class _Stop(Exception):
    """A type that reads itself has refused; nothing after it is read."""


def decoding_error(kind: str, value: Any) -> str:
    """The sentence about an object that is not of the kind; empty when it is."""
    try:
        found = list(_walk(kind, "", value, _Context("", ())))
    except _Stop as stop:
        return str(stop)
    return found[0] if found else ""


def _walk(kind: str, go_type: str, value: Any, at: _Context) -> Iterator[str]:
    if value is None or kind in ("any", "raw"):
        return
    match kind[0]:
        case "*":
            yield from _walk(kind[1:], go_type, value, at)
        case "[":
            if not isinstance(value, list):
                yield _mismatch(value, _go_name(kind, go_type), at)
                return
            for item in value:
                yield from _walk(kind[1:-1], go_type, item, at)
        case "{":
            if not isinstance(value, dict):
                yield _mismatch(value, _go_name(kind, go_type), at)
                return
            for item in value.values():
                yield from _walk(kind[1:-1], go_type, item, at)
        case _ if kind in _OWN_READERS:
            if why := _refusal(kind, value, at):
                raise _Stop(why)
        case _ if kind in _GO:
            yield from _simple(kind, go_type, value, at)
        case _ if kind.startswith("schema-or-"):
            # These read themselves, too.
            for why in _schema_errors(kind, value, at):
                raise _Stop(why)
        case _:
            yield from _struct(kind, value, at)


def _schema_errors(kind: str, value: Any, at: _Context) -> Iterator[str]:
    if kind == "schema-or-bool" and not isinstance(value, dict):
        if not isinstance(value, bool):
            yield "boolean or JSON schema expected"
        return
    if isinstance(value, list):
        inner = {"schema-or-list": f"[{_SCHEMA}]", "schema-or-names": "[str]"}.get(kind, _SCHEMA)
        yield from _walk(inner, "", value, at)
    else:
        yield from _walk(_SCHEMA, "", value, at)


def _struct(kind: str, value: Any, at: _Context) -> Iterator[str]:
    if not isinstance(value, dict):
        yield _mismatch(value, _go_name(kind, ""), at)
        return
    fields = {field.name: field for field in fields_of(kind)}
    name = kind.rpartition(".")[2]
    for key, item in value.items():
        field = fields.get(key)
        if field is not None:
            inside = (field.inside,) if field.inside else ()
            yield from _walk(field.type, field.go_type, item, _Context(name, (*at.path, *inside, key)))


def _simple(kind: str, go_type: str, value: Any, at: _Context) -> Iterator[str]:
    wanted = go_type or _GO[kind]
    if kind == "bytes" and isinstance(value, str):
        if decode("Secret", {"data": {"": value}}) is None:
            yield f"illegal base64 data at input byte {_illegal_byte(value)}"
        return
    fits = {
        "str": value.__class__ is str,
        "bool": value.__class__ is bool,
        "int": value.__class__ is int and -(2**31) <= value < 2**31,
        "long": value.__class__ is int and -(2**63) <= value < 2**63,
        "double": value.__class__ is int or value.__class__ is float,
    }
    if fits.get(kind) or (kind in ("int", "long") and value.__class__ is float and value.is_integer()):
        return
    number = kind in ("int", "long") and value.__class__ in (int, float)
    yield _mismatch(value, wanted, at, literal=str(value) if number else "")


def _illegal_byte(text: str) -> int:
    found = re.match("[A-Za-z0-9+/\r\n]*", text)
    return 0 if found is None else min(found.end(), len(text)) // 4 * 4 if found.end() == len(text) else found.end()


def _refusal(kind: str, value: Any, at: _Context) -> str:
    if kind == "port":
        if isinstance(value, str) or (value.__class__ is int and -(2**31) <= value < 2**31):
            return ""
        return _mismatch(value, "int32", at, literal=str(value) if value.__class__ in (int, float) else "")
    if kind in ("quantity", "amount"):
        try:
            parse_quantity(value)
        except QuantityError as error:
            return error.message
        return ""
    if not isinstance(value, str):
        return _mismatch(value, "string", at)
    return _time_refusal(value, _MICRO if kind == "microtime" else _RFC3339)


def _time_refusal(text: str, layout: str) -> str:
    head = f"parsing time {go_quote(text)}"
    rest = text
    for pattern, name in _PIECES:
        found = re.match(pattern, rest, re.ASCII)
        if found is None:
            return f"{head} as {go_quote(layout)}: cannot parse {go_quote(rest)} as {go_quote(name)}"
        if span := _SPANS.get(name):
            unit, numbers = span
            if int(found[0]) not in numbers:
                return f"{head}: {unit} out of range"
        rest = rest[found.end() :]
    fraction = re.match(r"[.,]\d{6}" if layout == _MICRO else r"([.,]\d+)?", rest, re.ASCII)
    if fraction is None:
        return f"{head} as {go_quote(layout)}: cannot parse {go_quote(rest)} as {go_quote('.000000')}"
    rest = rest[fraction.end() :]
    zone = re.match(r"Z|[+-](\d{2}):(\d{2})", rest, re.ASCII)
    if zone is None:
        return f"{head} as {go_quote(layout)}: cannot parse {go_quote(rest)} as {go_quote('Z07:00')}"
    for unit, number, high in (("minute", zone[2], 60), ("hour", zone[1], 24)):
        if number and int(number) > high:
            return f"{head}: time zone offset {unit} out of range"
    if rest[zone.end() :]:
        return f"{head}: extra text: {go_quote(rest[zone.end() :])}"
    if decode("ObjectMeta", {"creationTimestamp": text}) is None:
        return f"{head}: day out of range"
    return ""


def _mismatch(value: Any, go_type: str, at: _Context, literal: str = "") -> str:
    kinds = {str: "string", bool: "bool", list: "array", dict: "object"}
    found = kinds.get(value.__class__, f"number {literal}" if literal else "number")
    where = f"struct field {at.struct}.{'.'.join(at.path)} of type" if at.struct else "value of type"
    return f"json: cannot unmarshal {found} into Go {where} {go_type}"


def _go_name(kind: str, go_type: str) -> str:
    if kind[0] == "[":
        return f"[]{_go_name(kind[1:-1], go_type)}"
    if kind[0] == "{":
        if go_type.startswith(("map[", "v1.ResourceList", "v1.JSONSchema")):
            return go_type
        return f"map[string]{_go_name(kind[1:-1], go_type)}"
    if kind[0] == "*":
        return f"*{_go_name(kind[1:], go_type)}"
    if kind in _GO:
        return go_type or _GO[kind]
    if kind == "any":
        return "v1.JSON"
    group, _, name = kind.rpartition(".")
    return f"{'v2' if group == 'autoscaling' else 'v1'}.{name}"


def restoring_error(kind: str, value: Any) -> str:
    """The sentence about the same when it comes out of a strategic merge, which the API reads in another way."""
    if value is None or kind in ("any", "raw"):
        return ""
    match kind[0]:
        case "*":
            return restoring_error(kind[1:], value)
        case "[":
            if not isinstance(value, list):
                return f"cannot restore slice from {_go_kind(value)}"
            return _first(restoring_error(kind[1:-1], item) for item in value)
        case "{":
            if not isinstance(value, dict):
                return f"cannot restore map from {_go_kind(value)}"
            return _first(restoring_error(kind[1:-1], item) for item in value.values())
        case _ if kind in _OWN_READERS:
            return _refusal(kind, value, _Context("", ()))
        case _ if kind in _GO:
            return _restoring_simple(kind, value)
        case _ if kind.startswith("schema-or-"):
            return _first(_schema_errors(kind, value, _Context("", ())))
    if not isinstance(value, dict):
        return f"cannot restore struct from: {_go_kind(value)}"
    return _first(restoring_error(field.type, value[field.name]) for field in fields_of(kind) if field.name in value)


def _first(texts: Iterator[str]) -> str:
    return next(filter(None, texts), "")


def _restoring_simple(kind: str, value: Any) -> str:
    number = value.__class__ is int or value.__class__ is float
    if kind == "bytes":
        if value.__class__ is not str:
            return f"cannot restore slice from {_go_kind(value)}"
        why = _first(_simple(kind, "", value, _Context("", ())))
        return f"error decoding from json: {why}" if why else ""
    fits = {"str": value.__class__ is str, "bool": value.__class__ is bool}
    if fits.get(kind, number and (kind == "double" or float(value).is_integer())):
        return ""
    # Whole numbers and texts can be converted into each other in Go, and then must not be.
    if (kind == "str" and value.__class__ is int) or (kind in ("int", "long") and value.__class__ is float):
        return f"cannot convert {_go_kind(value)} to {_GO[kind]}"
    return f"unrecognized type: {_GO[kind]}"


def _go_kind(value: Any) -> str:
    kinds = {str: "string", bool: "bool", list: "slice", dict: "map", int: "int64", float: "float64"}
    return kinds.get(value.__class__, "")
