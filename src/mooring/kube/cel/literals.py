"""What is wrong with the literals of an expression whose types fit.

They are texts that are no duration, moment or pattern, lists and maps of several types, and what is handed to a format
that is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from mooring.kube.cel.checker import CheckedExpression
from mooring.kube.cel.errors import CelCompileError
from mooring.kube.cel.functions.conversions import duration_of, timestamp_of
from mooring.kube.cel.functions.formatting import COMPLAINTS, clauses
from mooring.kube.cel.syntax import (
    CallNode,
    Comprehension,
    ExpressionSource,
    ListNode,
    Literal,
    MapNode,
    Select,
    SyntaxNode,
)
from mooring.kube.cel.types import CelType
from mooring.kube.schemas.patterns import compile_pattern

__all__ = ["check_literals"]

_Complaint = tuple[SyntaxNode, str]
# Functions whose first argument is read before the expression runs, if it is a literal.
_READ: Final[Mapping[str, Callable[[Any], object]]] = {
    "duration": duration_of,
    "timestamp": timestamp_of,
    "matches": lambda text: compile_pattern(text),
}
# The types that a verb of a format takes.
_NUMBERS: Final = frozenset({"int", "uint"})
_FITTING: Final[Mapping[str, frozenset[str]]] = {
    "s": frozenset(
        {"list", "map", "int", "uint", "double", "bool", "string", "timestamp", "bytes", "duration", "type", "null"}
    ),
    "d": _NUMBERS,
    "f": frozenset({"double", "string"}),
    "e": frozenset({"double", "string"}),
    "b": _NUMBERS | {"bool"},
    "x": _NUMBERS | {"string", "bytes"},
    "X": _NUMBERS | {"string", "bytes"},
    "o": _NUMBERS,
}


def check_literals(root: SyntaxNode, source: ExpressionSource, checked: CheckedExpression) -> None:
    """Raises CelCompileError with every error, in the order of their places."""
    nodes = list(_nodes(root, formatted=False))
    found = [
        source.error(node.id, text)
        for check in (_readable, _one_type, _formats)
        for each, formatted in nodes
        for node, text in check(each, checked, formatted)
    ]
    if found:
        raise CelCompileError("\n".join(text for _, text in sorted(found, key=lambda error: error[0])))


def _nodes(node: SyntaxNode, *, formatted: bool) -> Iterator[tuple[SyntaxNode, bool]]:
    """Every node, and whether it is part of what is formatted."""
    waiting = [(node, formatted)]
    while waiting:
        node, formatted = waiting.pop()
        yield node, formatted
        below: tuple[SyntaxNode, ...] = ()
        if isinstance(node, CallNode):
            formatted = formatted or node.function == "format"
            below = (*(() if node.target is None else (node.target,)), *node.arguments)
        elif isinstance(node, Select):
            below = (node.operand,)
        elif isinstance(node, ListNode):
            below = node.elements
        elif isinstance(node, MapNode):
            below = tuple(each for key, value, _ in node.entries for each in (key, value))
        elif isinstance(node, Comprehension):
            below = (node.items, node.start, node.condition, node.step, node.result)
        waiting += [(each, formatted) for each in reversed(below)]


def _readable(node: SyntaxNode, _: CheckedExpression, __: bool) -> Iterator[_Complaint]:
    if not isinstance(node, CallNode) or node.function not in _READ or not node.arguments:
        return
    literal = node.arguments[0]
    if isinstance(literal, Literal):
        try:
            _READ[node.function](literal.value)
        except ValueError:
            yield literal, f"invalid {node.function} argument"


def _one_type(node: SyntaxNode, checked: CheckedExpression, formatted: bool) -> Iterator[_Complaint]:
    if formatted:
        return
    if isinstance(node, ListNode):
        known = None
        for index, element in enumerate(node.elements):
            found = _type(element, checked, optional=index in node.optional)
            known = known or found
            if found != known:
                yield element, _unlike(known, found)
                return
    elif isinstance(node, MapNode) and node.entries:
        first, one, mark = node.entries[0]
        keys, values = _type(first, checked), _type(one, checked, optional=mark)
        for key, value, optional in node.entries[1:]:
            if (found := _type(key, checked)) != keys:
                yield key, _unlike(keys, found)
            if (found := _type(value, checked, optional=optional)) != values:
                yield value, _unlike(values, found)


def _type(node: SyntaxNode, checked: CheckedExpression, *, optional: bool = False) -> CelType:
    found = checked.type_of(node)
    return found.parameters[0] if optional and found.parameters else found


def _unlike(wanted: CelType, found: CelType) -> str:
    return f"expected type '{wanted}' but found '{found}'"


def _formats(node: SyntaxNode, checked: CheckedExpression, _: bool) -> Iterator[_Complaint]:
    if not isinstance(node, CallNode) or node.function != "format" or len(node.arguments) != 1:
        return
    pattern, given = node.target, node.arguments[0]
    if not isinstance(pattern, Literal) or pattern.kind != "string" or not isinstance(given, ListNode):
        return
    used = 0
    try:
        for clause in clauses(pattern.value, len(given.elements)):
            if isinstance(clause, str):
                continue
            verb, _precision = clause
            argument, used = given.elements[used], used + 1
            wrong = _unwritable(argument, checked) if verb == "s" else None
            if verb != "s" and not _fits(argument, verb, checked):
                wrong = argument
            if wrong is not None:
                yield wrong, f"error during formatting: {COMPLAINTS[verb]}, was given {_name(checked.type_of(wrong))}"
                return
    except ValueError as error:
        yield node, str(error)
        return
    if len(given.elements) > used:
        yield node, f"too many arguments supplied to string.format (expected {used}, got {len(given.elements)})"


def _fits(node: SyntaxNode, verb: str, checked: CheckedExpression) -> bool:
    kind = checked.type_of(node).kind
    return kind == "dyn" or kind in _FITTING[verb]


def _unwritable(node: SyntaxNode, checked: CheckedExpression) -> SyntaxNode | None:
    """The first part that cannot be written out."""
    if not _fits(node, "s", checked):
        return node
    inner: tuple[SyntaxNode, ...] = ()
    if isinstance(node, ListNode):
        inner = node.elements
    elif isinstance(node, MapNode):
        inner = tuple(each for key, value, _ in node.entries for each in (key, value))
    return next((wrong for each in inner if (wrong := _unwritable(each, checked)) is not None), None)


def _name(kind: CelType) -> str:
    return kind.name or {"null": "null_type", "duration": "google.protobuf.Duration"}.get(
        kind.kind, "google.protobuf.Timestamp" if kind.kind == "timestamp" else kind.kind
    )
