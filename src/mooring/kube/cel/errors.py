"""What goes wrong with an expression, in the words of the real API server where they are known.

The library says the same things in words of its own, each after the name of a status code.
"""

import re
from typing import Final

from mooring.kube.errors import MooringError

_CODE: Final = re.compile(r"^[A-Z_]+: ")
_TRAILING_CODE: Final = re.compile(r" \[[A-Z_]+\]$")
_MISSING_KEY: Final = re.compile(r'^Key not found in map : "(.*)"$', re.DOTALL)
_OUTSIDE: Final = re.compile(r"^Index error: index=(-?\d+) ")

# The library counts passes through loops, the API server counts everything that is done.
_BUDGET: Final = "Iteration budget exceeded"
OVER_BUDGET: Final = "operation cancelled: actual cost limit exceeded"


class CelCompileError(MooringError):
    """An expression that cannot be read, or whose types do not fit."""


class CelRuntimeError(MooringError):
    """An expression that has no value for some input. `missing_key` is the key that a map did not have."""

    def __init__(self, message: str, missing_key: str | None = None) -> None:
        super().__init__(message)
        self.missing_key = missing_key


def compile_error(text: str) -> CelCompileError:
    return CelCompileError(f"compilation failed: {plain(text)}")


def runtime_error(text: str) -> CelRuntimeError:
    text = plain(text)
    if found := _MISSING_KEY.match(text):
        return CelRuntimeError(f"no such key: {found[1]}", found[1])
    if found := _OUTSIDE.match(text):
        return CelRuntimeError(f"index out of bounds: {found[1]}")
    if text.startswith("No matching overloads found"):
        return CelRuntimeError("no such overload")
    if text == "divide by zero":
        return CelRuntimeError("division by zero")
    return CelRuntimeError(OVER_BUDGET if text == _BUDGET else text)


def plain(text: str) -> str:
    """The text without the status codes around it."""
    return _TRAILING_CODE.sub("", _CODE.sub("", text))
