"""Queries that a Stage asks of an object: the part of jq that published Stages use.

Paths (`.status.phase`, `.metadata.labels["a/b"]`, `.items[0]`, `.conditions.[]`), joined by `|`, and
`select( .type == "Ready" )`. Whatever cannot be followed gives nothing, as it does there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, Final

from mooring.kube.errors import MooringError

Values = Iterable[Any]
QueryStep = Callable[[Any], Iterator[Any]]

_PART: Final = re.compile(
    r"""\s*(?:
      \.?\[\s*\]\??                               # every item
    | \.?\[\s*(?P<number>-?\d+)\s*\]\??
    | \.?\[\s*(?P<quoted>"(?:[^"\\]|\\.)*")\s*\]\??
    | \.(?P<name>[A-Za-z_]\w*)\??
    | \.(?P<word>"(?:[^"\\]|\\.)*")\??
    | (?P<itself>\.)(?=\s*(?:$|\||==|!=|\)))
    )""",
    re.VERBOSE,
)
_SELECT: Final = re.compile(
    r"""\s*select\(\s*(?P<path>[^()]*?)\s*(?P<operator>==|!=)\s*(?P<value>"(?:[^"\\]|\\.)*"|-?\d+|true|false|null)\s*\)\s*$""",
    re.VERBOSE,
)


class QueryError(MooringError):
    """A query that is not understood here."""


class Query:
    def __init__(self, text: str) -> None:
        self._steps = [step for part in _split(text) for step in _steps(part, text)]

    def values(self, obj: Any) -> list[Any]:
        """What the query finds in an object, without what is null."""
        found = [obj]
        for step in self._steps:
            found = [value for each in found for value in step(each)]
        return [value for value in found if value is not None]


@lru_cache(maxsize=1000)
def query(text: str) -> Query:
    """Raises QueryError for a text that is not understood here."""
    return Query(text)


def _split(text: str) -> list[str]:
    """The parts between pipes; a pipe within quotes is none."""
    return re.split(r"""\|(?=(?:[^"]*"[^"]*")*[^"]*$)""", text)


def _steps(part: str, text: str) -> list[QueryStep]:
    if selected := _SELECT.match(part):
        return [_select(selected)]
    found: list[QueryStep] = []
    place = 0
    stripped = part.rstrip()
    while place < len(stripped):
        matched = _PART.match(stripped, place)
        if matched is None or matched.end() == place:
            raise QueryError(f'"{text}" is not understood from "{stripped[place:].strip()}" on; paths and select() are')
        found.append(_follow(matched))
        place = matched.end()
    if not found:
        raise QueryError(f'"{text}" has an empty part; a path begins with a dot')
    return found


def _follow(matched: re.Match[str]) -> QueryStep:
    if matched["itself"]:
        return lambda value: iter((value,))
    if matched["number"] is not None:
        return _item(int(matched["number"]))
    quoted = matched["quoted"] or matched["word"]
    if quoted is not None:
        return _field(json.loads(quoted))
    return _field(matched["name"]) if matched["name"] is not None else _every


def _field(name: str) -> QueryStep:
    def follow(value: Any) -> Iterator[Any]:
        if isinstance(value, dict):
            yield value.get(name)

    return follow


def _item(number: int) -> QueryStep:
    def follow(value: Any) -> Iterator[Any]:
        if isinstance(value, list) and -len(value) <= number < len(value):
            yield value[number]

    return follow


def _every(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _select(selected: re.Match[str]) -> QueryStep:
    path = Query(selected["path"])
    wanted = json.loads(selected["value"])
    equal = selected["operator"] == "=="

    def follow(value: Any) -> Iterator[Any]:
        found = path.values(value) or [None]
        if (found[0] == wanted) == equal:
            yield value

    return follow
