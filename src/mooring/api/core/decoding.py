"""Reads the JSON of an object as the API server would: typed, without unknown fields, in the form it would be stored.

Everything behind this (defaults, validation) may then rely on types, which keeps `isinstance` out of hundreds of rules
and makes any JSON whatsoever safe to validate. Two passes: a fast one that stops at the first mismatch, and, only then,
a slow one that finds every mismatch with its path.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from mooring.api.core.shapes import SHAPES
from mooring.kube.errors import FieldError, InvalidObjectError, QuantityError, go_quote, invalid, type_invalid
from mooring.kube.quantities import canonical, parse_quantity

__all__ = ["decode", "decode_or_refuse", "mismatches", "unknown_fields"]

Decoder = Callable[[Any], Any]

_OMIT: Final = object()
_TIME: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})",
    re.ASCII,
).fullmatch


class _MismatchError(Exception):
    """Some value has the wrong type; the slow pass says which."""


class _Field(NamedTuple):
    name: str
    type: str
    always: bool


@cache
def _table() -> dict[str, tuple[_Field, ...]]:
    table: dict[str, tuple[_Field, ...]] = {}
    for entry in SHAPES.strip().replace("\n  ", " ").splitlines():
        name, _, body = entry.partition(": ")
        fields: list[_Field] = []
        for item in body.split("; "):
            if item.startswith("<"):
                fields += table[item[1:]]
                continue
            field, _, kind = item.partition(" ")
            fields.append(_Field(field.removesuffix("!"), kind, field.endswith("!")))
        table[name] = tuple(fields)
    return table


def decode(kind: str, value: Any) -> dict[str, Any] | None:
    """The object in typed form, a copy; None when some value has the wrong type (see `mismatches`)."""
    try:
        decoded: dict[str, Any] = _decoder(kind)(value)
    except (_MismatchError, QuantityError):
        return None
    return decoded


def decode_or_refuse(kind: str, value: Any, path: str) -> dict[str, Any]:
    """The same for a part of an object; InvalidObjectError says what has the wrong type."""
    decoded = decode(kind, value)
    if decoded is None:
        raise InvalidObjectError(kind, "", mismatches(kind, value, path))
    return decoded


# The fast pass


@cache
def _decoder(kind: str) -> Decoder:
    """The decoder of a required value: never omits."""
    match kind[0]:
        case "*":
            return _decoder(kind[1:])
        case "[":
            return _list_decoder(kind[1:-1])
        case "{":
            return _map_decoder(kind[1:-1])
    simple = _SIMPLE.get(kind)
    return simple[0] if simple else _struct_decoder(kind)


def _zero(kind: str) -> Any:
    """What a missing value of this type reads as, or _OMIT for an object, which is made anew each time."""
    if kind[0] in "*[{":
        return None
    simple = _SIMPLE.get(kind)
    return simple[1] if simple else _OMIT


def _omitting(kind: str) -> Decoder:
    """The decoder of a field that is not written when it is empty."""
    inner = _decoder(kind)
    if kind[0] == "*" or kind in ("any", "time", "quantity") or _zero(kind) is _OMIT:
        return inner
    return lambda value: inner(value) or _OMIT


def _struct_decoder(kind: str) -> Decoder:
    decoders: dict[str, Decoder] = {}
    always: dict[str, Any] = {}
    inner: list[tuple[str, Decoder]] = []
    for field in _table()[kind]:
        zero = _zero(field.type)
        if zero is _OMIT:
            inner.append((field.name, _decoder(field.type)))
        elif field.always or field.type == "quantity":
            always[field.name] = zero
        decoders[field.name] = _decoder(field.type) if field.always else _omitting(field.type)

    def read(value: Any) -> dict[str, Any]:
        result = always.copy()
        if value is not None:
            if not isinstance(value, dict):
                raise _MismatchError
            for name, item in value.items():
                known = decoders.get(name)
                if known is not None and item is not None:
                    decoded = known(item)
                    if decoded is not _OMIT:
                        result[name] = decoded
        for name, decoder in inner:
            if name not in result:
                result[name] = decoder(None)
        return result

    return read


def _list_decoder(kind: str) -> Decoder:
    inner = _decoder(kind)
    zero = _zero(kind)

    def read(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise _MismatchError
        if zero is _OMIT:
            return [inner(item) for item in value]
        return [zero if item is None else inner(item) for item in value]

    return read


def _map_decoder(kind: str) -> Decoder:
    # Quantities keep their spelling here: what they are added to and printed as depends on it.
    inner = _quantity_text if kind == "quantity" else _decoder(kind)
    zero = _zero(kind)

    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise _MismatchError
        for key in value:
            if not isinstance(key, str):
                raise _MismatchError
        return {key: zero if item is None else inner(item) for key, item in value.items()}

    return read


def _string(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise _MismatchError


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise _MismatchError


def _integer(bits: int) -> Decoder:
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1

    def read(value: Any) -> int:
        if value.__class__ is float and value.is_integer():
            value = int(value)
        if value.__class__ is int and low <= value <= high:
            return int(value)
        raise _MismatchError

    return read


_int32: Final = _integer(32)


def _port(value: Any) -> int | str:
    return value if isinstance(value, str) else _int32(value)


def _quantity_text(value: Any) -> str:
    parse_quantity(value)
    return value.strip() if isinstance(value, str) else repr(value)


def _moment(value: Any) -> str:
    if isinstance(value, str) and _TIME(value):
        return value
    raise _MismatchError


# Decoder and zero value of the simple types.
_SIMPLE: Final[dict[str, tuple[Decoder, Any]]] = {
    "str": (_string, ""),
    "bool": (_boolean, False),
    "int": (_int32, 0),
    "long": (_integer(64), 0),
    "quantity": (canonical, "0"),
    "port": (_port, 0),
    "time": (_moment, None),
    "any": (lambda value: value, None),
}

# The slow pass

_NAMES: Final = {
    "str": "string",
    "bool": "boolean",
    "int": "32-bit integer",
    "long": "64-bit integer",
    "port": "number or name",
    "time": "RFC 3339 time",
}


def mismatches(kind: str, value: Any, path: str = "") -> list[FieldError]:
    """Every value of the wrong type, with its path."""
    return list(_walk(kind, value, path))


def _walk(kind: str, value: Any, path: str) -> Iterator[FieldError]:
    if value is None:
        return
    match kind[0]:
        case "*":
            yield from _walk(kind[1:], value, path)
        case "[":
            if not isinstance(value, list):
                yield _mismatch(path, value, "array")
                return
            for index, item in enumerate(value):
                yield from _walk(kind[1:-1], item, f"{path}[{index}]")
        case "{":
            yield from _walk_map(kind[1:-1], value, path)
        case _ if kind in _SIMPLE:
            try:
                _SIMPLE[kind][0](value)
            except _MismatchError:
                yield _mismatch(path, value, _NAMES[kind])
            except QuantityError as error:
                yield invalid(path, value, error.message)
        case _:
            if not isinstance(value, dict):
                yield _mismatch(path, value, "object")
                return
            types = {field.name: field.type for field in _table()[kind]}
            for name, item in value.items():
                if name in types:
                    yield from _walk(types[name], item, f"{path}.{name}" if path else name)


def _walk_map(kind: str, value: Any, path: str) -> Iterator[FieldError]:
    if not isinstance(value, dict):
        yield _mismatch(path, value, "object")
        return
    for key, item in value.items():
        if isinstance(key, str):
            yield from _walk(kind, item, f"{path}[{key}]")
        else:
            yield _mismatch(path, key, "object with string keys")


def _mismatch(path: str, value: Any, wanted: str) -> FieldError:
    article = "an" if wanted[0] in "aoR" else "a"
    return type_invalid(path or "object", value, f"must be {article} {wanted}, not {_describe(value)}")


def _describe(value: Any) -> str:
    match value:
        case bool():
            return "a boolean"
        case int() | float():
            return "this number"
        case str():
            return "this string" if value else "an empty string"
        case list():
            return "an array"
        case dict():
            return "an object"
    return "a value of another kind"


def unknown_fields(kind: str, value: Any) -> list[str]:
    """What the API says about fields it does not know, and drops: `unknown field "spec.affinty"`."""
    return [f"unknown field {go_quote(path)}" for path in _unknown(kind, value, "")]


def _unknown(kind: str, value: Any, path: str) -> Iterator[str]:
    match kind[0]:
        case "*":
            yield from _unknown(kind[1:], value, path)
        case "[":
            for index, item in enumerate(value if isinstance(value, list) else ()):
                yield from _unknown(kind[1:-1], item, f"{path}[{index}]")
        case _ if kind in _table() and isinstance(value, Mapping):
            types = {field.name: field.type for field in _table()[kind]}
            for name, item in value.items():
                here = f"{path}.{name}" if path else str(name)
                if name in types:
                    yield from _unknown(types[name], item, here)
                else:
                    yield here
