"""JSON in the very bytes in which Go writes maps: keys sorted, nothing between tokens, some characters escaped.

An API server keeps `data` of a ControllerRevision byte by byte and writes it anew at every patch. Written in any other
way it differs after that, and since it is immutable the patch is refused: no owner could ever be taken off such a
revision, and no deletion that leaves orphans would end.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

__all__ = ["go_json", "has_sorted_keys", "with_sorted_keys"]

_encode: Final = msgspec.json.Encoder(order="sorted").encode
_encode_in_order: Final = msgspec.json.Encoder().encode
# None of them occurs outside of strings.
_ESCAPED: Final = (
    (b"&", b"\\u0026"),
    (b"<", b"\\u003c"),
    (b">", b"\\u003e"),
    ("\u2028".encode(), b"\\u2028"),
    ("\u2029".encode(), b"\\u2029"),
)


def go_json(value: Any) -> bytes:
    text = _encode(value)
    for plain, escaped in _ESCAPED:
        text = text.replace(plain, escaped)
    return text


def with_sorted_keys(value: Any) -> Any:
    """A copy whose keys are in the order in which Go writes them, at every depth."""
    return msgspec.to_builtins(value, order="sorted")


def has_sorted_keys(value: Any) -> bool:
    return _encode_in_order(value) == _encode(value)
