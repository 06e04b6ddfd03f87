"""Every small fault that can be put into a source text: which bytes are replaced by what.

Docstrings, annotations, declarations of types, what is logged and sentences for people are left alone: a change there
either changes nothing that runs or only wording.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

KINDS = ("negated condition", "dropped statement", "changed constant", "swapped operator", "changed default")

# Replaced in pairs; the longer words first, so that "not in" is not taken for "in".
_OPERATORS = {
    ast.Lt: (r"<(?!=)", "<="),
    ast.LtE: (r"<=", "<"),
    ast.Gt: (r">(?!=)", ">="),
    ast.GtE: (r">=", ">"),
    ast.Eq: (r"==", "!="),
    ast.NotEq: (r"!=", "=="),
    ast.In: (r"\bin\b", "not in"),
    ast.NotIn: (r"\bnot\s+in\b", "in"),
    ast.Is: (r"\bis\b", "is not"),
    ast.IsNot: (r"\bis\s+not\b", "is"),
    ast.And: (r"\band\b", "or"),
    ast.Or: (r"\bor\b", "and"),
}
_LOGGERS = {"log", "logger", "logging", "_log", "_logger"}
# Calls whose strings only name a type or an object for people who debug.
_NAMING = {"cast", "TypeVar", "ParamSpec", "NewType", "ContextVar", "namedtuple"}
_UNMUTATED_NAMES = {"__all__", "__slots__", "__match_args__"}


@dataclass(frozen=True)
class Span:
    """Bytes of a source text."""

    start: int
    end: int


@dataclass(frozen=True)
class Mutation:
    """One fault: `text` instead of the bytes of `span`.

    `probe` is where a call says that the place was reached: an expression is wrapped, a statement gets it in front.
    A fault that acts while the module is imported has none.
    """

    path: Path
    line: int
    kind: str
    span: Span
    text: str
    probe: Span | None
    in_expression: bool
    in_line: str

    def applied(self, source: bytes) -> bytes:
        return source[: self.span.start] + self.text.encode() + source[self.span.end :]


def mutations(path: Path, source: bytes) -> list[Mutation]:
    """All faults of a module, in the order of their places."""
    tree = ast.parse(source)
    found = _Walk(path, source).module(tree)
    return sorted(found, key=lambda each: (each.span.start, each.span.end, each.kind))


class _Walk:
    """Goes through a syntax tree and knows at each node in which statement and function it stands."""

    def __init__(self, path: Path, source: bytes) -> None:
        self.path = path
        self.source = source
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def module(self, tree: ast.Module) -> Iterator[Mutation]:
        for statement in tree.body:
            yield from self.statement(statement, inside=False)

    def statement(self, node: ast.stmt, inside: bool) -> Iterator[Mutation]:
        """`inside`: within a function, so that it runs when a test calls it and not when the module is imported."""
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from self.function(node)
                return
            case ast.If(ast.Name("TYPE_CHECKING") | ast.Compare(ast.Name("__name__"))):
                return
            case ast.Import() | ast.ImportFrom() | ast.Assert():
                return
            case ast.Expr(ast.Constant()):
                return
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(name)))) if name in _LOGGERS:
                return
            case ast.Assign([ast.Name(name)]) if name in _UNMUTATED_NAMES:
                return
        if _can_be_dropped(node):
            probe = self.before(node) if inside else None
            yield self.mutation("dropped statement", self.span(node), "pass", probe)
        if isinstance(node, ast.If | ast.While):
            yield from self.negated(node.test, inside)
        for child in _children(node):
            if isinstance(child, ast.stmt):
                yield from self.statement(child, inside)
            else:
                yield from self.expression(child, inside, node)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Mutation]:
        body = [each for each in node.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
        entry = self.before(body[0]) if body else None
        if entry is not None:
            for default in [*node.args.defaults, *node.args.kw_defaults]:
                if isinstance(default, ast.Constant) and (text := _changed(default.value)) is not None:
                    yield self.mutation("changed default", self.span(default), text, entry)
        for statement in body:
            yield from self.statement(statement, inside=True)

    def expression(self, node: ast.AST, inside: bool, statement: ast.stmt) -> Iterator[Mutation]:
        match node:
            case ast.JoinedStr() | ast.Lambda() | ast.arguments() | ast.arg():
                return
            case ast.Call(ast.Name(name)) if name in _NAMING:
                return
            case ast.Call(ast.Attribute(ast.Name(name))) if name in _LOGGERS:
                return
            case ast.Subscript(ast.Name("Literal" | "Annotated")):
                return
            case ast.MatchValue(ast.Constant(value) as constant):
                if (text := _changed(value)) is not None:
                    probe = self.before(statement) if inside else None
                    yield self.mutation("changed constant", self.span(constant), text, probe)
                return
            case ast.pattern():
                return
            case ast.Constant(value):
                if (text := _changed(value)) is not None:
                    yield self.in_place("changed constant", node, self.span(node), text, inside)
                return
            case ast.Compare():
                operands = [node.left, *node.comparators]
                for index, operator in enumerate(node.ops):
                    yield from self.swapped(node, operator, operands[index], operands[index + 1], inside)
            case ast.BoolOp():
                for left, right in zip(node.values, node.values[1:], strict=False):
                    yield from self.swapped(node, node.op, left, right, inside)
            case ast.IfExp():
                yield from self.negated(node.test, inside)
            case ast.comprehension():
                for condition in node.ifs:
                    yield from self.negated(condition, inside)
            case ast.match_case():
                if node.guard is not None:
                    yield from self.negated(node.guard, inside)
        for child in _children(node):
            if isinstance(child, ast.stmt):
                yield from self.statement(child, inside)
            else:
                yield from self.expression(child, inside, statement)

    def negated(self, test: ast.expr, inside: bool) -> Iterator[Mutation]:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            text = self.text(self.span(test.operand))
            text = f"({text})" if isinstance(test.operand, ast.BoolOp | ast.Compare | ast.NamedExpr) else text
        else:
            text = f"not ({self.text(self.span(test))})"
        yield self.in_place("negated condition", test, self.span(test), text, inside)

    def swapped(
        self, whole: ast.expr, operator: ast.AST, left: ast.expr, right: ast.expr, inside: bool
    ) -> Iterator[Mutation]:
        pattern, other = _OPERATORS[type(operator)]
        start = self.span(left).end
        found = re.search(pattern.encode(), self.source[start : self.span(right).start])
        if found:
            span = Span(start + found.start(), start + found.end())
            yield self.in_place("swapped operator", whole, span, other, inside)

    def in_place(self, kind: str, expression: ast.expr, span: Span, text: str, inside: bool) -> Mutation:
        probe = self.span(expression) if inside else None
        return self.mutation(kind, span, text, probe, in_expression=True)

    def mutation(self, kind: str, span: Span, text: str, probe: Span | None, in_expression: bool = False) -> Mutation:
        line = self.source.count(b"\n", 0, span.start) + 1
        in_line = self.source[self.starts[line - 1] : self.starts[line]].decode().strip()
        return Mutation(self.path, line, kind, span, text, probe, in_expression, in_line)

    def before(self, node: ast.stmt) -> Span:
        """The place in front of a statement and of its decorators."""
        first = min([node, *getattr(node, "decorator_list", [])], key=lambda each: each.lineno)
        start = self.starts[first.lineno - 1] + first.col_offset - (0 if first is node else 1)
        return Span(start, start)

    def span(self, node: ast.expr | ast.stmt) -> Span:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return Span(
            self.starts[node.lineno - 1] + node.col_offset, self.starts[node.end_lineno - 1] + node.end_col_offset
        )

    def text(self, span: Span) -> str:
        return self.source[span.start : span.end].decode()


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that run: no annotations, no bases and keywords of classes, no decorators of them."""
    match node:
        case ast.ClassDef():
            yield from node.body
        case ast.AnnAssign():
            if node.value is not None:
                yield node.value
        case _:
            yield from ast.iter_child_nodes(node)


def _can_be_dropped(node: ast.stmt) -> bool:
    """A plain assignment to a name is left: without it the next line does not run, which every test notices."""
    match node:
        case ast.Expr(ast.Yield() | ast.YieldFrom()):
            return False
        case (
            ast.Expr() | ast.AugAssign() | ast.Raise() | ast.Continue() | ast.Break() | ast.Delete() | ast.Return(None)
        ):
            return True
        case ast.Assign(targets):
            return not any(isinstance(target, ast.Name | ast.Tuple) for target in targets)
        case _:
            return False


def _changed(value: object) -> str | None:
    """Another constant as source text. A sentence is wording; so is an empty string, which only joins or compares."""
    match value:
        case bool():
            return repr(not value)
        case int():
            return repr(value + 1)
        case float():
            return repr(value * 2 if value else 1.0)
        case str() if value and not re.search(r"\s", value):
            return repr(f"{value}x")
        case _:
            return None
