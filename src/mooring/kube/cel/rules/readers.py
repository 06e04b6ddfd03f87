"""How a value of an object becomes one of an expression, by its schema.

Most values are used as they are. A reader is made only where something differs: times, durations and bytes, whole
numbers that are doubles, lists whose order does not matter, and names of fields that expressions write otherwise.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import Any, Final

from mooring.kube.cel.errors import CelRuntimeError
from mooring.kube.cel.evaluation import LazyValue
from mooring.kube.cel.functions.times import read_duration, read_timestamp
from mooring.kube.cel.rules.escaping import escape
from mooring.kube.cel.values import NANOSECONDS, Duration, KeyedList, SetList, Timestamp
from mooring.kube.schemas.model import Schema

__all__ = ["Reader", "read_value", "reader_of"]

Reader = Callable[[Any], Any]

_LONG_DURATION: Final = re.compile(r"\s*([0-9]+)\s*([a-z]+)\s*")
_SECONDS: Final = {
    **dict.fromkeys(("d", "day", "days"), 86400),
    **dict.fromkeys(("w", "week", "weeks"), 604800),
    **dict.fromkeys(("h", "hour", "hours"), 3600),
    **dict.fromkeys(("min", "minute", "minutes"), 60),
    **dict.fromkeys(("sec", "second", "seconds"), 1),
}


def reader_of(schema: Schema) -> Reader | None:
    """None where values are used as they are."""
    found = _READERS.get(schema.type)
    if schema.int_or_string or found is None:
        return None
    inner = found(schema)
    if inner is None or not schema.nullable:
        return inner
    return lambda value: None if value is None else inner(value)


def _string(schema: Schema) -> Reader | None:
    return _FORMATS.get(schema.format)


def _number(schema: Schema) -> Reader:
    return lambda value: float(value) if value.__class__ is int else value


def _integer(schema: Schema) -> Reader:
    return lambda value: int(value) if value.__class__ is float else value


def _array(schema: Schema) -> Reader | None:
    inner = None if schema.items is None else reader_of(schema.items)
    if schema.list_type == "map":
        keys = tuple(escape(key) or key for key in schema.list_map_keys)
        return lambda value: KeyedList([inner(item) for item in value] if inner else value, keys)
    if schema.list_type == "set":
        return lambda value: SetList([inner(item) for item in value] if inner else value)
    return None if inner is None else lambda value: [inner(item) for item in value]


def _object(schema: Schema) -> Reader | None:
    others = schema.additional_properties
    if others is not None and not schema.properties:
        inner = reader_of(others)
        return None if inner is None else lambda value: {key: inner(item) for key, item in value.items()}
    changed: dict[str, tuple[str, Reader]] = {}
    for key, child in schema.properties.items():
        if key == "metadata" and child.builtin:
            continue
        written, reader = escape(key), reader_of(child)
        if reader is not None or child.nullable or written not in (key, None):
            changed[key] = (written or key, reader or _same)
    if not changed:
        return None

    def read(value: dict[str, Any]) -> dict[str, Any]:
        made = {}
        for key, item in value.items():
            name, reader = changed.get(key, (key, _same))
            # A field that is null is not there.
            if item is not None:
                made[name] = read_value(reader, item)
        return made

    return read


def read_value(reader: Reader, value: Any) -> Any:
    """The value, or in its place the error of whoever asks for it: not every wrong value keeps rules from running."""
    try:
        return reader(value)
    except CelRuntimeError as error:
        return _failing(error)
    except (AttributeError, TypeError, ValueError):
        return _failing(CelRuntimeError(f"invalid data: {value}"))


def _failing(error: CelRuntimeError) -> LazyValue:
    def find(_: int, __: int) -> tuple[Any, int]:
        raise error

    return LazyValue(find)


def _same(value: Any) -> Any:
    return value


def _duration(text: str) -> Duration:
    try:
        return read_duration(text)
    except ValueError:
        found = _LONG_DURATION.fullmatch(text)
        if found is None or found[2] not in _SECONDS:
            raise CelRuntimeError(f"Invalid duration {text}: unable to parse {text} as duration") from None
        return Duration(int(found[1]) * _SECONDS[found[2]] * NANOSECONDS)


def _timestamp(text: str) -> Timestamp:
    moment = text if len(text) > 10 else f"{text}T00:00:00Z"
    if moment[10] == " ":
        moment = f"{moment[:10]}T{moment[11:]}"
    try:
        return read_timestamp(moment)
    except ValueError as error:
        raise CelRuntimeError(f"Invalid date-time formatted string {text}: {error}") from None


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except binascii.Error as error:
        raise CelRuntimeError(f"Invalid byte formatted string {text}: {error}") from None


_FORMATS: Final[dict[str, Reader]] = {
    "byte": _bytes,
    "duration": _duration,
    "date": _timestamp,
    "date-time": _timestamp,
}
_READERS: Final[dict[str, Callable[[Schema], Reader | None]]] = {
    "string": _string,
    "number": _number,
    "integer": _integer,
    "array": _array,
    "object": _object,
}
