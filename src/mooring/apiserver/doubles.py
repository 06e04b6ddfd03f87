"""Fields that a JSON body holds twice: the last one counts, and whoever wrote them wants to know.

A reader that looks for them is many times slower than one that does not, and next to no body has any. So the colons are
counted first: an object has one for each of its keys, and a key that came twice has left fewer than there were.
"""

import json
from typing import Any, Final

import msgspec

__all__ = ["doubled_fields"]

# As many as the real server tells of.
_MOST: Final = 100


class _Pairs(list[tuple[str, Any]]):
    """An object as it was written."""


def doubled_fields(body: bytes, value: Any) -> tuple[str, ...]:
    """The paths of the fields that came more than once, in their order. `value` is what was read from the body."""
    if body.count(b":") == msgspec.json.encode(value).count(b":"):
        return ()
    try:
        written = json.loads(body, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        # Not JSON, or nothing that this reader can hold.
        return ()
    found: dict[str, None] = {}
    _walk(written, "", found)
    return tuple(found)[:_MOST]


def _walk(value: Any, path: str, found: dict[str, None]) -> None:
    if isinstance(value, _Pairs):
        seen: set[str] = set()
        for key, inner in value:
            here = f"{path}.{key}" if path else key
            if key in seen:
                found[here] = None
            seen.add(key)
            _walk(inner, here, found)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _walk(inner, f"{path}[{index}]", found)
