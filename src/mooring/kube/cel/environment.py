"""Expressions over declared variables: compiled once with their types checked, evaluated many times.

An `Environment` has two sides. One knows the types as Kubernetes declares them and only checks; the other runs on types
as they come, with bytes in the place of quantities and versions (`values.py`). An expression is accepted by the first
and evaluated by the second.

What the library does not offer: a count of costs (it stops after ten thousand passes through loops instead), and
comprehensions with two variables. It would refuse `1 < 1.5`, which Kubernetes takes; that refusal is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from mooring.kube.cel.errors import CelCompileError, CelRuntimeError, compile_error, runtime_error
from mooring.kube.cel.functions import FUNCTIONS, NO_SUCH_OVERLOAD, Function
from mooring.kube.cel.values import OPAQUE, decode, encode

if TYPE_CHECKING:
    from cel_expr_python import cel

__all__ = ["CelProgram", "Environment"]

# One error of the checker, with the lines that point at its place.
_ERROR: Final = re.compile(r"ERROR: .*?(?=\nERROR: |\Z)", re.DOTALL)
_NUMBER: Final = "(?:u?int|double)"
_CROSS_TYPE: Final = re.compile(rf"no matching overload for '_[<>]=?_' applied to '\({_NUMBER}, {_NUMBER}\)'")
_OPAQUE: Final = re.compile("|".join(map(re.escape, OPAQUE)))
# What an expression may be if its value is to be a bool.
_CONDITIONS: Final = ("BOOL", "DYN")


class CelProgram:
    """A compiled expression."""

    __slots__ = ("_expression", "text")

    def __init__(self, text: str, expression: cel.Expression) -> None:
        self.text = text
        self._expression = expression

    def evaluate(self, variables: Mapping[str, Any]) -> Any:
        """The value of the expression. Raises CelRuntimeError."""
        try:
            found = self._expression.eval(data=variables)
        except RuntimeError as error:
            raise runtime_error(str(error)) from None
        if found.type().name() == "ERROR":
            raise runtime_error(str(found.value()))
        return found.plain_value()

    def holds(self, variables: Mapping[str, Any]) -> bool:
        """The value of a condition. Raises CelRuntimeError, also where the value turns out not to be a bool."""
        value = self.evaluate(variables)
        if isinstance(value, bool):
            return value
        raise CelRuntimeError(f"CEL result of type {_type_name(value)} could not be converted to bool")


class Environment:
    """The variables of some expressions, by name, each with its type: `{"device.driver": "string"}`.

    A name with a dot is a field of an object of which nothing else is known. Programs are given such objects as maps.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        fields = [re.escape(name) for name in variables if "." in name]
        # Fields that are declared are always there; the checker takes a name with a dot for one name and has() for its
        # value.
        self._has_field = re.compile(rf"has\(\s*(?:{'|'.join(fields)})\s*\)") if fields else None

    def compile(self, expression: str) -> CelProgram:
        """Raises CelCompileError."""
        self._check(expression)
        try:
            return CelProgram(expression, self._runner.compile(expression, disable_check=True))
        except RuntimeError as error:
            raise compile_error(str(error)) from None

    def condition(self, expression: str) -> CelProgram:
        """The same for an expression whose value is a bool, as far as its type is known."""
        result = self._check(expression)
        if result not in _CONDITIONS:
            raise CelCompileError(f"must evaluate to bool or the unknown type, not {result.lower()}")
        return CelProgram(expression, self._runner.compile(expression, disable_check=True))

    def _check(self, expression: str) -> str:
        """The type of the expression's value."""
        text = expression
        if self._has_field is not None:
            text = self._has_field.sub(lambda found: "true".ljust(len(found[0])), text)
        try:
            return str(self._checker.compile(text).return_type().name())
        except RuntimeError as error:
            found = compile_error(str(error))
        if all(_CROSS_TYPE.search(one) for one in _ERROR.findall(found.message) or [found.message]):
            return "DYN"
        raise found

    @cached_property
    def _checker(self) -> cel.Env:
        from cel_expr_python import cel

        overloads: dict[str, list[Any]] = {}
        for function in FUNCTIONS:
            overload = cel.Overload(
                f"{function.name}({', '.join(function.parameters)})",
                _declared(function.result),
                list(map(_declared, function.parameters)),
                is_member=function.member,
            )
            overloads.setdefault(function.name, []).append(overload)
        return _environment({name: _declared(kind) for name, kind in self._variables.items()}, overloads)

    @cached_property
    def _runner(self) -> cel.Env:
        from cel_expr_python import cel

        alike: dict[tuple[str, bool, tuple[str, ...]], list[Function]] = {}
        for function in FUNCTIONS:
            parameters = tuple(map(_run_time, function.parameters))
            alike.setdefault((function.name, function.member, parameters), []).append(function)
        overloads: dict[str, list[Any]] = {}
        for (name, member, parameters), functions in alike.items():
            overload = cel.Overload(
                f"{name}({', '.join(parameters)})",
                cel.Type(_run_time(functions[0].result)),
                list(map(cel.Type, parameters)),
                is_member=member,
                impl=_dispatched(functions),
            )
            overloads.setdefault(name, []).append(overload)
        roots = {name.partition(".")[0] for name in self._variables}
        return _environment({name: cel.Type("dyn") for name in sorted(roots)}, overloads)


def _environment(variables: dict[str, Any], overloads: dict[str, list[Any]]) -> cel.Env:
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_bindings, ext_optional, ext_strings

    extensions = [ext_bindings.ExtBindings(), ext_optional.ExtOptional(), ext_strings.ExtStrings()]
    functions = [cel.FunctionDecl(name, found) for name, found in overloads.items()]
    return cel.NewEnv(variables=variables, functions=functions, extensions=extensions)


def _declared(kind: str) -> Any:
    """A type as the checker knows it. The library takes any dotted name for that of a message unless told otherwise."""
    from cel_expr_python import cel

    if kind in OPAQUE:
        return cel.Type.AbstractType(kind)
    if kind.startswith("map<"):
        key, _, value = kind[len("map<") : -1].partition(",")
        return cel.Type.Map(_declared(key.strip()), _declared(value.strip()))
    if kind.startswith("list<"):
        return cel.Type.List(_declared(kind[len("list<") : -1]))
    return cel.Type(kind)


def _run_time(kind: str) -> str:
    """The type that stands for one while an expression runs, where all lists are alike."""
    return "list<dyn>" if kind.startswith("list<") else _OPAQUE.sub("bytes", kind)


def _dispatched(functions: list[Function]) -> Callable[..., Any]:
    """The function among those that look alike at run time whose types the arguments have."""

    def call(*arguments: Any) -> Any:
        values = list(map(decode, arguments))
        for function in functions:
            if all(map(_is_of, values, function.parameters)):
                return encode(function.call(*values))
        raise ValueError(NO_SUCH_OVERLOAD)

    return call


def _is_of(value: Any, kind: str) -> bool:
    return isinstance(value, OPAQUE[kind]) if kind in OPAQUE else not isinstance(value, tuple(OPAQUE.values()))


def _type_name(value: Any) -> str:
    """The name that CEL has for the type of a value which is no bool."""
    names = {str: "string", int: "int", float: "double", bytes: "bytes", dict: "map", list: "list"}
    return names.get(type(value), "null_type")
