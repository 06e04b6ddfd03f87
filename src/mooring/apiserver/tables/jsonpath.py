"""The paths in a custom kind's printer columns, such as `.status.conditions[?(@.type=="Ready")].status`.

A path is compiled once into steps, each of which turns a list of values into the next one. It covers fields, brackets,
indices and slices, wildcards, unions, filters and `..`, with the corner cases of the real server: what it cannot
evaluate gives an empty cell there, so `find` raises PathError and the caller leaves the cell empty.
"""

import operator
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from mooring.kube.errors import MooringError

__all__ = ["PathError", "compile_path", "find"]

Values = list[Any]
Step = Callable[[Values], Values]
Path = tuple[Step, ...]

_ENDS: Final = frozenset(" \t\r\n.,[]$@{}")
_KEY: Final = re.compile(r"'([^']*)'")
_SLICE: Final = re.compile(r"(|-?\d{1,18})(:|:-?\d{1,18})?(:|:-?\d{1,18})?")
_COMPARISON: Final = re.compile(r"([^!<>=]+)([!<>=]+)(.+)")
_NUMBER: Final = re.compile(r"[+-]?[\d.]+")
_ESCAPE: Final = re.compile(r"\\(.)")
_OPERATORS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class PathError(MooringError):
    """A path that cannot be read, or does not fit the object."""


def find(path: Path, value: Any) -> Values:
    """Everything in a value that the path leads to."""
    values = [value]
    for step in path:
        values = step(values)
    return values


@lru_cache(maxsize=1024)
def compile_path(text: str) -> Path:
    """The steps of a path; PathError when it cannot be read."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._steps: list[Step] = []

    def read(self) -> Path:
        text = self._text
        while self._at < len(text):
            char = text[self._at]
            if text.startswith("[?(", self._at):
                self._steps.append(self._filter())
            elif text.startswith("..", self._at):
                self._at += 2
                self._steps.append(_descend)
                if self._at < len(text) and (text[self._at].isalnum() or text[self._at] == "_"):
                    self._steps.append(self._field())
            elif char in " @$":
                self._at += 1
            elif char == "[":
                self._steps.extend(self._bracket())
            elif char in "\"'":
                self._steps.append(_constant(self._quoted(char)))
            elif char == ".":
                self._at += 1
                self._steps.append(self._field())
            elif char in "+-" or char.isdigit():
                self._steps.append(_constant(self._number()))
            elif char.isalnum() or char == "_":
                self._steps.append(self._word())
            else:
                raise PathError(f"The path {text} has a {char!r} that means nothing there.")
        return tuple(self._steps)

    def _until_end(self) -> str:
        start = self._at
        while self._at < len(self._text) and self._text[self._at] not in _ENDS:
            self._at += 2 if self._text[self._at] == "\\" else 1
        return self._text[start : self._at]

    def _field(self) -> Step:
        name = self._until_end()
        return _all if name == "*" else _field(name.replace("\\", ""))

    def _word(self) -> Step:
        word = self._until_end()
        if word in ("true", "false"):
            return _constant(word == "true")

        def refuse(values: Values) -> Values:
            raise PathError(f"The path {self._text} has the word {word} where a field begins with a dot.")

        return refuse

    def _number(self) -> int | float:
        found = _NUMBER.match(self._text, self._at)
        try:
            if found is None:
                raise ValueError
            self._at = found.end()
            return float(found[0]) if "." in found[0] else int(found[0])
        except ValueError:
            raise PathError(f"The path {self._text} has a number that cannot be read.") from None

    def _quoted(self, quote: str) -> str:
        end = self._at + 1
        while True:
            end = self._text.find(quote, end)
            if end < 0:
                raise PathError(f"The path {self._text} has a quoted string without an end.")
            if self._text[end - 1] != "\\":
                break
            end += 1
        inner = self._text[self._at + 1 : end]
        self._at = end + 1
        return _ESCAPE.sub(r"\1", inner)

    def _bracket(self) -> Path:
        end = self._text.find("]", self._at)
        if end < 0:
            raise PathError(f"The path {self._text} has a bracket without an end.")
        inner = self._text[self._at + 1 : end]
        self._at = end + 1
        if "," in inner:
            return (_union(tuple(compile_path(f"[{each.strip(' ')}]") for each in inner.split(","))),)
        key = _KEY.fullmatch(inner)
        if key is not None:
            return compile_path(f".{key[1]}")
        found = _SLICE.fullmatch(":" if inner == "*" else inner)
        if found is None:
            raise PathError(f"The path {self._text} has the index [{inner}], which is no number, slice or quoted key.")
        return (_slice(*found.groups()),)

    def _filter(self) -> Step:
        start = self._at + len("[?(")
        at, quote, closed = start, "", False
        while at < len(self._text) and not (self._text[at] == ")" and bool(quote) == closed):
            char = self._text[at]
            if char in "\"'" and not quote:
                quote = char
            elif char == quote and self._text[at - 1] != "\\":
                closed = True
            at += 1
        if self._text[at : at + 2] != ")]":
            raise PathError(f"The path {self._text} has a filter without an end.")
        self._at = at + 2
        inner = self._text[start:at]
        found = _COMPARISON.fullmatch(inner)
        if found is None:
            return _having(compile_path(inner))
        if found[2] not in _OPERATORS:
            raise PathError(f"The path {self._text} compares with {found[2]}, which is no operator.")
        return _where(compile_path(found[1]), _OPERATORS[found[2]], compile_path(found[3]))


# Steps


def _constant(value: Any) -> Step:
    return lambda values: [value for _ in values]


def _field(name: str) -> Step:
    return lambda values: [value[name] for value in values if isinstance(value, dict) and name in value]


def _children(value: Any) -> Values:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _all(values: Values) -> Values:
    return [child for value in values for child in _children(value)]


def _descend(values: Values) -> Values:
    found: Values = []
    for value in values:
        children = _children(value)
        if children:
            found += [value, *_descend(children)]
    return found


def _union(paths: tuple[Path, ...]) -> Step:
    def step(values: Values) -> Values:
        found: Values = []
        for path in paths:
            reached = values
            for each in path:
                reached = each(reached)
            found += reached
        return found

    return step


def _slice(first: str, last: str | None, step_text: str | None) -> Step:
    """One element, `[2]`, or a range, `[1:3]` or `[::2]`; counted from the end when negative."""
    begin = int(first) if first else 0
    single = last is None
    end = begin + 1 if last is None else int(last[1:]) if last[1:] else None
    step = int(step_text[1:]) if step_text and step_text[1:] else 1

    def cut(values: Values) -> Values:
        found: Values = []
        for value in values:
            if value is None:
                continue
            if not isinstance(value, list):
                raise PathError("An index is applied to what is no list.")
            size = len(value)
            low = begin + size if begin < 0 else begin
            high = size if end is None else end + size if end < 0 or (end == 0 and single) else end
            if low == high:
                return found
            if not (0 <= low < size and 0 <= high <= size and low < high and step > 0):
                raise PathError("An index is outside of its list.")
            found += value[low:high:step]
        return found

    return cut


def _elements(values: Values) -> Values:
    for value in values:
        if not isinstance(value, list):
            raise PathError("A filter is applied to what is no list.")
    return [element for value in values for element in value]


def _having(path: Path) -> Step:
    def step(values: Values) -> Values:
        found = []
        for element in _elements(values):
            try:
                reached = find(path, element)
            except PathError:
                continue
            if reached:
                found.append(element)
        return found

    return step


def _where(left: Path, compare: Callable[[Any, Any], bool], right: Path) -> Step:
    def step(values: Values) -> Values:
        return [element for element in _elements(values) if _passes(find(left, element), compare, find(right, element))]

    return step


def _passes(left: Values, compare: Callable[[Any, Any], bool], right: Values) -> bool:
    if not left or not right:
        return False
    if len(left) > 1 or len(right) > 1:
        raise PathError("A filter compares more than one value at a time.")
    one, other = left[0], right[0]
    ordered = compare not in (operator.eq, operator.ne)
    if type(one) is not type(other) or not isinstance(one, (str, int, float)) or (ordered and isinstance(one, bool)):
        raise PathError("A filter compares values of different types.")
    return compare(one, other)
