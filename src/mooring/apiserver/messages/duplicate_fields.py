"""Duplicate fields of a JSON body: the last one counts, and field validation warns of the others or refuses them.

A parser that reports duplicates is many times slower than one that does not, and next to no body has any. So the colons
of the body are first compared with those of the parsed value, encoded again: a duplicate key leaves fewer. A colon
inside a string is in both counts or only in the first. A colon written as an escape is only in the second and could
hide a duplicate, so a body with such an escape is always parsed for duplicates.
"""

import json
from itertools import islice
from typing import Any, Final

import msgspec

from mooring.kube.schemas.duplicates import DuplicatePath
from mooring.kube.schemas.pruning import FieldPath

__all__ = ["find_duplicate_fields"]

# kube-apiserver reports as many.
_MAX_REPORTED: Final = 100
_ESCAPED_COLONS: Final = (rb"\u003a", rb"\u003A")


class _Pairs(list[tuple[str, Any]]):
    """The members of a JSON object in the order of the body, duplicates included."""


def find_duplicate_fields(body: bytes, value: Any) -> tuple[DuplicatePath, ...]:
    """The fields that occur more than once, in order. `value` is the parsed body."""
    if not any(escape in body for escape in _ESCAPED_COLONS) and (
        body.count(b":") == msgspec.json.encode(value).count(b":")
    ):
        return ()
    try:
        # Numbers do not matter here, and Python refuses to parse some that are valid JSON.
        written = json.loads(body, object_pairs_hook=_Pairs, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        # Not JSON, or nested deeper than this parser can go.
        return ()
    found: dict[FieldPath, int] = {}
    _walk(written, [], found)
    return tuple(DuplicatePath(*each) for each in islice(found.items(), _MAX_REPORTED))


def _walk(value: Any, path: list[str | int], found: dict[FieldPath, int]) -> None:
    """`path` leads to the value; it is one list for the whole walk, since a body may have a million parts."""
    if isinstance(value, _Pairs):
        seen: set[str] = set()
        for key, inner in value:
            path.append(key)
            if key in seen:
                found.setdefault(tuple(path), len(seen))
            seen.add(key)
            if isinstance(inner, list):
                _walk(inner, path, found)
            path.pop()
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if isinstance(inner, list):
                path.append(index)
                _walk(inner, path, found)
                path.pop()
