"""Expressions over declared variables: compiled once with their types checked, evaluated many times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mooring.kube.cel.checker import check
from mooring.kube.cel.errors import CelCompileError, CelRuntimeError
from mooring.kube.cel.estimates.estimate import SizeOf, worst_cost
from mooring.kube.cel.literals import check_literals
from mooring.kube.cel.macros import expand
from mooring.kube.cel.program import CelProgram
from mooring.kube.cel.syntax import parse
from mooring.kube.cel.types import CelType, parse_type

__all__ = ["CelProgram", "Environment"]

_FAILED: Final = "compilation failed: "
# Said of what has a value before the expression runs, and should not.
_UNPLANNED: Final = "program instantiation failed: "
_TOO_DEEP: Final = "the expression is nested too deeply"


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
            check_literals(root, source, checked)
        except CelCompileError as error:
            raise CelCompileError(f"{_FAILED}{error.message}") from None
        except RecursionError:
            raise CelCompileError(f"{_FAILED}{_TOO_DEEP}") from None
        try:
            return CelProgram(expression, root, checked, 0 if size_of is None else worst_cost(root, checked, size_of))
        except CelRuntimeError as error:
            raise CelCompileError(f"{_UNPLANNED}{error.message}") from None
        except RecursionError:
            raise CelCompileError(f"{_FAILED}{_TOO_DEEP}") from None

    def condition(self, expression: str) -> CelProgram:
        """The same for an expression whose value is a bool, as far as its type is known."""
        program = self.compile(expression)
        if program.result.kind not in ("bool", "dyn"):
            raise CelCompileError(f"must evaluate to bool or the unknown type, not {program.result}")
        return program
