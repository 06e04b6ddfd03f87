"""Patterns in expressions: `text.find("[0-9]+")`. Users write them, so they run in time linear in the text."""

from typing import Any, Final

from mooring.kube.cel.functions.model import Function


def _find(text: str, pattern: str) -> str:
    found = _compiled(pattern).search(text)
    return found[0] if found else ""


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    found = [match[0] for match in _compiled(pattern).finditer(text)]
    return found if limit < 0 else found[:limit]


def _compiled(pattern: str) -> Any:
    import re2

    try:
        return re2.compile(pattern)
    except re2.error as error:
        raise ValueError(f"Illegal regex: {error}") from None


PATTERNS: Final = (
    Function("find", ("string", "string"), "string", _find, member=True),
    Function("findAll", ("string", "string"), "list<string>", _find_all, member=True),
    Function("findAll", ("string", "string", "int"), "list<string>", _find_all, member=True),
)
