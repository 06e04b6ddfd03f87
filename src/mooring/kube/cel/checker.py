"""The types of an expression, found before it runs, and what is wrong with them in the words of Kubernetes' checker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from mooring.kube.cel.errors import CelCompileError
from mooring.kube.cel.functions import Function, functions_named
from mooring.kube.cel.syntax import (
    CallNode,
    Comprehension,
    ExpressionSource,
    Ident,
    ListNode,
    Literal,
    MapNode,
    Select,
    StructNode,
    SyntaxNode,
)
from mooring.kube.cel.types import (
    BOOL,
    DYN,
    ERROR,
    INT,
    CelType,
    TypeBindings,
    list_of,
    map_of,
    most_general,
    optional_of,
    parse_type,
    type_of,
)

__all__ = ["TYPE_NAMES", "CheckedExpression", "ResolvedCall", "check", "qualified_name"]

# Names that are types.
TYPE_NAMES: Final[Mapping[str, CelType]] = {
    **{name: parse_type(name) for name in ("bool", "bytes", "double", "int", "string", "uint")},
    "null_type": parse_type("null"),
    "list": list_of(DYN),
    "map": map_of(DYN, DYN),
    "type": CelType("type"),
    "optional_type": optional_of(DYN),
    **dict.fromkeys(("duration", "google.protobuf.Duration"), parse_type("duration")),
    **dict.fromkeys(("timestamp", "google.protobuf.Timestamp"), parse_type("timestamp")),
    "net.IP": parse_type("net.IP"),
    "net.CIDR": parse_type("net.CIDR"),
    "kubernetes.URL": parse_type("kubernetes.URL"),
    "kubernetes.Quantity": parse_type("kubernetes.Quantity"),
    "kubernetes.Semver": parse_type("kubernetes.Semver"),
    "kubernetes.NamedFormat": parse_type("kubernetes.NamedFormat"),
}
# As many errors as are told of one expression.
_MAX_ERRORS: Final = 100


class ResolvedCall(NamedTuple):
    """What a call means: the name of a function, whether its target counts, and the overloads that fit."""

    name: str
    member: bool
    functions: tuple[Function, ...]


class CheckedExpression:
    """What is known of a checked expression: its value's type, the variables it uses, the selections that are one
    name with dots, and what its calls mean, by node."""

    __slots__ = ("_bindings", "_types", "calls", "qualified", "result", "uses")

    def __init__(self, checker: _Checker, root: CelType) -> None:
        self.result = checker.bindings.resolve(root, open_ends=True)
        self.uses = frozenset(checker.uses)
        self.qualified = frozenset(checker.qualified)
        self.calls: Mapping[int, ResolvedCall] = checker.calls
        self._types = checker.types
        self._bindings = checker.bindings

    def type_of(self, node: SyntaxNode) -> CelType:
        """The type of a part of the expression; nothing is known of the parts of a name with dots."""
        return self._bindings.resolve(self._types.get(node.id, DYN), open_ends=True)


def check(root: SyntaxNode, source: ExpressionSource, variables: Mapping[str, CelType]) -> CheckedExpression:
    """Raises CelCompileError with every error, in the order of their places."""
    checker = _Checker(source, variables)
    result = checker.check(root)
    if checker.errors:
        checker.errors.sort(key=lambda error: error[0])
        texts = [text for _, text in checker.errors[:_MAX_ERRORS]]
        if len(checker.errors) > _MAX_ERRORS:
            texts.append(f"{len(checker.errors) - _MAX_ERRORS} more errors were truncated")
        raise CelCompileError("\n".join(texts))
    return CheckedExpression(checker, result)


def qualified_name(node: SyntaxNode) -> str | None:
    """`a.b.c` as one name, if that is what the node is."""
    if isinstance(node, Ident):
        return node.name
    if isinstance(node, Select) and not node.test:
        head = qualified_name(node.operand)
        return None if head is None else f"{head}.{node.field}"
    return None


class _Checker:
    def __init__(self, source: ExpressionSource, variables: Mapping[str, CelType]) -> None:
        self.bindings = TypeBindings()
        self.errors: list[tuple[tuple[int, int], str]] = []
        self.qualified: set[int] = set()
        self.uses: set[str] = set()
        self.types: dict[int, CelType] = {}
        self.calls: dict[int, ResolvedCall] = {}
        self._source = source
        self._variables = variables
        self._scopes: list[dict[str, CelType]] = []

    def check(self, node: SyntaxNode) -> CelType:
        found = _CHECKS[type(node)](self, node)
        self.types[node.id] = found
        return found

    def _error(self, node: SyntaxNode, message: str) -> CelType:
        self.errors.append(self._source.error(node.id, message))
        return ERROR

    def _lookup(self, name: str) -> CelType | None:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        if name in self._variables:
            self.uses.add(name)
            return self._variables[name]
        named = TYPE_NAMES.get(name)
        return None if named is None else type_of(named)

    def _undeclared(self, node: SyntaxNode, name: str) -> CelType:
        return self._error(node, f"undeclared reference to '{name}' (in container '')")

    def literal(self, node: Literal) -> CelType:
        return parse_type(node.kind)

    def ident(self, node: Ident) -> CelType:
        found = self._lookup(node.name)
        return self._undeclared(node, node.name) if found is None else found

    def select(self, node: Select) -> CelType:
        name = qualified_name(node)
        known = self._lookup(name) if name is not None else None
        if known is not None:
            self.qualified.add(node.id)
            return known
        found = self._field(node, node.operand, node.field, optional=False)
        return BOOL if node.test else self.bindings.resolve(found)

    def _field(self, node: SyntaxNode, operand: SyntaxNode, name: str, *, optional: bool) -> CelType:
        target = self.bindings.resolve(self.check(operand))
        was_optional = target.is_optional
        if was_optional:
            target = target.parameters[0]
        if target.kind == "map":
            found = target.parameters[1]
        elif target.kind == "object" and target.fields is not None:
            found = target.fields.get(name) or self._error(node, f"undefined field '{name}'")
        elif target.kind == "parameter":
            self.bindings.assign((DYN,), (target,))
            found = DYN
        else:
            if target.kind == "opaque" and target.name.startswith("kubernetes."):
                self._error(node, f"unexpected failed resolution of '{target}'")
            elif not target.is_open:
                self._error(node, f"type '{target}' does not support field selection")
            found = DYN
        return optional_of(found) if was_optional or optional else found

    def call(self, node: CallNode) -> CelType:
        if node.function == "_?._":
            operand, field = node.arguments
            if not isinstance(field, Literal) or field.kind != "string":
                return self._error(field, f"unsupported optional field selection: {field}")
            self.calls[node.id] = ResolvedCall(node.function, False, ())
            return self.bindings.resolve(self._field(node, operand, field.value, optional=True))
        given = [self.check(each) for each in node.arguments]
        if node.target is None:
            functions = functions_named(node.function)
            if functions is None:
                return self._undeclared(node, node.function)
            return self._resolve(node, node.function, functions, given, None)
        prefix = qualified_name(node.target)
        if prefix is not None:
            name = f"{prefix}.{node.function}"
            functions = functions_named(name)
            if functions is not None:
                return self._resolve(node, name, functions, given, None)
        target = self.check(node.target)
        functions = functions_named(node.function)
        if functions is None:
            return self._undeclared(node, node.function)
        return self._resolve(node, node.function, functions, [target, *given], target)

    def _resolve(
        self,
        node: CallNode,
        name: str,
        functions: Sequence[Function],
        given: list[CelType],
        target: CelType | None,
    ) -> CelType:
        if name in ("_&&_", "_||_"):
            self.calls[node.id] = ResolvedCall(name, False, tuple(functions))
            return self._logical(node, given)
        result: CelType | None = None
        fitting = []
        for function in functions:
            if function.member != (target is not None):
                continue
            returned, *wanted = self.bindings.instance((function.result_type, *function.parameter_types))
            if self.bindings.assign(given, wanted):
                fitting.append(function)
                found = self.bindings.resolve(returned)
                if result is None:
                    result = found
                elif result.kind != "dyn" and result != found:
                    result = DYN
        if result is not None:
            self.calls[node.id] = ResolvedCall(name, target is not None, tuple(fitting))
            return result
        shown = [str(self.bindings.resolve(each, open_ends=True)) for each in given]
        if target is None:
            signature = f"({', '.join(shown)})"
        else:
            signature = f"{shown[0]}.({', '.join(shown[1:])})"
        return self._error(node, f"found no matching overload for '{name}' applied to '{signature}'")

    def _logical(self, node: CallNode, given: list[CelType]) -> CelType:
        wrong = False
        for argument, found in zip(node.arguments, given, strict=True):
            if not self.bindings.assign((found,), (BOOL,)):
                self._mismatch(argument, BOOL, found)
                wrong = True
        return ERROR if wrong else BOOL

    def _mismatch(self, node: SyntaxNode, wanted: CelType, found: CelType) -> CelType:
        return self._error(node, f"expected type '{wanted}' but found '{found}'")

    def list(self, node: ListNode) -> CelType:
        joined: CelType | None = None
        for index, element in enumerate(node.elements):
            found = self.check(element)
            if index in node.optional:
                found = self._unwrapped(element, found)
            joined = self._joined(joined, found)
        return list_of(joined or self.bindings.fresh())

    def _unwrapped(self, node: SyntaxNode, found: CelType) -> CelType:
        if found.is_optional:
            return found.parameters[0]
        if found.kind != "dyn":
            self._mismatch(node, optional_of(found), found)
        return found

    def _joined(self, known: CelType | None, found: CelType) -> CelType:
        """The type of an item, if it and those before it have one; that they must is looked at later."""
        if known is None:
            return found
        return most_general(known, found) if self.bindings.assign((known,), (found,)) else DYN

    def map(self, node: MapNode) -> CelType:
        key: CelType | None = None
        value: CelType | None = None
        for left, right, optional in node.entries:
            key = self._joined(key, self.check(left))
            found = self.check(right)
            value = self._joined(value, self._unwrapped(right, found) if optional else found)
        return map_of(key or self.bindings.fresh(), value or self.bindings.fresh())

    def struct(self, node: StructNode) -> CelType:
        message = f"undeclared reference to '{node.name}' (in container '')"
        self.errors.append(self._source.brace_error(node.id, message))
        return ERROR

    def comprehension(self, node: Comprehension) -> CelType:
        items = self.bindings.resolve(self.check(node.items))
        total = self.check(node.start)
        if items.kind == "list":
            element = items.parameters[0]
            names = {node.variable: INT, node.second: element} if node.second else {node.variable: element}
        elif items.kind == "map":
            names = {node.variable: items.parameters[0]}
            if node.second:
                names[node.second] = items.parameters[1]
        elif items.is_open or items.kind == "parameter":
            self.bindings.assign((DYN,), (items,))
            names = dict.fromkeys((node.variable, node.second), DYN)
        else:
            message = f"expression of type '{items}' cannot be range of a comprehension (must be list, map, or dynamic)"
            self._error(node.items, message)
            names = dict.fromkeys((node.variable, node.second), ERROR)
        self._scopes += ({node.accumulator: total}, names)
        # The condition is the macro's own, and always a bool; what its calls mean is needed for their cost.
        self.check(node.condition)
        self._assert(node.step, total, self.check(node.step))
        self._scopes.pop()
        result = self.check(node.result)
        self._scopes.pop()
        return self.bindings.resolve(result)

    def _assert(self, node: SyntaxNode, wanted: CelType, found: CelType) -> None:
        if not self.bindings.assign((wanted,), (found,)):
            self._mismatch(node, wanted, found)


_CHECKS: Final[Mapping[type[SyntaxNode], Callable[..., CelType]]] = {
    Literal: _Checker.literal,
    Ident: _Checker.ident,
    Select: _Checker.select,
    CallNode: _Checker.call,
    ListNode: _Checker.list,
    MapNode: _Checker.map,
    StructNode: _Checker.struct,
    Comprehension: _Checker.comprehension,
}
