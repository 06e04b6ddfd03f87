"""Macros that the library does not expand: comprehensions with two variables, and sortBy.

A macro is a call by its shape, whatever is declared: `list.all(index, item, condition)` is never a function.
"""

from __future__ import annotations

from itertools import count
from typing import Final

from mooring.kube.cel.errors import CelCompileError
from mooring.kube.cel.syntax import (
    CallNode,
    Comprehension,
    ExpressionSource,
    Ident,
    ListNode,
    Literal,
    MapNode,
    Select,
    SyntaxNode,
)

__all__ = ["ACCUMULATOR", "MAP_INSERT", "expand"]

ACCUMULATOR: Final = "@result"
MAP_INSERT: Final = "cel.@mapInsert"
SORT_BY_KEYS: Final = "@sortByAssociatedKeys"
_SORTED: Final = "@__sortBy_input__"
# The macros, with how many arguments they take.
_TWO_VARIABLES: Final = {
    ("all", 3),
    ("exists", 3),
    ("existsOne", 3),
    ("exists_one", 3),
    ("transformList", 3),
    ("transformList", 4),
    ("transformMap", 3),
    ("transformMap", 4),
    ("transformMapEntry", 3),
    ("transformMapEntry", 4),
}
_SORTABLE: Final = (CallNode, Comprehension, Ident, ListNode, Select)
_SORTABLE_WORDS: Final = "a list, identifier, comprehension, call or select expression"
# Above those of any parsed node.
_FIRST_ID: Final = 1 << 40


def expand(root: SyntaxNode, source: ExpressionSource) -> SyntaxNode:
    """The tree with all macros expanded. Raises CelCompileError."""
    return _Expansion(source).expand(root)


class _Expansion:
    def __init__(self, source: ExpressionSource) -> None:
        self._source = source
        self._ids = count(_FIRST_ID)
        self._at = 0

    def _id(self) -> int:
        """Of a node that the macro makes, which stands where it does."""
        made = next(self._ids)
        self._source.place(made, self._at)
        return made

    def expand(self, node: SyntaxNode) -> SyntaxNode:
        expand = self.expand
        if isinstance(node, Select):
            return Select(node.id, expand(node.operand), node.field, node.test)
        if isinstance(node, CallNode):
            target = None if node.target is None else expand(node.target)
            made = CallNode(node.id, node.function, target, tuple(map(expand, node.arguments)))
            return made if target is None else self._macro(made, target)
        if isinstance(node, ListNode):
            return ListNode(node.id, tuple(map(expand, node.elements)), node.optional)
        if isinstance(node, MapNode):
            return MapNode(node.id, tuple((expand(key), expand(value), mark) for key, value, mark in node.entries))
        if isinstance(node, Comprehension):
            return Comprehension(
                node.id,
                node.variable,
                node.second,
                expand(node.items),
                node.accumulator,
                expand(node.start),
                expand(node.condition),
                expand(node.step),
                expand(node.result),
            )
        return node

    def _macro(self, call: CallNode, target: SyntaxNode) -> SyntaxNode:
        name, arguments = call.function, call.arguments
        self._at = call.id
        if name == "sortBy" and len(arguments) == 2:
            return self._sort_by(call, target, self._variable(arguments[0]), arguments[1])
        if (name, len(arguments)) not in _TWO_VARIABLES:
            return call
        first, second = self._variable(arguments[0]), self._variable(arguments[1])
        if first == second:
            raise self._error(arguments[1], f"duplicate variable name: {first}")
        if name in ("existsOne", "exists_one"):
            return self._exists_one(call, target, first, second, arguments[2])
        if name in ("all", "exists"):
            return self._quantifier(call, target, first, second, arguments[2])
        return self._transform(call, target, first, second, arguments[2:])

    def _quantifier(
        self, call: CallNode, target: SyntaxNode, first: str, second: str, condition: SyntaxNode
    ) -> SyntaxNode:
        every = call.function == "all"
        going = self._accumulator() if every else self._call("!_", self._accumulator())
        step = self._call("_&&_" if every else "_||_", self._accumulator(), condition)
        start = self._literal("bool", every)
        return self._loop(call, target, first, second, start, self._call("@not_strictly_false", going), step)

    def _exists_one(
        self, call: CallNode, target: SyntaxNode, first: str, second: str, condition: SyntaxNode
    ) -> SyntaxNode:
        counted = self._call("_+_", self._accumulator(), self._literal("int", 1))
        step = self._call("_?_:_", condition, counted, self._accumulator())
        result = self._call("_==_", self._accumulator(), self._literal("int", 1))
        start, always = self._literal("int", 0), self._literal("bool", True)
        return self._loop(call, target, first, second, start, always, step, result)

    def _transform(
        self, call: CallNode, target: SyntaxNode, first: str, second: str, rest: tuple[SyntaxNode, ...]
    ) -> SyntaxNode:
        made, start = rest[-1], MapNode(self._id(), ()) if "Map" in call.function else None
        if call.function == "transformList":
            step = self._call("_+_", self._accumulator(), ListNode(self._id(), (made,)))
        elif call.function == "transformMap":
            step = self._call(MAP_INSERT, self._accumulator(), Ident(self._id(), first), made)
        else:
            step = self._call(MAP_INSERT, self._accumulator(), made)
        if len(rest) == 2:
            step = self._call("_?_:_", rest[0], step, self._accumulator())
        always = self._literal("bool", True)
        return self._loop(call, target, first, second, start or ListNode(self._id(), ()), always, step)

    def _sort_by(self, call: CallNode, target: SyntaxNode, variable: str, key: SyntaxNode) -> SyntaxNode:
        if not isinstance(target, _SORTABLE):
            raise self._error(target, f"sortBy can only be applied to {_SORTABLE_WORDS}")
        items = Ident(self._id(), _SORTED)
        step = self._call("_+_", self._accumulator(), ListNode(self._id(), (key,)))
        start, always = ListNode(self._id(), ()), self._literal("bool", True)
        mapped = CallNode(self._id(), "map", None, ())
        keys = self._loop(mapped, items, variable, "", start, always, step)
        result = CallNode(self._id(), SORT_BY_KEYS, Ident(self._id(), _SORTED), (keys,))
        # A loop over nothing, which only gives the list a name.
        nothing, never = ListNode(self._id(), ()), self._literal("bool", False)
        kept = Ident(self._id(), _SORTED)
        return Comprehension(call.id, "#unused", "", nothing, _SORTED, target, never, kept, result)

    def _loop(
        self,
        call: CallNode,
        target: SyntaxNode,
        first: str,
        second: str,
        start: SyntaxNode,
        condition: SyntaxNode,
        step: SyntaxNode,
        result: SyntaxNode | None = None,
    ) -> SyntaxNode:
        result = result or self._accumulator()
        return Comprehension(call.id, first, second, target, ACCUMULATOR, start, condition, step, result)

    def _accumulator(self) -> SyntaxNode:
        return Ident(self._id(), ACCUMULATOR)

    def _literal(self, kind: str, value: object) -> SyntaxNode:
        return Literal(self._id(), kind, value)

    def _call(self, function: str, *arguments: SyntaxNode) -> SyntaxNode:
        return CallNode(self._id(), function, None, arguments)

    def _variable(self, node: SyntaxNode) -> str:
        if not isinstance(node, Ident):
            raise self._error(node, "argument must be a simple name")
        return node.name

    def _error(self, node: SyntaxNode, message: str) -> CelCompileError:
        return CelCompileError(self._source.error(node.id, message)[1])
