"""What calls could cost, and how large what they return could be, as Kubernetes estimates them.

The estimates are part of the API: they decide which rules a definition may have. So they are Kubernetes' own to the
digit, also where they seem odd. A function that is not named here costs 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from mooring.kube.cel.estimates.ranges import ONE, UNKNOWN, UNLIMITED, CostRange, exactly
from mooring.kube.cel.functions.model import PATTERN_FACTOR, STRING_FACTOR, Function
from mooring.kube.cel.syntax import Literal, SyntaxNode
from mooring.kube.cel.types import CelType

__all__ = ["CallOperand", "EstimatedCall", "estimate_call"]

# Characters of an address, and of the largest named format and its pattern.
_ADDRESS: Final = CostRange(4, 16)
_LARGEST_FORMAT: Final = 64
_LARGEST_PATTERN: Final = 128
_LIST_COST: Final = 10
_WIDEST_CHARACTER: Final = 4


@dataclass(frozen=True, slots=True)
class CallOperand:
    """A target or an argument. `items` is the size of each of its items, where a schema tells it."""

    node: SyntaxNode
    type: CelType
    known: CostRange | None
    items: CostRange | None

    @property
    def size(self) -> CostRange:
        return self.known or UNKNOWN

    @property
    def reading(self) -> CostRange:
        """The cost of going over its characters."""
        return self.size.times(STRING_FACTOR)

    def number(self, otherwise: int) -> int:
        """Its value, if it is written in the expression."""
        if isinstance(self.node, Literal) and self.node.kind == "int":
            return max(0, int(self.node.value))
        return otherwise


class EstimatedCall(NamedTuple):
    """What a call itself could cost, without its arguments, and the size of what it returns, if that is more than
    what its type tells."""

    cost: CostRange
    size: CostRange | None = None


Target = CallOperand | None
Estimator = Callable[[Function, Target, list[CallOperand]], EstimatedCall | None]


def estimate_call(name: str, function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall:
    """The estimate for one overload of a function. Logical operators, whose cost is that of their arguments, and the
    choice between two values are left to the caller."""
    estimator = _ESTIMATORS.get(name)
    found = None if estimator is None else estimator(function, target, arguments)
    return found or EstimatedCall(ONE)


def _reads_argument(times: float = 1, *, same_size: bool = False) -> Estimator:
    def estimate(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall:
        size = arguments[0].size
        return EstimatedCall(size.times(times * STRING_FACTOR), size if same_size else None)

    return estimate


def _reads_target(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall | None:
    return None if target is None else EstimatedCall(target.reading, target.size)


def _formatted(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall | None:
    return None if target is None else EstimatedCall(target.reading)


def _every_item(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall | None:
    if target is None:
        return None
    if not target.type.parameters:
        return EstimatedCall(target.reading)
    each = ONE
    if target.type.parameters[0].kind in ("string", "bytes"):
        each += (target.items or UNKNOWN).times(STRING_FACTOR)
    return EstimatedCall(target.size * each)


def _replaced(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall | None:
    if target is None or len(arguments) < 2:
        return None
    text, old, new = target.size, arguments[0].size, arguments[1].size
    most, kept_most = _most_replaced(text.most, old.least, new.most)
    least, kept_least = _least_replaced(text.least, old.most, new.least)
    size = CostRange(least, most) * new + CostRange(kept_least, kept_most)
    return EstimatedCall(text.times(2 * STRING_FACTOR), size)


def _most_replaced(text: int, old: int, new: int) -> tuple[int, int]:
    """How many pieces are replaced where the result is longest, and how many characters are kept."""
    if old == 0:
        # Between all characters, and at both ends.
        return min(text + 1, UNLIMITED), text
    return (0, text) if new <= old else (-(-text // old), 0)


def _least_replaced(text: int, old: int, new: int) -> tuple[int, int]:
    """The same where the result is shortest."""
    if old == 0:
        return min(text + 1, UNLIMITED), text
    return (0, text) if old <= new else (-(-text // old), 0)


def _split(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall | None:
    if target is None:
        return None
    most = arguments[1].number(target.size.most) if len(arguments) > 1 else target.size.most
    return EstimatedCall(target.size.times(2 * STRING_FACTOR), CostRange(0, most))


def _joined(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall | None:
    if target is None:
        return None
    items, size = target.size, CostRange(0, 0)
    if target.type.parameters:
        size = items * (target.items or UNKNOWN)
    if arguments:
        size += arguments[0].size * CostRange(max(0, items.least - 1), max(0, items.most - 1))
    return EstimatedCall(size.times(STRING_FACTOR), size)


def _searched(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall | None:
    found = _matched(function, target, arguments)
    return None if found is None or target is None else EstimatedCall(found.cost, CostRange(0, target.size.most))


def _matched(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall | None:
    if target is None or not arguments:
        return None
    return EstimatedCall((target.size + ONE).times(STRING_FACTOR) * arguments[0].size.times(PATTERN_FACTOR))


def _contained(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall | None:
    return None if target is None else EstimatedCall(target.reading * arguments[0].reading)


def _address(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall | None:
    """`ip` is a part of a range of addresses too."""
    return EstimatedCall(arguments[0].reading) if arguments else None


def _address_inside(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall:
    cost = (_ADDRESS + _ADDRESS).times(STRING_FACTOR)
    return EstimatedCall(cost + arguments[0].reading if function.parameters[1] == "string" else cost)


def _range_inside(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall:
    found = _address_inside(function, target, arguments)
    return EstimatedCall(found.cost + _ADDRESS.times(STRING_FACTOR) + ONE)


def _format_matched(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall:
    return EstimatedCall(arguments[0].reading.times(_LARGEST_PATTERN * PATTERN_FACTOR))


def _to_bytes(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall | None:
    if function.parameters != ("string",):
        return None
    size = arguments[0].size
    return EstimatedCall(arguments[0].reading, CostRange(size.least, size.most * _WIDEST_CHARACTER & UNLIMITED))


def _to_string(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall | None:
    if function.parameters != ("bytes",):
        return None
    size = arguments[0].size
    return EstimatedCall(arguments[0].reading, CostRange(size.least // _WIDEST_CHARACTER, size.most))


def _quoted(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall:
    size = arguments[0].size
    return EstimatedCall(arguments[0].reading, CostRange(size.least + 2, size.most * 2 + 2 & UNLIMITED))


def _in(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall | None:
    return EstimatedCall(arguments[1].size) if function.parameters[1].startswith("list") else None


def _added(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall | None:
    kind = function.parameters[0]
    if kind not in ("string", "bytes", "list<A>"):
        return None
    size = arguments[0].size + arguments[1].size
    return EstimatedCall(ONE if kind == "list<A>" else size.times(STRING_FACTOR), size)


def _compared(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall:
    shorter = min(arguments[0].size.most, arguments[1].size.most)
    return EstimatedCall(CostRange(min(1, shorter), shorter).times(STRING_FACTOR))


def _ordered(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall | None:
    return _compared(function, target, arguments) if function.parameters[0] in ("string", "bytes") else None


def _equal(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall:
    one, other = arguments
    if one.type == other.type and one.type.kind == "opaque":
        if one.type.name in _COMPARED_AT_ONCE:
            return EstimatedCall(ONE)
        if one.type.name == "kubernetes.NamedFormat":
            return EstimatedCall(CostRange(1, _LARGEST_FORMAT).times(STRING_FACTOR))
        if one.type.name == "kubernetes.URL":
            return EstimatedCall(CostRange(1, (other.known or ONE).most).times(STRING_FACTOR))
    return _compared(function, target, arguments)


def _set(factor: float) -> Estimator:
    def estimate(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall:
        return EstimatedCall((arguments[0].size * arguments[1].size).times(factor) + ONE)

    return estimate


def _made_list(size: CostRange, factor: float = 1) -> EstimatedCall:
    return EstimatedCall(size.times(factor) + ONE + exactly(_LIST_COST), size)


def _sliced(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall | None:
    if target is None:
        return None
    count = arguments[1].number(target.size.most) - arguments[0].number(0)
    return _made_list(exactly(count & UNLIMITED))


def _range(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall:
    return _made_list(exactly(arguments[0].number(UNLIMITED)))


def _reversed(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall | None:
    return None if target is None else _made_list(target.size)


def _flattened(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall | None:
    if target is None:
        return None
    return _made_list(target.size, arguments[0].number(UNLIMITED) if arguments else 1)


def _distinct(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall | None:
    return None if target is None else _made_list(target.size * target.size, 2)


def _sorted(function: Function, target: Target, arguments: list[CallOperand]) -> EstimatedCall | None:
    keys = arguments[0] if arguments else target
    if keys is None:
        return None
    texts = function.parameters[-1] in ("list<string>", "list<bytes>")
    return _made_list(keys.size * keys.size, 2 + STRING_FACTOR if texts else 2)


_COMPARED_AT_ONCE: Final = ("net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver")

_ESTIMATORS: Final[Mapping[str, Estimator]] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _every_item),
    **dict.fromkeys(("url", "jsonpatch.escapeKey"), _reads_argument(same_size=True)),
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim"), _reads_target),
    **dict.fromkeys(("find", "findAll"), _searched),
    **dict.fromkeys(("cidr", "isIP", "isCIDR"), _reads_argument()),
    **dict.fromkeys(("quantity", "isQuantity", "semver", "isSemver"), _reads_argument()),
    **dict.fromkeys(("startsWith", "endsWith"), _reads_argument()),
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _ordered),
    **dict.fromkeys(("sets.contains", "sets.intersects"), _set(1)),
    **dict.fromkeys(("sort", "@sortByAssociatedKeys"), _sorted),
    "replace": _replaced,
    "split": _split,
    "join": _joined,
    "matches": _matched,
    "contains": _contained,
    "ip": _address,
    "ip.isCanonical": _reads_argument(2),
    "containsIP": _address_inside,
    "containsCIDR": _range_inside,
    "validate": _format_matched,
    "format": _formatted,
    "bytes": _to_bytes,
    "string": _to_string,
    "strings.quote": _quoted,
    "@in": _in,
    "_+_": _added,
    "_==_": _equal,
    "_!=_": _compared,
    "sets.equivalent": _set(2),
    "slice": _sliced,
    "lists.range": _range,
    "reverse": _reversed,
    "flatten": _flattened,
    "distinct": _distinct,
}
