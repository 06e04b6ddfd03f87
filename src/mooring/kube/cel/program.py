"""Compiled expressions: closures that run an expression and count what it costs, as Kubernetes counts it.

Every step has a cost, and an expression that costs more than its limit is stopped, whatever it is doing. That is the
only thing between a hostile rule and the server, so nothing here takes long without a cost: the cost of a call is
known when it returns, and the arguments of a call are no larger than what was paid for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from mooring.kube.cel.checker import TYPE_NAMES, CheckedExpression, qualified_name
from mooring.kube.cel.errors import CelBudgetError, CelRuntimeError
from mooring.kube.cel.evaluation import Evaluation, LazyValue, Step
from mooring.kube.cel.functions import NO_SUCH_OVERLOAD, functions_named
from mooring.kube.cel.steps import (
    LIST_COST,
    SPECIAL,
    alternative,
    append,
    call,
    is_append,
    optional_selection,
    presence,
    raised,
    selection,
)
from mooring.kube.cel.syntax import CallNode, Comprehension, Ident, ListNode, Literal, MapNode, Select, SyntaxNode
from mooring.kube.cel.values import TypeValue, Uint, type_name
from mooring.kube.schemas.patterns import compile_pattern

__all__ = ["PER_CALL_LIMIT", "CelProgram"]

# What one evaluation of one expression may cost.
PER_CALL_LIMIT: Final = 1_000_000
_MAP_COST: Final = 30


class CelProgram:
    """A compiled expression. `uses` are the variables that it reads; `result` is the type of its value.

    `worst_cost` is what it costs at most on values of known sizes, 0 where that was not asked for.
    """

    __slots__ = ("_run", "result", "text", "uses", "worst_cost")

    def __init__(self, text: str, root: SyntaxNode, checked: CheckedExpression, worst_cost: int) -> None:
        self.text = text
        self.worst_cost = worst_cost
        self.result = checked.result
        self.uses = checked.uses
        self._run = _Compiler(checked).compile(root)

    def run(
        self, variables: Mapping[str, Any], limit: int = PER_CALL_LIMIT, patience: int | None = None
    ) -> tuple[Any, int]:
        """The value of the expression and what it cost. Raises CelRuntimeError, which has the cost too."""
        evaluation = Evaluation(variables, limit, patience)
        try:
            value = self._run(evaluation)
            evaluation.charge(0)
            return value, evaluation.cost
        except CelRuntimeError as error:
            error.cost = evaluation.cost
            raise
        except RecursionError:
            raise CelRuntimeError("the expression is nested too deeply") from None

    def evaluate(self, variables: Mapping[str, Any]) -> Any:
        return self.run(variables)[0]

    def holds(self, variables: Mapping[str, Any]) -> bool:
        """The value of a condition. Raises CelRuntimeError, also where the value turns out not to be a bool."""
        value = self.evaluate(variables)
        if isinstance(value, bool):
            return value
        raise CelRuntimeError(f"CEL result of type {type_name(value)} could not be converted to bool")


class _Compiler:
    def __init__(self, checked: CheckedExpression) -> None:
        self._checked = checked

    def compile(self, node: SyntaxNode) -> Step:
        return _STEPS[type(node)](self, node)

    def literal(self, node: Literal) -> Step:
        return Known(Uint(node.value) if node.kind == "uint" else node.value)

    def ident(self, node: Ident) -> Step:
        return self._name(node.name)

    def _name(self, name: str) -> Step:
        named = TYPE_NAMES.get(name)

        def step(evaluation: Evaluation) -> Any:
            variables = evaluation.variables
            if name in variables:
                evaluation.cost += 1
                value = variables[name]
                return value(evaluation) if value.__class__ is LazyValue else value
            if named is not None:
                return TypeValue(name)
            raise CelRuntimeError(f"no such attribute(s): {name}")

        return step

    def select(self, node: Select) -> Step:
        if node.id in self._checked.qualified:
            return self._name(qualified_name(node) or "")
        operand, field = self.compile(node.operand), node.field
        return presence(operand, field) if node.test else selection(operand, field)

    def call(self, node: CallNode) -> Step:
        name, arguments = node.function, [self.compile(each) for each in node.arguments]
        if node.target is None:
            special = SPECIAL.get(name)
            if special is not None:
                return special(*arguments)
            if name == "_?._":
                field = node.arguments[1]
                assert isinstance(field, Literal), "checked"
                return optional_selection(arguments[0], field.value)
            if name == "_+_" and is_append(node):
                element = node.arguments[1]
                assert isinstance(element, ListNode), "checked"
                return append(arguments[0], self.compile(element.elements[0]))
            return _folded(name, call(name, False, arguments), arguments)
        prefix = qualified_name(node.target)
        if prefix is not None and functions_named(f"{prefix}.{name}") is not None:
            return call(f"{prefix}.{name}", False, arguments)
        target = self.compile(node.target)
        if name in ("or", "orValue") and len(arguments) == 1:
            return alternative(target, arguments[0], name)
        return _folded(name, call(name, True, [target, *arguments]), arguments)

    def list(self, node: ListNode) -> Step:
        elements = [self.compile(each) for each in node.elements]
        optional = node.optional
        if all(isinstance(each, Known) for each in elements) and not optional:
            # A loop appends to its own list, so each time it is another one.
            return KnownList([each(_NOTHING) for each in elements])

        def step(evaluation: Evaluation) -> list[Any]:
            evaluation.charge(LIST_COST)
            if not optional:
                return [each(evaluation) for each in elements]
            made = []
            for index, each in enumerate(elements):
                value = each(evaluation)
                if index not in optional:
                    made.append(value)
                elif value.present:
                    made.append(value.value)
            return made

        return step

    def map(self, node: MapNode) -> Step:
        entries = [(self.compile(key), self.compile(value), optional) for key, value, optional in node.entries]
        if not entries:
            return lambda evaluation: {}

        def step(evaluation: Evaluation) -> dict[Any, Any]:
            evaluation.charge(_MAP_COST)
            made: dict[Any, Any] = {}
            for key, value, optional in entries:
                name, found = key(evaluation), value(evaluation)
                if optional:
                    if not found.present:
                        made.pop(name, None)
                        continue
                    found = found.value
                made[name] = found
            return made

        return step

    def comprehension(self, node: Comprehension) -> Step:
        items, start = self.compile(node.items), self.compile(node.start)
        condition, step, result = self.compile(node.condition), self.compile(node.step), self.compile(node.result)
        first, second, total = node.variable, node.second, node.accumulator

        def loop(evaluation: Evaluation) -> Any:
            found = items(evaluation)
            variables = evaluation.variables
            names = (first, second, total)
            before = {name: variables[name] for name in names if name in variables}
            variables[total] = start(evaluation)
            pairs: Iterable[tuple[Any, Any]]
            if isinstance(found, list):
                pairs = enumerate(found)
            elif isinstance(found, dict):
                pairs = found.items()
            else:
                raise CelRuntimeError(NO_SUCH_OVERLOAD)
            keyed = bool(second) or isinstance(found, dict)
            for key, value in pairs:
                variables[first] = key if keyed else value
                if second:
                    variables[second] = value
                if condition(evaluation) is False:
                    break
                try:
                    variables[total] = step(evaluation)
                except CelBudgetError:
                    raise
                except CelRuntimeError as error:
                    variables[total] = error
                evaluation.charge(0)
            for name in (first, second):
                variables.pop(name, None)
            made = result(evaluation)
            variables.pop(total, None)
            variables.update(before)
            return raised(made)

        return loop


class Known:
    """A step whose value is known before the expression runs, and which is free."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def __call__(self, _: Evaluation) -> Any:
        return self._value


class KnownList(Known):
    def __call__(self, _: Evaluation) -> list[Any]:
        return list(self._value)


def _folded(name: str, step: Step, arguments: list[Step]) -> Step:
    """A conversion of what is known is known too. Raises CelRuntimeError."""
    if not arguments or not isinstance(arguments[-1], Known):
        return step
    value = arguments[-1](_NOTHING)
    if name in _CONVERSIONS and len(arguments) == 1:
        return Known(step(Evaluation({}, PER_CALL_LIMIT)))
    if name == "_[_]" and value.__class__ not in _INDEXES:
        raise CelRuntimeError(f"invalid qualifier type: types.{value.__class__.__name__.capitalize()}")
    if name in _SEARCHES and value.__class__ is str:
        try:
            compile_pattern(value)
        except ValueError as error:
            raise CelRuntimeError(str(error)) from None
    return step


_SEARCHES: Final = frozenset({"find", "findAll", "matches"})
_INDEXES: Final = frozenset({bool, float, int, str, Uint})
_CONVERSIONS: Final = frozenset(
    {"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"}
)
# For steps that use no variable.
_NOTHING: Final = Evaluation({}, 0)
_STEPS: Final[Mapping[type[SyntaxNode], Callable[..., Step]]] = {
    Literal: _Compiler.literal,
    Ident: _Compiler.ident,
    Select: _Compiler.select,
    CallNode: _Compiler.call,
    ListNode: _Compiler.list,
    MapNode: _Compiler.map,
    Comprehension: _Compiler.comprehension,
}
