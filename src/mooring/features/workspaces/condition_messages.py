"""Messages of conditions, kept short: what containers and clouds say can be pages."""

from __future__ import annotations

from typing import Final

__all__ = ["shortened"]

_LONGEST_MESSAGE_BYTES: Final = 256
_ELLIPSIS: Final = "..."


def shortened(text: str) -> str:
    data = text.encode()
    if len(data) <= _LONGEST_MESSAGE_BYTES:
        return text
    return data[:_LONGEST_MESSAGE_BYTES].decode(errors="ignore") + _ELLIPSIS
