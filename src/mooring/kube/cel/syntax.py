"""The syntax tree of an expression, as the library parses it.

The library has the grammar of Kubernetes' own CEL, with the same words for what cannot be parsed. It gives the tree as
a protobuf message (cel.expr.ParsedExpr), of which this module reads what is needed. Types, values and costs are
Mooring's own (`checker.py`, `program.py`): the library knows neither Kubernetes' types nor what an expression costs.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from mooring.kube.cel.errors import CelCompileError, plain

if TYPE_CHECKING:
    from cel_expr_python import cel

__all__ = [
    "CallNode",
    "Comprehension",
    "ExpressionSource",
    "Ident",
    "ListNode",
    "Literal",
    "MapNode",
    "Select",
    "StructNode",
    "SyntaxNode",
    "parse",
]

_WORDS: Final = (
    (re.compile(r"\nERROR: <input>:4294967295:0: <<nil>> parsetree"), ""),
    (re.compile(r"\\u003F"), "?"),
    (re.compile(r"has\(\) argument must be a field selection"), "invalid argument to has() macro"),
    (re.compile(r"(?:map|filter)\(\) variable name must be a simple identifier"), "argument is not an identifier"),
    (re.compile(r"[a-z_]+\(\) variable name must be a simple identifier"), "argument must be a simple name"),
)
# The library nests and chains this deep; Kubernetes goes to 250.
_DEEPEST: Final = 32
_TOO_DEEP: Final = re.compile("recursion (?:depth|limit)")
# As many characters as Kubernetes' parser takes.
MAX_LENGTH: Final = 100_000


@dataclass(frozen=True, slots=True)
class SyntaxNode:
    """One node; `id` is unique in the expression, up to macros that repeat their arguments."""

    id: int


@dataclass(frozen=True, slots=True)
class Literal(SyntaxNode):
    kind: str
    value: Any


@dataclass(frozen=True, slots=True)
class Ident(SyntaxNode):
    name: str


@dataclass(frozen=True, slots=True)
class Select(SyntaxNode):
    """`operand.field`, or `has(operand.field)` with `test`."""

    operand: SyntaxNode
    field: str
    test: bool


@dataclass(frozen=True, slots=True)
class CallNode(SyntaxNode):
    function: str
    target: SyntaxNode | None
    arguments: tuple[SyntaxNode, ...]


@dataclass(frozen=True, slots=True)
class ListNode(SyntaxNode):
    elements: tuple[SyntaxNode, ...]
    optional: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class MapNode(SyntaxNode):
    """Entries are key, value and whether the value is optional."""

    entries: tuple[tuple[SyntaxNode, SyntaxNode, bool], ...]


@dataclass(frozen=True, slots=True)
class StructNode(SyntaxNode):
    name: str


@dataclass(frozen=True, slots=True)
class Comprehension(SyntaxNode):
    """A loop; `second` is the name of the second variable, or empty."""

    variable: str
    second: str
    items: SyntaxNode
    accumulator: str
    start: SyntaxNode
    condition: SyntaxNode
    step: SyntaxNode
    result: SyntaxNode


class ExpressionSource:
    """The text of an expression, and where in it the nodes are."""

    __slots__ = ("_positions", "text")

    def __init__(self, text: str, positions: dict[int, int]) -> None:
        self.text = text
        self._positions = positions

    def place(self, node: int, like: int) -> None:
        """Say that a node that a macro makes stands where another one does."""
        self._positions[node] = self._positions.get(like, 0)

    def error(self, node: int, message: str) -> tuple[tuple[int, int], str]:
        """The place of an error and its text with the line that it is about."""
        return self._error_at(self._positions.get(node, 0), message)

    def brace_error(self, node: int, message: str) -> tuple[tuple[int, int], str]:
        """The same for an object that is made, which is told by its brace."""
        return self._error_at(self.text.index("{", self._positions.get(node, 0)), message)

    def _error_at(self, offset: int, message: str) -> tuple[tuple[int, int], str]:
        before = self.text[:offset]
        line, column = before.count("\n"), offset - (before.rfind("\n") + 1)
        shown = self.text.split("\n")[line].replace("\t", " ")
        # What is not ASCII is taken for wide.
        pointer = "".join("." if letter.isascii() else "\uff0e" for letter in shown[:column])
        pointer += "^" if shown[column : column + 1].isascii() else "\uff3e"
        return (line, column), f"ERROR: <input>:{line + 1}:{column + 1}: {message}\n | {shown}\n | {pointer}"


def parse(text: str, *, bindings: bool = False) -> tuple[SyntaxNode, ExpressionSource]:
    """The tree of an expression; `bindings` lets it use cel.bind. Raises CelCompileError."""
    if len(text) > MAX_LENGTH:
        raise CelCompileError(
            f"ERROR: <input>:-1:0: expression code point size exceeds limit: size: {len(text)}, limit {MAX_LENGTH}"
        )
    try:
        message = _parser(bindings).compile(text, disable_check=True).serialize()
    except RuntimeError as error:
        raise CelCompileError(_in_words_of_go(plain(str(error)))) from None
    # An Any around a ParsedExpr.
    parsed = dict(_fields(_field(message, 2)))
    return _node(parsed[2]), ExpressionSource(text, _positions(parsed.get(3, b"")))


def _in_words_of_go(text: str) -> str:
    """What is wrong, where the library has other words for it than Go's."""
    if _TOO_DEEP.search(text):
        return f"ERROR: <input>:-1:0: expression recursion limit exceeded: {_DEEPEST}"
    for told, words in _WORDS:
        text = told.sub(words, text)
    return text


@cache
def _parser(bindings: bool) -> cel.Env:
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_bindings, ext_optional

    extensions = [ext_optional.ExtOptional(), *([ext_bindings.ExtBindings()] if bindings else [])]
    return cel.NewEnv(variables={}, extensions=extensions)


# Protobuf


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    at, end = 0, len(data)
    while at < end:
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _varint(data, at)
            yield number, value
        elif wire == 2:
            size, at = _varint(data, at)
            yield number, data[at : at + size]
            at += size
        else:
            size = 8 if wire == 1 else 4
            yield number, data[at : at + size]
            at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _field(data: bytes, number: int) -> bytes:
    return next((value for found, value in _fields(data) if found == number), b"")


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _positions(info: bytes) -> dict[int, int]:
    found = {}
    for number, entry in _fields(info):
        if number == 4:
            pair = dict(_fields(entry))
            found[pair.get(1, 0)] = pair.get(2, 0)
    return found


def _node(data: bytes) -> SyntaxNode:
    identifier, kind, body = 0, 0, b""
    for number, value in _fields(data):
        if number == 2:
            identifier = value
        else:
            kind, body = number, value
    return _BUILDERS[kind](identifier, body)


def _literal(identifier: int, data: bytes) -> SyntaxNode:
    for number, value in _fields(data):
        if number == 1:
            return Literal(identifier, "null", None)
        if number == 2:
            return Literal(identifier, "bool", bool(value))
        if number == 3:
            return Literal(identifier, "int", _signed(value))
        if number == 4:
            return Literal(identifier, "uint", value)
        if number == 5:
            return Literal(identifier, "double", struct.unpack("<d", value)[0])
        if number == 6:
            return Literal(identifier, "string", value.decode())
        if number == 7:
            return Literal(identifier, "bytes", bytes(value))
    return Literal(identifier, "null", None)


def _ident(identifier: int, data: bytes) -> SyntaxNode:
    return Ident(identifier, _field(data, 1).decode().removeprefix("."))


def _select(identifier: int, data: bytes) -> SyntaxNode:
    found = dict(_fields(data))
    return Select(identifier, _node(found[1]), found.get(2, b"").decode(), bool(found.get(3, 0)))


def _call(identifier: int, data: bytes) -> SyntaxNode:
    target, function, arguments = None, "", []
    for number, value in _fields(data):
        if number == 1:
            target = _node(value)
        elif number == 2:
            function = value.decode().removeprefix(".")
        else:
            arguments.append(_node(value))
    return CallNode(identifier, function, target, tuple(arguments))


def _list(identifier: int, data: bytes) -> SyntaxNode:
    elements, optional = [], set()
    for number, value in _fields(data):
        if number == 1:
            elements.append(_node(value))
        elif isinstance(value, int):
            optional.add(value)
        else:
            at = 0
            while at < len(value):
                index, at = _varint(value, at)
                optional.add(index)
    return ListNode(identifier, tuple(elements), frozenset(optional))


def _struct(identifier: int, data: bytes) -> SyntaxNode:
    name, entries = "", []
    for number, value in _fields(data):
        if number == 1:
            name = value.decode()
        else:
            entry = dict(_fields(value))
            if 3 in entry:
                entries.append((_node(entry[3]), _node(entry[4]), bool(entry.get(5, 0))))
    return StructNode(identifier, name) if name else MapNode(identifier, tuple(entries))


def _comprehension(identifier: int, data: bytes) -> SyntaxNode:
    found = dict(_fields(data))
    return Comprehension(
        identifier,
        found.get(1, b"").decode(),
        found.get(8, b"").decode(),
        _node(found[2]),
        found[3].decode(),
        _node(found[4]),
        _node(found[5]),
        _node(found[6]),
        _node(found[7]),
    )


_BUILDERS: Final = {
    3: _literal,
    4: _ident,
    5: _select,
    6: _call,
    7: _list,
    8: _struct,
    9: _comprehension,
}
