"""Expressions over declared variables: compiled once with their types checked, evaluated many times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from mooring.kube.cel.checker import CheckedExpression, check
from mooring.kube.cel.errors import CelCompileError
from mooring.kube.cel.estimates.estimate import SizeOf, worst_cost
from mooring.kube.cel.functions.times import read_duration, read_timestamp
from mooring.kube.cel.macros import expand
from mooring.kube.cel.program import CelProgram
from mooring.kube.cel.syntax import (
    CallNode,
    Comprehension,
    ExpressionSource,
    ListNode,
    Literal,
    MapNode,
    Select,
    SyntaxNode,
    parse,
)
from mooring.kube.cel.types import CelType, parse_type
from mooring.kube.schemas.patterns import compile_pattern

__all__ = ["CelProgram", "Environment"]

_FAILED: Final = "compilation failed: "
# Functions whose literal arguments are read before the expression runs.
_LITERALS: Final[Mapping[str, tuple[int, Callable[[str], object]]]] = {
    "duration": (0, read_duration),
    "timestamp": (0, read_timestamp),
    "matches": (-1, compile_pattern),
}


class Environment:
    """The variables of some expressions, by name, each with its type or the short form of one.

    `bindings` lets expressions name values with cel.bind, which Kubernetes allows for devices only.
    """

    def __init__(self, variables: Mapping[str, CelType | str], *, bindings: bool = False) -> None:
        self._variables = {
            name: parse_type(kind) if isinstance(kind, str) else kind for name, kind in variables.items()
        }
        self._bindings = bindings

    def with_variables(self, variables: Mapping[str, CelType]) -> Environment:
        """The same with more variables."""
        return Environment({**self._variables, **variables}, bindings=self._bindings)

    def compile(self, expression: str, size_of: SizeOf | None = None) -> CelProgram:
        """Raises CelCompileError. `size_of` tells the sizes of variables and their parts, to estimate a cost."""
        try:
            root, source = parse(expression, bindings=self._bindings)
            root = expand(root, source)
            checked = check(root, source, self._variables)
            _check_literals(root, source, checked)
            return CelProgram(expression, root, checked, 0 if size_of is None else worst_cost(root, checked, size_of))
        except CelCompileError as error:
            raise CelCompileError(f"{_FAILED}{error.message}") from None
        except RecursionError:
            raise CelCompileError(f"{_FAILED}the expression is nested too deeply") from None

    def condition(self, expression: str) -> CelProgram:
        """The same for an expression whose value is a bool, as far as its type is known."""
        program = self.compile(expression)
        if program.result.kind not in ("bool", "dyn"):
            raise CelCompileError(f"must evaluate to bool or the unknown type, not {program.result}")
        return program


def _check_literals(root: SyntaxNode, source: ExpressionSource, checked: CheckedExpression) -> None:
    errors: list[tuple[tuple[int, int], str]] = []
    for node in _nodes(root):
        if isinstance(node, CallNode) and node.function in _LITERALS and node.arguments:
            position, read = _LITERALS[node.function]
            literal = node.arguments[position]
            if isinstance(literal, Literal) and literal.kind == "string":
                try:
                    read(literal.value)
                except ValueError:
                    errors.append(source.error(literal.id, f"invalid {node.function} argument"))
    if errors:
        raise CelCompileError("\n".join(text for _, text in sorted(errors)))


def _nodes(root: SyntaxNode) -> list[SyntaxNode]:
    found, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        found.append(node)
        if isinstance(node, CallNode):
            waiting += (*node.arguments, *(() if node.target is None else (node.target,)))
        elif isinstance(node, Select):
            waiting.append(node.operand)
        elif isinstance(node, ListNode):
            waiting += node.elements
        elif isinstance(node, MapNode):
            waiting += (each for key, value, _ in node.entries for each in (key, value))
        elif isinstance(node, Comprehension):
            waiting += (node.items, node.start, node.condition, node.step, node.result)
    return found
