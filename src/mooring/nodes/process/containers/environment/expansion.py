"""`$(VAR)` in commands, arguments and environment values, by the rules of the API.

`$$` is a dollar sign that nothing follows up on, and a variable that is not known stays as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

__all__ = ["expand"]

_PIECE: Final = re.compile(r"\$(?:\$|\(([^)]*)\))")


def expand(text: str, variables: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        return "$" if name is None else variables.get(name, match.group(0))

    return _PIECE.sub(value, text)
