"""Names of fields as expressions write them: `__if__` for if, `a__dash__b` for a-b."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["escape"]

_RESERVED: Final = frozenset(
    {
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if"),
        *("import", "let", "loop", "package", "namespace", "return", "var", "void", "while"),
    }
)
_WORDS: Final = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_SPECIAL: Final = re.compile(r"__|[-./]")
_WRITABLE: Final = re.compile(r"[a-zA-Z_./-][a-zA-Z0-9_./-]*")


def escape(name: str) -> str | None:
    """None for a name that no expression can write."""
    if name in _RESERVED:
        return f"__{name}__"
    if not _WRITABLE.fullmatch(name):
        return None
    return _SPECIAL.sub(lambda found: _WORDS[found[0]], name)
