"""The walk over a checked expression that adds up what its parts could cost.

A part that is a piece of a variable is known by its path from there (`self`, `spec`, `@items`), and a schema tells how
large that can be. The size of anything else comes from what made it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from mooring.kube.cel.checker import CheckedExpression, qualified_name
from mooring.kube.cel.estimates.calls import CallOperand, EstimatedCall, estimate_call
from mooring.kube.cel.estimates.ranges import NOTHING, ONE, UNKNOWN, CostRange, exactly
from mooring.kube.cel.syntax import CallNode, Comprehension, Ident, ListNode, Literal, MapNode, Select, SyntaxNode
from mooring.kube.cel.types import CelType

__all__ = ["Path", "SizeOf", "worst_cost"]

Path = tuple[str, ...]
# How large the value at a path can be, or None where nothing is known of it.
SizeOf = Callable[[Path], CostRange | None]

_LIST_COST: Final = exactly(10)
_MAP_COST: Final = exactly(30)
_ACCUMULATORS: Final = ("__result__", "@result")
_SCALARS: Final = frozenset({"bool", "double", "duration", "int", "timestamp", "uint"})


def worst_cost(root: SyntaxNode, checked: CheckedExpression, size_of: SizeOf) -> int:
    """What the expression costs at most."""
    return _Estimate(checked, size_of).cost(root).most


class _Entries(NamedTuple):
    """The sizes of the keys and values of a list or map that the expression makes."""

    container: str
    key: CostRange
    value: CostRange


@dataclass(frozen=True, slots=True)
class _Local:
    """A variable of a loop."""

    path: Path
    size: CostRange | None
    entries: _Entries | None = None


class _Estimate:
    def __init__(self, checked: CheckedExpression, size_of: SizeOf) -> None:
        self._checked = checked
        self._size_of = size_of
        self._paths: dict[int, Path] = {}
        self._sizes: dict[int, CostRange] = {}
        self._entries: dict[int, _Entries] = {}
        self._locals: dict[str, list[_Local]] = {}

    def cost(self, node: SyntaxNode) -> CostRange:
        return _COSTS[type(node)](self, node)

    def literal(self, node: Literal) -> CostRange:
        return NOTHING

    def ident(self, node: Ident) -> CostRange:
        local = self._local(node)
        self._paths[node.id] = (node.name,) if local is None else local.path
        return ONE

    def select(self, node: Select) -> CostRange:
        if node.id in self._checked.qualified:
            self._paths[node.id] = (qualified_name(node) or "",)
            return ONE
        cost = self.cost(node.operand)
        if node.test:
            return cost
        self._paths[node.id] = (*self._path(node.operand), node.field)
        return cost + ONE if self._type(node.operand).kind in ("map", "object") else cost

    def call(self, node: CallNode) -> CostRange:
        resolved = self._checked.calls[node.id]
        if resolved.name == "dyn":
            (argument,) = node.arguments
            cost = self.cost(argument) + ONE
            self._copy_sizes(node, argument)
            return cost
        costs = [self.cost(each) for each in node.arguments]
        arguments = [self._operand(each) for each in node.arguments]
        before, target = NOTHING, None
        if resolved.member and node.target is not None:
            before, target = self.cost(node.target), self._operand(node.target)
        spent = sum(costs, NOTHING)
        if resolved.name in ("_&&_", "_||_"):
            # The second may never be looked at.
            return before + CostRange(costs[0].least, spent.most)
        if resolved.name == "_?_:_":
            return before + self._choice(node, costs)
        found = [estimate_call(resolved.name, each, target, arguments) for each in resolved.functions]
        around, size = self._together(found or [EstimatedCall(ONE)])
        if resolved.name == "_+_":
            self._keep_entries(node, self._joined_entries(node.arguments[0], node.arguments[1]))
        if resolved.name == "_[_]":
            size = self._index(node, [each.parameters[0] for each in resolved.functions])
        if size is None:
            size = self._size(node)
        if size is not None:
            self._sizes[node.id] = size
        return before + around + spent

    @staticmethod
    def _together(found: list[EstimatedCall]) -> tuple[CostRange, CostRange | None]:
        """One estimate that covers all overloads that may be meant."""
        cost, size = found[0]
        for other in found[1:]:
            cost |= other.cost
            if other.size is not None:
                size = other.size if size is None else size | other.size
        return cost, size

    def _choice(self, node: CallNode, costs: list[CostRange]) -> CostRange:
        _, one, other = node.arguments
        self._sizes[node.id] = (self._size(one) or UNKNOWN) | (self._size(other) or UNKNOWN)
        self._keep_entries(node, self._joined_entries(one, other))
        return costs[0] + (costs[1] | costs[2])

    def _index(self, node: CallNode, containers: list[str]) -> CostRange | None:
        container = node.arguments[0]
        for kind, step in (("list<A>", "@items"), ("map<A,B>", "@values")):
            if kind in containers:
                self._paths[node.id] = (*self._path(container), step)
        entries = self._entries_of(container)
        return None if entries is None else entries.value

    def list(self, node: ListNode) -> CostRange:
        cost, size = NOTHING, None
        for element in node.elements:
            cost += self.cost(element)
            found = self._size(element) or UNKNOWN
            size = found if size is None else size | found
        self._entries[node.id] = _Entries("list", ONE, size or NOTHING)
        return cost + _LIST_COST

    def map(self, node: MapNode) -> CostRange:
        cost, keys, values = NOTHING, None, None
        for key, value, _ in node.entries:
            cost = cost + self.cost(key) + self.cost(value)
            key_size, value_size = self._size(key) or UNKNOWN, self._size(value) or UNKNOWN
            keys = key_size if keys is None else keys | key_size
            values = value_size if values is None else values | value_size
        self._entries[node.id] = _Entries("map", keys or NOTHING, values or NOTHING)
        return cost + _MAP_COST

    def comprehension(self, node: Comprehension) -> CostRange:
        if _only_names(node):
            return self._binding(node)
        cost = self.cost(node.items) + self.cost(node.start)
        started = _Local(self._path(node.start), self._size(node.start), self._entries_of(node.start))
        names = {node.accumulator: started, **self._loop_variables(node)}
        self._push(names)
        each = self.cost(node.condition) + self.cost(node.step)
        self._pop(name for name in names if name != node.accumulator)
        cost += self.cost(node.result)
        self._pop((node.accumulator,))
        times = self._size(node.items) or UNKNOWN
        if isinstance(node.start, Literal):
            self._keep_size(node, self._size(node.start))
        elif isinstance(node.start, ListNode | MapNode):
            self._sizes[node.id] = times
            self._keep_entries(node, self._entries_of(node.step))
        return cost + times * each

    def _loop_variables(self, node: Comprehension) -> dict[str, _Local]:
        path, entries = self._path(node.items), self._entries_of(node.items)
        listed = (self._type(node.items).kind if entries is None else entries.container) == "list"
        key = _Local((*path, "@indices" if listed else "@keys"), None if entries is None else entries.key)
        value = _Local((*path, "@items" if listed else "@values"), None if entries is None else entries.value)
        if node.second:
            return {node.variable: key, node.second: value}
        return {node.variable: value if listed else key}

    def _binding(self, node: Comprehension) -> CostRange:
        cost = self.cost(node.items) + self.cost(node.start)
        named = _Local(self._path(node.start), self._size(node.start), self._entries_of(node.start))
        self._push({node.accumulator: named})
        cost += self.cost(node.result)
        self._pop((node.accumulator,))
        self._copy_sizes(node, node.result)
        return cost

    def _push(self, names: Mapping[str, _Local]) -> None:
        for name, local in names.items():
            self._locals.setdefault(name, []).append(local)

    def _pop(self, names: Iterable[str]) -> None:
        for name in names:
            self._locals[name].pop()

    def _local(self, node: SyntaxNode) -> _Local | None:
        if isinstance(node, Ident) and self._locals.get(node.name):
            return self._locals[node.name][-1]
        return None

    def _operand(self, node: SyntaxNode) -> CallOperand:
        path = self._path(node)
        if path and path[0] in _ACCUMULATORS:
            path = ()
        items = self._size_of((*path, "@items")) if path else None
        return CallOperand(node, self._type(node), self._size(node), items)

    def _type(self, node: SyntaxNode) -> CelType:
        return self._checked.type_of(node)

    def _path(self, node: SyntaxNode) -> Path:
        local = self._local(node)
        return self._paths.get(node.id, ()) if local is None else local.path

    def _size(self, node: SyntaxNode) -> CostRange | None:
        if node.id in self._sizes:
            return self._sizes[node.id]
        written = _written_size(node)
        if written is not None:
            return written
        path = self._path(node)
        found = self._size_of(path) if path else None
        if found is not None:
            self._sizes[node.id] = found
            return found
        if _is_scalar(self._type(node)):
            return ONE
        local = self._local(node)
        return None if local is None else local.size

    def _keep_size(self, node: SyntaxNode, size: CostRange | None) -> None:
        if size is not None:
            self._sizes[node.id] = size

    def _entries_of(self, node: SyntaxNode) -> _Entries | None:
        found = self._entries.get(node.id)
        if found is not None:
            return found
        local = self._local(node)
        return None if local is None else local.entries

    def _keep_entries(self, node: SyntaxNode, entries: _Entries | None) -> None:
        if entries is not None:
            self._entries[node.id] = entries

    def _joined_entries(self, one: SyntaxNode, other: SyntaxNode) -> _Entries | None:
        left, right = self._entries_of(one), self._entries_of(other)
        if left is None or right is None:
            return None
        return _Entries(left.container, left.key | right.key, left.value | right.value)

    def _copy_sizes(self, node: SyntaxNode, source: SyntaxNode) -> None:
        self._keep_size(node, self._size(source))
        self._keep_entries(node, self._entries_of(source))


def _only_names(node: Comprehension) -> bool:
    """Whether the loop runs over nothing and only gives a value a name."""
    empty = isinstance(node.items, ListNode) and not node.items.elements
    never = isinstance(node.condition, Literal) and node.condition.value is False
    return empty and never and node.accumulator != _ACCUMULATORS[0]


def _written_size(node: SyntaxNode) -> CostRange | None:
    if isinstance(node, Literal):
        return exactly(len(node.value) if isinstance(node.value, str | bytes) else 1)
    if isinstance(node, ListNode):
        return exactly(len(node.elements))
    return exactly(len(node.entries)) if isinstance(node, MapNode) else None


def _is_scalar(kind: CelType) -> bool:
    return _is_scalar(kind.parameters[0]) if kind.is_optional else kind.kind in _SCALARS


_COSTS: Final[Mapping[type[SyntaxNode], Callable[..., CostRange]]] = {
    Literal: _Estimate.literal,
    Ident: _Estimate.ident,
    Select: _Estimate.select,
    CallNode: _Estimate.call,
    ListNode: _Estimate.list,
    MapNode: _Estimate.map,
    Comprehension: _Estimate.comprehension,
}
