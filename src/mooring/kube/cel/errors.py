"""What goes wrong with an expression, in the words of the real API server.

The library parses and says what it cannot parse, each time between the name of a status code.
"""

import re
from typing import Final

from mooring.kube.errors import MooringError

_CODE: Final = re.compile(r"^[A-Z_]+: ")
_TRAILING_CODE: Final = re.compile(r" \[[A-Z_]+\]$")

OVER_BUDGET: Final = "operation cancelled: actual cost limit exceeded"


class CelCompileError(MooringError):
    """An expression that cannot be parsed, or whose types do not fit."""


class CelRuntimeError(MooringError):
    """An expression that has no value for some input. `missing_key` is the key that a map did not have."""

    def __init__(self, message: str, missing_key: str | None = None) -> None:
        super().__init__(message)
        self.missing_key = missing_key
        # What the expression had cost by then.
        self.cost = 0


class CelBudgetError(CelRuntimeError):
    """An expression that costs more than it may; nothing in the expression can catch that."""


class CelPatienceError(CelBudgetError):
    """An expression that takes longer than somebody waits; it may be run again where nobody does."""


def plain(text: str) -> str:
    """A text of the library without the status codes around it."""
    return _TRAILING_CODE.sub("", _CODE.sub("", text))
