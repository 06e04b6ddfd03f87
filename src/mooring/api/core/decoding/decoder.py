"""Reads the JSON of an object as the API server would: typed, without unknown fields, in the form it would be stored.

Everything behind this (defaults, validation) may then rely on types, which keeps `isinstance` out of hundreds of rules
and makes any JSON whatsoever safe to validate. Two passes: a fast one that stops at the first mismatch, and, only then,
a slow one that finds every mismatch with its path.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any, Final

from mooring.api.core.shapes import fields_of, is_shape
from mooring.kube.errors import FieldError, InvalidObjectError, QuantityError, go_quote, invalid, type_invalid
from mooring.kube.quantities import canonical, parse_quantity

__all__ = ["decode", "decode_or_refuse", "mismatches", "unknown_fields"]

Decoder = Callable[[Any], Any]

_OMIT: Final = object()
_RECURSIVE: Final = "apiextensions.JSONSchemaProps"
_TIME: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}([.,]\d+)?(Z|[+-]\d{2}:([0-5]\d|60))",
    re.ASCII,
).fullmatch


class _MismatchError(Exception):
    """Some value has the wrong type; the slow pass says which."""


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
    if simple:
        return simple[0]
    # Schemas contain schemas: the decoder of a recursive type is looked up when there is something to decode.
    return (lambda value: _struct_decoder(kind)(value)) if kind == _RECURSIVE else _struct_decoder(kind)


def _zero(kind: str) -> Any:
    """What a missing value of this type reads as, or _OMIT for an object, which is made anew each time."""
    if kind[0] in "*[{":
        return None
    simple = _SIMPLE.get(kind)
    return simple[1] if simple else _OMIT


def _is_omitted(kind: str) -> bool:
    """Whether a field of this type, unless it is always written, is not written when it is empty."""
    return not (kind[0] == "*" or kind in _NEVER_EMPTY or _zero(kind) is _OMIT)


@cache
def _struct_decoder(kind: str) -> Decoder:
    decoders: dict[str, Decoder] = {}
    always: dict[str, Any] = {}
    inner: list[tuple[str, Decoder]] = []
    omitted: set[str] = set()
    for field in fields_of(kind):
        zero = _zero(field.type)
        if zero is _OMIT:
            inner.append((field.name, _decoder(field.type)))
        elif field.always or (field.type in _WRITTEN_UNSET and not field.omits_zero):
            always[field.name] = zero
        decoders[field.name] = _decoder(field.type)
        if not field.always and _is_omitted(field.type):
            omitted.add(field.name)

    def read(value: Any) -> dict[str, Any]:
        result = always.copy()
        if value is not None:
            if not isinstance(value, dict):
                raise _MismatchError
            for name, item in value.items():
                known = decoders.get(name)
                if known is None or item is None:
                    continue
                # Most values are texts, and a call costs more than this look.
                decoded = item if known is _string and item.__class__ is str else known(item)
                if decoded or name not in omitted:
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
    inner = _decoder(kind)
    zero = _zero(kind)

    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise _MismatchError
        for key in value:
            if not isinstance(key, str):
                raise _MismatchError
        if zero is _OMIT:
            return {key: inner(item) for key, item in value.items()}
        if inner is _string:
            return {key: item if item.__class__ is str else _text(item) for key, item in value.items()}
        return {key: zero if item is None else inner(item) for key, item in value.items()}

    return read


def _string(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise _MismatchError


def _text(value: Any) -> str:
    """A text in a map, where null is an empty one."""
    return "" if value is None else _string(value)


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
    if value.__class__ is str:
        if len(value) == 20 and value[-1] == "Z":
            return _whole_second(value)
        if _TIME(value):
            return f"{_read_time(value).replace(microsecond=0, tzinfo=None).isoformat()}Z"
    raise _MismatchError


@lru_cache(maxsize=4096)
def _whole_second(text: str) -> str:
    """A moment that is already as it is written, asked once for all objects of that second."""
    if not _TIME(text):
        raise _MismatchError
    _read_time(text)
    return text


def _micro_moment(value: Any) -> str:
    if value.__class__ is str and (found := _TIME(value)) and len(found[1] or "") == len(".000000"):
        return f"{_read_time(value).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"
    raise _MismatchError


def _read_time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise _MismatchError from None


def _double(value: Any) -> float:
    if value.__class__ is float or value.__class__ is int:
        return int(value) if float(value).is_integer() and abs(value) < 1e21 else float(value)
    raise _MismatchError


def _bytes(value: Any) -> str:
    """Base64 in its one canonical spelling; a list of numbers is bytes too."""
    try:
        if value.__class__ is list:
            return base64.b64encode(bytes(value)).decode()
        if value.__class__ is not str:
            raise _MismatchError
        return base64.b64encode(base64.b64decode(value.replace("\n", "").replace("\r", ""), validate=True)).decode()
    except (binascii.Error, ValueError, TypeError):
        raise _MismatchError from None


def _schema(value: Any) -> Any:
    return _decoder(_RECURSIVE)(value)


def _schema_or_bool(value: Any) -> Any:
    return value if value.__class__ is bool else _schema(value)


def _schema_or_list(value: Any) -> Any:
    return [_schema(item) for item in value] if value.__class__ is list else _schema(value)


def _schema_or_names(value: Any) -> Any:
    return [_string(item) for item in value] if value.__class__ is list else _schema(value)


# Decoder and zero value of the simple types.
_SIMPLE: Final[dict[str, tuple[Decoder, Any]]] = {
    "str": (_string, ""),
    "bool": (_boolean, False),
    "int": (_int32, 0),
    "long": (_integer(64), 0),
    "double": (_double, 0),
    "quantity": (canonical, "0"),
    # The spelling is kept: what such quantities are added to and printed as depends on it.
    "amount": (_quantity_text, "0"),
    "port": (_port, 0),
    "time": (_moment, None),
    "microtime": (_micro_moment, None),
    "bytes": (_bytes, None),
    "raw": (lambda value: value, None),
    "any": (lambda value: value, None),
    "schema-or-bool": (_schema_or_bool, None),
    "schema-or-list": (_schema_or_list, None),
    "schema-or-names": (_schema_or_names, None),
}
_NEVER_EMPTY: Final = frozenset({"any", "raw", "time", "microtime", "quantity", "port"})
# What has no empty value to be left out by.
_WRITTEN_UNSET: Final = frozenset({"quantity", "port", "time", "microtime", "raw"})

# The slow pass

_NAMES: Final = {
    "str": "string",
    "bool": "boolean",
    "int": "32-bit integer",
    "long": "64-bit integer",
    "double": "number",
    "port": "number or name",
    "time": "RFC 3339 time",
    "microtime": "RFC 3339 time with microseconds",
    "bytes": "string in base64",
    "schema-or-bool": "schema or boolean",
    "schema-or-list": "schema or array",
    "schema-or-names": "schema or array",
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
            types = {field.name: field.type for field in fields_of(kind)}
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
        case _ if is_shape(kind) and isinstance(value, Mapping):
            types = {field.name: field.type for field in fields_of(kind)}
            for name, item in value.items():
                here = f"{path}.{name}" if path else str(name)
                if name in types:
                    yield from _unknown(types[name], item, here)
                else:
                    yield here
