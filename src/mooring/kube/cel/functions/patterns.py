"""Patterns in expressions: `text.find("[0-9]+")`. Users write them, so they run in time linear in the text."""

from functools import lru_cache
from typing import Any, Final

from mooring.kube.cel.functions.model import Function, pattern_cost
from mooring.kube.schemas.patterns import compile_pattern

_KEPT_PATTERNS: Final = 256


def _matches(text: str, pattern: str) -> bool:
    return compile_pattern(pattern).search(text)


def _find(text: str, pattern: str) -> str:
    found = _compiled(pattern).search(text)
    return found[0] if found else ""


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    found: list[str] = []
    if limit == 0:
        return found
    for match in _compiled(pattern).finditer(text):
        found.append(match[0])
        if len(found) == limit:
            break
    return found


@lru_cache(_KEPT_PATTERNS)
def _compiled(pattern: str) -> Any:
    import re2

    try:
        compile_pattern(pattern)
        return re2.compile(pattern)
    except (ValueError, re2.error) as error:
        raise ValueError(f"Illegal regex: {error}") from None


PATTERNS: Final = (
    Function("matches", ("string", "string"), "bool", _matches, cost=pattern_cost),
    Function("matches", ("string", "string"), "bool", _matches, member=True, cost=pattern_cost),
    Function("find", ("string", "string"), "string", _find, member=True, cost=pattern_cost),
    Function("findAll", ("string", "string"), "list<string>", _find_all, member=True, cost=pattern_cost),
    Function("findAll", ("string", "string", "int"), "list<string>", _find_all, member=True, cost=pattern_cost),
)
