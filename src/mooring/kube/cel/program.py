"""Compiled expressions: closures that run an expression and count what it costs, as Kubernetes counts it.

Every step has a cost, and an expression that costs more than its limit is stopped, whatever it is doing. That is the
only thing between a hostile rule and the server, so nothing here takes long without a cost: the cost of a call is
known when it returns, and the arguments of a call are no larger than what was paid for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from mooring.kube.cel.checker import TYPE_NAMES, Checked, qualified_name
from mooring.kube.cel.errors import OVER_BUDGET, CelBudgetError, CelRuntimeError
from mooring.kube.cel.functions import NO_SUCH_OVERLOAD, Function, functions_named
from mooring.kube.cel.macros import ACCUMULATOR
from mooring.kube.cel.syntax import Call, Comprehension, Ident, ListNode, Literal, MapNode, Node, Select
from mooring.kube.cel.types import CelType, type_of
from mooring.kube.cel.values import (
    OPAQUE_CLASSES,
    CelOptional,
    Duration,
    Timestamp,
    TypeValue,
    Uint,
    equal,
    type_name,
)

__all__ = ["PER_CALL_LIMIT", "CelProgram", "Evaluation"]

# What one evaluation of one expression may cost.
PER_CALL_LIMIT: Final = 1_000_000
_LIST_COST: Final = 10
_MAP_COST: Final = 30
_OPAQUE_COST: Final = 1


class Evaluation:
    """One run of an expression."""

    __slots__ = ("cost", "limit", "variables")

    def __init__(self, variables: Mapping[str, Any], limit: int) -> None:
        self.variables = dict(variables)
        self.cost = 0
        self.limit = limit

    def charge(self, cost: int) -> None:
        self.cost += cost
        if self.cost > self.limit:
            raise CelBudgetError(OVER_BUDGET)


Step = Callable[[Evaluation], Any]


class CelProgram:
    """A compiled expression. `uses` are the variables that it reads; `result` is the type of its value."""

    __slots__ = ("_run", "result", "text", "uses")

    def __init__(self, text: str, root: Node, checked: Checked) -> None:
        self.text = text
        self.result = checked.result
        self.uses = checked.uses
        self._run = _Compiler(checked).compile(root)

    def run(self, variables: Mapping[str, Any], limit: int = PER_CALL_LIMIT) -> tuple[Any, int]:
        """The value of the expression and what it cost. Raises CelRuntimeError, which has the cost too."""
        evaluation = Evaluation(variables, limit)
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
    def __init__(self, checked: Checked) -> None:
        self._checked = checked

    def compile(self, node: Node) -> Step:
        return _STEPS[type(node)](self, node)

    def literal(self, node: Literal) -> Step:
        value = Uint(node.value) if node.kind == "uint" else node.value
        return lambda evaluation: value

    def ident(self, node: Ident) -> Step:
        return self._name(node.name)

    def _name(self, name: str) -> Step:
        named = TYPE_NAMES.get(name)

        def step(evaluation: Evaluation) -> Any:
            evaluation.cost += 1
            variables = evaluation.variables
            if name in variables:
                value = variables[name]
                return value(evaluation) if value.__class__ is LazyValue else value
            if named is not None:
                return TypeValue(_NAMES_OF_TYPES.get(name, name))
            raise CelRuntimeError(f"no such attribute(s): {name}")

        return step

    def select(self, node: Select) -> Step:
        name = qualified_name(node)
        known = self._checked.types.get(node.id)
        if name is not None and name in TYPE_NAMES and known == type_of(TYPE_NAMES[name]):
            return self._name(name)
        operand, field = self.compile(node.operand), node.field
        return _presence(operand, field) if node.test else _selection(operand, field)

    def call(self, node: Call) -> Step:
        name, arguments = node.function, [self.compile(each) for each in node.arguments]
        if node.target is None:
            special = _SPECIAL.get(name)
            if special is not None:
                return special(*arguments)
            if name == "_?._":
                field = node.arguments[1]
                assert isinstance(field, Literal), "checked"
                return _optional_selection(arguments[0], field.value)
            if name == "_+_" and _is_append(node):
                element = node.arguments[1]
                assert isinstance(element, ListNode), "checked"
                return _append(arguments[0], self.compile(element.elements[0]))
            return _call(name, False, arguments)
        prefix = qualified_name(node.target)
        if prefix is not None and functions_named(f"{prefix}.{name}") is not None:
            return _call(f"{prefix}.{name}", False, arguments)
        return _call(name, True, [self.compile(node.target), *arguments])

    def list(self, node: ListNode) -> Step:
        elements = [self.compile(each) for each in node.elements]
        optional = node.optional

        def step(evaluation: Evaluation) -> list[Any]:
            evaluation.charge(_LIST_COST)
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

        def step(evaluation: Evaluation) -> dict[Any, Any]:
            evaluation.charge(_MAP_COST)
            made = {}
            for key, value, optional in entries:
                name, found = key(evaluation), value(evaluation)
                if optional:
                    if not found.present:
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
            return _raised(made)

        return loop


class LazyValue:
    """A variable whose value is found when it is first asked for; what that costs is paid by the expression."""

    __slots__ = ("_find", "_found")

    def __init__(self, find: Callable[[int], tuple[Any, int]]) -> None:
        self._find = find
        self._found: tuple[Any] | CelRuntimeError | None = None

    def __call__(self, evaluation: Evaluation) -> Any:
        if self._found is None:
            try:
                value, cost = self._find(evaluation.limit - evaluation.cost)
            except CelRuntimeError as error:
                self._found = error
                evaluation.charge(error.cost)
            else:
                self._found = (value,)
                evaluation.charge(cost)
        if isinstance(self._found, CelRuntimeError):
            raise self._found
        assert self._found is not None, "just found"
        return self._found[0]


# The types of Go's values have other names than the words for them.
_NAMES_OF_TYPES: Final[Mapping[str, str]] = {}


def _raised(value: Any) -> Any:
    if isinstance(value, CelRuntimeError):
        raise value
    return value


def _selection(operand: Step, field: str) -> Step:
    def step(evaluation: Evaluation) -> Any:
        value = operand(evaluation)
        evaluation.cost += 1
        if value.__class__ is dict:
            try:
                return value[field]
            except KeyError:
                raise CelRuntimeError(f"no such key: {field}", field) from None
        if value.__class__ is CelOptional:
            return _field_of_optional(value, field)
        raise CelRuntimeError(f"no such key: {field}", field)

    return step


def _field_of_optional(value: CelOptional, field: str) -> CelOptional:
    if not value.present:
        return value
    if not isinstance(value.value, dict):
        raise CelRuntimeError(NO_SUCH_OVERLOAD)
    return CelOptional(value.value[field], present=True) if field in value.value else CelOptional()


def _optional_selection(operand: Step, field: str) -> Step:
    def step(evaluation: Evaluation) -> CelOptional:
        value = operand(evaluation)
        evaluation.cost += 1
        optional = value if value.__class__ is CelOptional else CelOptional(value, present=True)
        return _field_of_optional(optional, field)

    return step


def _presence(operand: Step, field: str) -> Step:
    def step(evaluation: Evaluation) -> bool:
        value = operand(evaluation)
        if value.__class__ is CelOptional:
            if not value.present:
                return False
            value = value.value
        if value.__class__ is dict:
            return field in value
        raise CelRuntimeError(NO_SUCH_OVERLOAD)

    return step


def _is_append(node: Call) -> bool:
    """Whether a list that a loop builds gets one more item, for which it need not be copied."""
    one, other = node.arguments
    plain = isinstance(other, ListNode) and len(other.elements) == 1 and not other.optional
    return isinstance(one, Ident) and one.name == ACCUMULATOR and plain


def _append(total: Step, element: Step) -> Step:
    def step(evaluation: Evaluation) -> Any:
        made = _raised(total(evaluation))
        made.append(element(evaluation))
        evaluation.charge(_LIST_COST + 1)
        return made

    return step


def _and(one: Step, other: Step) -> Step:
    def step(evaluation: Evaluation) -> bool:
        left = _tried(one, evaluation)
        if left is False:
            return False
        right = _tried(other, evaluation)
        if right is False:
            return False
        if left is True and right is True:
            return True
        raise _first_error(left, right)

    return step


def _or(one: Step, other: Step) -> Step:
    def step(evaluation: Evaluation) -> bool:
        left = _tried(one, evaluation)
        if left is True:
            return True
        right = _tried(other, evaluation)
        if right is True:
            return True
        if left is False and right is False:
            return False
        raise _first_error(left, right)

    return step


def _tried(step: Step, evaluation: Evaluation) -> Any:
    """The value, or the error in its place."""
    try:
        return step(evaluation)
    except CelBudgetError:
        raise
    except CelRuntimeError as error:
        return error


def _first_error(*values: Any) -> CelRuntimeError:
    found = next((value for value in values if isinstance(value, CelRuntimeError)), None)
    return found or CelRuntimeError(NO_SUCH_OVERLOAD)


def _conditional(test: Step, one: Step, other: Step) -> Step:
    def step(evaluation: Evaluation) -> Any:
        found = test(evaluation)
        if found is True:
            return one(evaluation)
        if found is False:
            return other(evaluation)
        raise _raised(found) if isinstance(found, CelRuntimeError) else CelRuntimeError(NO_SUCH_OVERLOAD)

    return step


def _not(operand: Step) -> Step:
    def step(evaluation: Evaluation) -> bool:
        value = _raised(operand(evaluation))
        evaluation.cost += 1
        if value is True or value is False:
            return not value
        raise CelRuntimeError(NO_SUCH_OVERLOAD)

    return step


def _not_strictly_false(operand: Step) -> Step:
    def step(evaluation: Evaluation) -> bool:
        evaluation.cost += 1
        return _tried(operand, evaluation) is not False

    return step


def _equality(one: Step, other: Step, wanted: bool) -> Step:
    def step(evaluation: Evaluation) -> bool:
        left, right = one(evaluation), other(evaluation)
        if left.__class__ is str and right.__class__ is str:
            evaluation.cost += -(-min(len(left), len(right)) // 10)
            return (left == right) is wanted
        evaluation.charge(_comparison_cost(_raised(left), _raised(right)))
        return equal(left, right) is wanted

    return step


def _comparison_cost(one: Any, other: Any) -> int:
    """Kubernetes pays for the lengths alone; here what is nested is paid for too, since it is looked at."""
    if isinstance(one, list | dict) and isinstance(other, list | dict):
        items = one.values() if isinstance(one, dict) else one
        return 1 + sum(_weight(item) for item in items)
    if isinstance(one, str | bytes) and isinstance(other, str | bytes):
        return -(-min(len(one), len(other)) // 10)
    return 1


def _weight(value: Any) -> int:
    if isinstance(value, list):
        return 1 + sum(map(_weight, value))
    if isinstance(value, dict):
        return 1 + sum(map(_weight, value.values()))
    return len(value) // 10 if isinstance(value, str | bytes) else 0


def _call(name: str, member: bool, arguments: list[Step]) -> Step:
    functions = [
        each for each in functions_named(name) or () if each.member is member and len(each.parameters) == len(arguments)
    ]
    known: dict[tuple[type, ...], Function] = {}

    def step(evaluation: Evaluation) -> Any:
        values = [each(evaluation) for each in arguments]
        classes = tuple([value.__class__ for value in values])
        function = known.get(classes)
        if function is None:
            function = known[classes] = _overload(functions, values)
        try:
            result = function.call(*values)
        except CelRuntimeError:
            raise
        except KeyError as error:
            (key,) = error.args
            raise CelRuntimeError(f"no such key: {key}", key if isinstance(key, str) else None) from None
        except (TypeError, AttributeError):
            raise CelRuntimeError(NO_SUCH_OVERLOAD) from None
        except Exception as error:
            raise CelRuntimeError(str(error)) from None
        evaluation.charge(1 if function.cost is None else function.cost(values, result))
        return result

    return step


def _overload(functions: list[Function], values: list[Any]) -> Function:
    for value in values:
        _raised(value)
    for function in functions:
        if all(map(_is_of, values, function.parameter_types)):
            return function
    raise CelRuntimeError(NO_SUCH_OVERLOAD)


def _is_of(value: Any, kind: CelType) -> bool:
    wanted = _CLASSES.get(kind.kind)
    if wanted is not None:
        return value.__class__ is wanted or (wanted is list and isinstance(value, list))
    if kind.kind == "opaque":
        return value.__class__ is OPAQUE_CLASSES.get(kind.name)
    return True


_CLASSES: Final[Mapping[str, type]] = {
    "null": type(None),
    "bool": bool,
    "int": int,
    "uint": Uint,
    "double": float,
    "string": str,
    "bytes": bytes,
    "list": list,
    "map": dict,
    "duration": Duration,
    "timestamp": Timestamp,
    "type": TypeValue,
}
_SPECIAL: Final[Mapping[str, Callable[..., Step]]] = {
    "_&&_": _and,
    "_||_": _or,
    "_?_:_": _conditional,
    "!_": _not,
    "@not_strictly_false": _not_strictly_false,
    "_==_": lambda one, other: _equality(one, other, True),
    "_!=_": lambda one, other: _equality(one, other, False),
}
_STEPS: Final[Mapping[type[Node], Callable[..., Step]]] = {
    Literal: _Compiler.literal,
    Ident: _Compiler.ident,
    Select: _Compiler.select,
    Call: _Compiler.call,
    ListNode: _Compiler.list,
    MapNode: _Compiler.map,
    Comprehension: _Compiler.comprehension,
}
