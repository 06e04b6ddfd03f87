"""Fields that a JSON body holds twice: the last one counts, and whoever wrote them wants to know.

A reader that looks for them is many times slower than one that does not, and next to no body has any. So the colons are
counted first: an object has one for each of its keys, and a key that came twice has left fewer than there were. Colons
within strings are in both counts, or only in the first; one that was written as an escape is only in the second, and
could make up for the one that is missing, so a body with such an escape is read without counting.
"""

import json
from typing import Any, Final

import msgspec

from mooring.kube.schemas.duplicates import FieldPath

__all__ = ["doubled_fields"]

# As many as the real server tells of.
_MOST: Final = 100
_ESCAPED_COLONS: Final = (rb"\u003a", rb"\u003A")


class _Pairs(list[tuple[str, Any]]):
    """An object as it was written."""


def doubled_fields(body: bytes, value: Any) -> tuple[FieldPath, ...]:
    """The paths of the fields that came more than once, in their order. `value` is what was read from the body."""
    if not any(escape in body for escape in _ESCAPED_COLONS) and (
        body.count(b":") == msgspec.json.encode(value).count(b":")
    ):
        return ()
    try:
        # Numbers do not matter here, and Python refuses to read some that JSON may have.
        written = json.loads(body, object_pairs_hook=_Pairs, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        # Not JSON, or nothing that this reader can hold.
        return ()
    found: dict[FieldPath, None] = {}
    _walk(written, [], found)
    return tuple(found)[:_MOST]


def _walk(value: Any, path: list[str | int], found: dict[FieldPath, None]) -> None:
    """`path` leads to the value; it is one list for the whole walk, since a body may have a million parts."""
    if isinstance(value, _Pairs):
        seen: set[str] = set()
        for key, inner in value:
            path.append(key)
            if key in seen:
                found[tuple(path)] = None
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
