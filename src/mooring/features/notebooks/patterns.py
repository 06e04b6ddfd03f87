"""Regular expressions that people give: the runner is Python, and uses what Python can read."""

from __future__ import annotations

import re
import warnings
from typing import Final

__all__ = ["pattern_problem"]

_MAX_CHARACTERS: Final = 1000
_POSIX_CLASS: Final = re.compile(r"\[:\^?\w+:\]")


def pattern_problem(pattern: str) -> str:
    """Why the runner, which is Python, cannot use a regular expression; empty where it can."""
    if len(pattern) > _MAX_CHARACTERS:
        return f"must have at most {_MAX_CHARACTERS} characters"
    if found := _POSIX_CLASS.search(pattern):
        return f"must be a regular expression of Python, which has no {found[0]}; write \\d, \\w or \\s"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"must be a regular expression of Python: {error}"
    return ""
