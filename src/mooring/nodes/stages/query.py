"""Queries that a Stage asks of an object: the part of jq that published Stages use.

Paths (`.status.phase`, `.metadata.labels["a/b"]`, `.items[0]`, `.conditions.[]`), joined by `|`, and
`select( .type == "Ready" )`. Where one value cannot be followed, as a field of a text, the whole query finds nothing,
as it does there, unless a `?` says that such a value is passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final

from mooring.kube.errors import MooringError

Values = Iterable[Any]
QueryStep = Callable[[Any], Iterator[Any]]

_PART: Final = re.compile(
    r"""\s*(?:
      \.?\[\s*\]                                  # every item
    | \.?\[\s*(?P<number>-?\d+)\s*\]
    | \.?\[\s*(?P<quoted>"(?:[^"\\]|\\.)*")\s*\]
    | \.(?P<name>[A-Za-z_]\w*)
    | \.(?P<word>"(?:[^"\\]|\\.)*")
    | (?P<itself>\.)(?=\s*(?:$|\||==|!=|\)))
    )(?P<lenient>\?*)""",
    re.VERBOSE,
)
_SELECT: Final = re.compile(
    r"""\s*select\(\s*(?P<path>[^()]*?)\s*(?P<operator>==|!=)\s*(?P<value>"(?:[^"\\]|\\.)*"|-?\d+|true|false|null)\s*\)\s*$""",
    re.VERBOSE,
)


class QueryError(MooringError):
    """A query that is not understood here."""


class _Unfollowed(Exception):
    """A value of which a query asks what such a value does not have."""


class Query:
    def __init__(self, text: str) -> None:
        self._steps = [step for part in _split(text) for step in _steps(part, text)]

    def values(self, obj: Any) -> list[Any]:
        """What the query finds in an object, without what is null."""
        try:
            return [value for value in self.all_values(obj) if value is not None]
        except _Unfollowed:
            return []

    def all_values(self, obj: Any) -> list[Any]:
        found = [obj]
        for step in self._steps:
            found = [value for each in found for value in step(each)]
        return found


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
    if not stripped:
        raise QueryError(f'"{text}" has an empty part; a path begins with a dot')
    while place < len(stripped):
        matched = _PART.match(stripped, place)
        if matched is None or not (found or matched.group().lstrip().startswith(".")):
            raise QueryError(f'"{text}" is not understood from "{stripped[place:].strip()}" on; paths and select() are')
        found.append(_lenient(_follow(matched)) if matched["lenient"] else _follow(matched))
        place = matched.end()
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


def _lenient(step: QueryStep) -> QueryStep:
    def follow(value: Any) -> Iterator[Any]:
        with suppress(_Unfollowed):
            yield from step(value)

    return follow


def _field(name: str) -> QueryStep:
    def follow(value: Any) -> Iterator[Any]:
        if value is not None and not isinstance(value, dict):
            raise _Unfollowed
        yield None if value is None else value.get(name)

    return follow


def _item(number: int) -> QueryStep:
    def follow(value: Any) -> Iterator[Any]:
        if value is not None and not isinstance(value, list):
            raise _Unfollowed
        yield value[number] if value is not None and -len(value) <= number < len(value) else None

    return follow


def _every(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from (item for _, item in sorted(value.items()))
    elif isinstance(value, list):
        yield from value
    else:
        raise _Unfollowed


def _select(selected: re.Match[str]) -> QueryStep:
    path = Query(selected["path"])
    wanted = json.loads(selected["value"])
    equal = selected["operator"] == "=="

    def follow(value: Any) -> Iterator[Any]:
        for found in path.all_values(value):
            # To Python, true is 1.
            if (found == wanted and isinstance(found, bool) == isinstance(wanted, bool)) == equal:
                yield value

    return follow
