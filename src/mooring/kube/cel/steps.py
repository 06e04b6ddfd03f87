"""The steps of compiled expressions, one closure for each kind of node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from mooring.kube.cel.errors import CelBudgetError, CelRuntimeError
from mooring.kube.cel.evaluation import Evaluation, LazyValue, Step
from mooring.kube.cel.functions import NO_SUCH_OVERLOAD, Function, functions_named
from mooring.kube.cel.functions.conversions import double_text
from mooring.kube.cel.macros import ACCUMULATOR
from mooring.kube.cel.syntax import CallNode, Ident, ListNode
from mooring.kube.cel.types import CelType
from mooring.kube.cel.values import OPAQUE_CLASSES, CelOptional, Duration, Timestamp, TypeValue, Uint, equal, type_name

__all__ = [
    "LIST_COST",
    "SPECIAL",
    "alternative",
    "append",
    "call",
    "is_append",
    "optional_selection",
    "presence",
    "raised",
    "selection",
]

LIST_COST: Final = 10


def raised(value: Any) -> Any:
    if isinstance(value, CelRuntimeError):
        raise value
    return value


def selection(operand: Step, field: str) -> Step:
    def step(evaluation: Evaluation) -> Any:
        value = operand(evaluation)
        evaluation.cost += 1
        if value.__class__ is dict:
            try:
                found = value[field]
            except KeyError:
                raise CelRuntimeError(f"no such key: {field}", field) from None
            return found(evaluation) if found.__class__ is LazyValue else found
        if value.__class__ is CelOptional:
            return _field_of_optional(value, field)
        if isinstance(value, list):
            raise CelRuntimeError("unsupported index type 'string' in list")
        raise CelRuntimeError(f"no such key: {field}", field)

    return step


def _field_of_optional(value: CelOptional, field: str) -> CelOptional:
    if not value.present:
        return value
    if not isinstance(value.value, dict):
        raise CelRuntimeError(NO_SUCH_OVERLOAD)
    return CelOptional(value.value[field], present=True) if field in value.value else CelOptional()


def optional_selection(operand: Step, field: str) -> Step:
    def step(evaluation: Evaluation) -> CelOptional:
        value = operand(evaluation)
        evaluation.cost += 1
        optional = value if value.__class__ is CelOptional else CelOptional(value, present=True)
        return _field_of_optional(optional, field)

    return step


def presence(operand: Step, field: str) -> Step:
    def step(evaluation: Evaluation) -> bool:
        value = operand(evaluation)
        if value.__class__ is CelOptional:
            if not value.present:
                return False
            value = value.value
        if value.__class__ is dict:
            return field in value
        if isinstance(value, list):
            raise CelRuntimeError("unsupported index type 'string' in list")
        raise CelRuntimeError(NO_SUCH_OVERLOAD)

    return step


def alternative(optional: Step, other: Step, name: str) -> Step:
    """`or` and `orValue`: what comes second is only looked at where there is no first."""

    def step(evaluation: Evaluation) -> Any:
        value = optional(evaluation)
        evaluation.charge(1)
        if value.__class__ is not CelOptional:
            raise CelRuntimeError(NO_SUCH_OVERLOAD)
        if not value.present:
            return other(evaluation)
        return value if name == "or" else value.value

    return step


def is_append(node: CallNode) -> bool:
    """Whether a list that a loop builds gets one more item, for which it need not be copied."""
    one, other = node.arguments
    plain = isinstance(other, ListNode) and len(other.elements) == 1 and not other.optional
    return isinstance(one, Ident) and one.name == ACCUMULATOR and plain


def append(total: Step, element: Step) -> Step:
    def step(evaluation: Evaluation) -> Any:
        made = raised(total(evaluation))
        made.append(element(evaluation))
        evaluation.charge(LIST_COST + 1)
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
        raise raised(found) if isinstance(found, CelRuntimeError) else CelRuntimeError(NO_SUCH_OVERLOAD)

    return step


def _not(operand: Step) -> Step:
    def step(evaluation: Evaluation) -> bool:
        value = raised(operand(evaluation))
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
        evaluation.charge(_comparison_cost(raised(left), raised(right)))
        return equal(left, right) is wanted

    return step


def _comparison_cost(one: Any, other: Any) -> int:
    """Kubernetes pays for the lengths alone; here what is nested is paid for too, since it is looked at."""
    if isinstance(one, list | dict) and isinstance(other, list | dict):
        items = one.values() if isinstance(one, dict) else one
        return -(-min(len(one), len(other)) // 10) + sum(_weight(item) for item in items)
    if isinstance(one, str | bytes) and isinstance(other, str | bytes):
        return -(-min(len(one), len(other)) // 10)
    return 1


def _weight(value: Any) -> int:
    if isinstance(value, list):
        return 1 + sum(map(_weight, value))
    if isinstance(value, dict):
        return 1 + sum(map(_weight, value.values()))
    return len(value) // 10 if isinstance(value, str | bytes) else 0


def call(name: str, member: bool, arguments: list[Step]) -> Step:
    functions = [
        each for each in functions_named(name) or () if each.member is member and len(each.parameters) == len(arguments)
    ]
    known: dict[tuple[type, ...], Function] = {}

    def step(evaluation: Evaluation) -> Any:
        values = [each(evaluation) for each in arguments]
        classes = tuple([value.__class__ for value in values])
        function = known.get(classes)
        if function is None:
            function = known[classes] = _overload(name, functions, values)
        try:
            result = function.call(*values)
        except CelRuntimeError:
            raise
        except KeyError as error:
            raise _missing(error.args[0]) from None
        except (TypeError, AttributeError):
            raise CelRuntimeError(NO_SUCH_OVERLOAD) from None
        except Exception as error:
            raise CelRuntimeError(str(error)) from None
        cost = 1 if function.cost is None else function.cost(values, result)
        if function.idle:
            evaluation.patience += cost
        evaluation.charge(cost)
        return result

    return step


def _overload(name: str, functions: list[Function], values: list[Any]) -> Function:
    for value in values:
        raised(value)
    for function in functions:
        if all(map(_is_of, values, function.parameter_types)):
            return function
    raise _unfit(name, values)


def _missing(key: Any) -> CelRuntimeError:
    shown = str(key).lower() if key.__class__ is bool else double_text(key) if key.__class__ is float else key
    return CelRuntimeError(f"no such key: {shown}", key if isinstance(key, str) else None)


def _unfit(name: str, values: list[Any]) -> CelRuntimeError:
    """What is wrong with values whose types were not known before."""
    if name == "_[_]":
        container, key = values
        if isinstance(container, list):
            return CelRuntimeError(f"unsupported index type '{type_name(key)}' in list")
        return _missing(key)
    able = _ABLE.get(name)
    if name in _UNGUARDED:
        return CelRuntimeError(NO_SUCH_OVERLOAD)
    if able is None:
        return CelRuntimeError(f"{NO_SUCH_OVERLOAD}: {name}({', '.join(map(type_name, values))})")
    return CelRuntimeError(NO_SUCH_OVERLOAD if type_name(values[0]) in able else f"{NO_SUCH_OVERLOAD}: {name}")


def _is_of(value: Any, kind: CelType) -> bool:
    wanted = _CLASSES.get(kind.kind)
    if wanted is not None:
        return value.__class__ is wanted or (wanted is list and isinstance(value, list))
    if kind.kind == "opaque":
        return value.__class__ is OPAQUE_CLASSES.get(kind.name)
    return True


_MOMENTS: Final = ("google.protobuf.Duration", "google.protobuf.Timestamp")
_NUMBERS: Final = ("int", "uint", "double")
_ORDERED: Final = frozenset({*_NUMBERS, *_MOMENTS, "bool", "bytes", "string"})
# The operators, with the types whose values have them, whatever stands on the other side.
_ABLE: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _ORDERED),
    "_+_": frozenset({*_NUMBERS, *_MOMENTS, "bytes", "list", "string"}),
    "_-_": frozenset({*_NUMBERS, *_MOMENTS}),
    **dict.fromkeys(("_*_", "_/_"), frozenset(_NUMBERS)),
    "_%_": frozenset({"int", "uint"}),
    "-_": frozenset({"int", "double", "google.protobuf.Duration"}),
    "size": frozenset({"bytes", "list", "map", "string"}),
}
# Functions that look at their arguments themselves.
_UNGUARDED: Final = frozenset({"contains", "endsWith", "matches", "startsWith"})
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
SPECIAL: Final[Mapping[str, Callable[..., Step]]] = {
    "_&&_": _and,
    "_||_": _or,
    "_?_:_": _conditional,
    "!_": _not,
    "@not_strictly_false": _not_strictly_false,
    "_==_": lambda one, other: _equality(one, other, True),
    "_!=_": lambda one, other: _equality(one, other, False),
}
