"""Go templates as Stages use them: text with actions in double braces, made into text.

Pipelines, variables, fields, `if`, `range`, `with` and the functions of `functions.py`. What a published Stage does
not use (`define`, `template`, `block`, methods) is refused when the template is read, with the line it stands on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from mooring.nodes.stages.functions import FUNCTIONS, LAZY
from mooring.nodes.stages.go_values import decoded, go_text, truth
from mooring.nodes.stages.lexer import TemplateAction, TemplateError, Word, number, pieces, unquoted

Functions = Mapping[str, Callable[..., Any]]
_KEYWORDS: Final = frozenset({"if", "else", "end", "range", "with"})
# A limit on `range` over a number: a mistyped one must not block the controller.
_MOST: Final = 10_000
_CONSTANTS: Final = {"true": True, "false": False, "nil": None}


class Operand(NamedTuple):
    """One word of a command: a constant, the dot, a variable, a function or a pipeline, and the fields after it."""

    kind: str
    value: Any
    fields: tuple[str, ...] = ()


Command = tuple[Operand, ...]


class Pipeline(NamedTuple):
    commands: tuple[Command, ...]
    line: int
    # The variables that the result goes to, and whether they are new.
    variables: tuple[str, ...] = ()
    declares: bool = False


class ControlBlock(NamedTuple):
    """`if`, `with` or `range` with its body and what stands after `else`."""

    keyword: str
    pipeline: Pipeline
    body: tuple[Any, ...]
    otherwise: tuple[Any, ...]


class GoTemplate:
    """A parsed template. Raises TemplateError for what is not supported, before anything is rendered."""

    def __init__(self, text: str, extra: Sequence[str] = ()) -> None:
        self._names = {*FUNCTIONS, *LAZY, *extra}
        self._pieces = list(pieces(text))
        self._place = 0
        self._nodes = self._body(("",))
        del self._pieces

    def render(self, root: Any, functions: Functions) -> str:
        """The text for an object; `functions` are those that depend on it."""
        return _Rendering({**FUNCTIONS, **functions}, decoded(root)).text(self._nodes)

    # Reading

    def _body(self, ends: tuple[str, ...]) -> tuple[Any, ...]:
        nodes: list[Any] = []
        while self._place < len(self._pieces):
            piece = self._pieces[self._place]
            if isinstance(piece, str):
                nodes.append(piece)
                self._place += 1
                continue
            keyword = piece.words[0].text if piece.words and piece.words[0].kind == "name" else ""
            if keyword in ("else", "end"):
                if keyword not in ends:
                    raise TemplateError(f"line {piece.line}: {keyword} without anything to end")
                return tuple(nodes)
            self._place += 1
            if keyword in _KEYWORDS:
                nodes.append(self._block(keyword, piece.words[1:], piece.line))
            else:
                nodes.append(self._pipeline(piece.words, piece.line))
        if ends != ("",):
            raise TemplateError("an if, with or range is not closed with end")
        return tuple(nodes)

    def _block(self, keyword: str, words: Sequence[Word], line: int) -> ControlBlock:
        pipeline = self._pipeline(words, line)
        body = self._body(("else", "end"))
        closing = self._pieces[self._place]
        assert isinstance(closing, TemplateAction)
        self._place += 1
        otherwise: tuple[Any, ...] = ()
        if closing.words[0].text == "else":
            if len(closing.words) > 1:
                inner = closing.words[1].text
                if inner not in ("if", "with"):
                    raise TemplateError(f"line {closing.line}: else {inner} is not understood")
                # The end of an `else if` is the end of all before it.
                otherwise = (self._block(inner, closing.words[2:], closing.line),)
                return ControlBlock(keyword, pipeline, body, otherwise)
            otherwise = self._body(("end",))
            self._place += 1
        return ControlBlock(keyword, pipeline, body, otherwise)

    def _pipeline(self, words: Sequence[Word], line: int) -> Pipeline:
        variables: list[str] = []
        signs = [n for n, word in enumerate(words) if word.kind == "sign" and word.text in (":=", "=")]
        declares = False
        if signs:
            variables = [word.text for word in words[: signs[0]] if word.kind == "variable"]
            if len(variables) > 2:
                raise TemplateError(f"line {line}: these are too many variables")
            declares = words[signs[0]].text == ":="
            words = words[signs[0] + 1 :]
        commands, rest = self._commands(words, line)
        if rest:
            raise TemplateError(f"line {line}: a parenthesis is closed that was not opened")
        return Pipeline(commands, line, tuple(variables), declares)

    def _commands(self, words: Sequence[Word], line: int) -> tuple[tuple[Command, ...], Sequence[Word]]:
        """Commands up to the end, or up to an unmatched closing parenthesis."""
        commands: list[list[Operand]] = [[]]
        while words and words[0].text != ")":
            word, words = words[0], words[1:]
            if word.kind == "sign" and word.text == "|":
                commands.append([])
                continue
            operand, words = self._operand(word, words, line)
            while words and words[0].kind == "field" and words[0].glued:
                if operand.kind == "constant":
                    raise TemplateError(f"line {line}: a constant has no field {words[0].text}")
                operand = operand._replace(fields=(*operand.fields, words[0].text[1:]))
                words = words[1:]
            commands[-1].append(operand)
        if not all(commands):
            raise TemplateError(f"line {line}: a command is missing")
        return tuple(tuple(command) for command in commands), words

    def _operand(self, word: Word, words: Sequence[Word], line: int) -> tuple[Operand, Sequence[Word]]:
        match word.kind:
            case "string":
                return Operand("constant", unquoted(word.text, line)), words
            case "raw":
                return Operand("constant", word.text[1:-1]), words
            case "number":
                return Operand("constant", number(word.text, line)), words
            case "variable":
                return Operand("variable", word.text), words
            case "field":
                return Operand("dot", None, (word.text[1:],)), words
            case "dot":
                return Operand("dot", None), words
            case "name" if word.text in _CONSTANTS:
                return Operand("constant", _CONSTANTS[word.text]), words
            case "name" if word.text in self._names:
                return Operand("function", word.text), words
            case "name":
                raise TemplateError(f'line {line}: the function "{word.text}" is not known here')
            case "sign" if word.text == "(":
                commands, rest = self._commands(words, line)
                if not rest:
                    raise TemplateError(f"line {line}: a parenthesis is not closed")
                return Operand("pipeline", Pipeline(commands, line)), rest[1:]
        raise TemplateError(f'line {line}: "{word.text}" is not expected here')


class _Rendering:
    """One making of a text: the variables, and what the dot stands for."""

    def __init__(self, functions: Functions, root: Any) -> None:
        self._functions = functions
        self._scopes: list[dict[str, Any]] = [{"$": root}]
        self._dot = root

    def text(self, nodes: Sequence[Any]) -> str:
        return "".join(node if isinstance(node, str) else self._node(node) for node in nodes)

    def _node(self, node: Pipeline | ControlBlock) -> str:
        if isinstance(node, ControlBlock):
            return self._block(node)
        value = self._value(node)
        if not node.variables:
            return "<no value>" if value is None else go_text(value)
        self._assign(node.variables[0], value, node)
        return ""

    def _assign(self, name: str, value: Any, pipeline: Pipeline) -> None:
        if pipeline.declares:
            self._scopes[-1][name] = value
            return
        for scope in reversed(self._scopes):
            if name in scope:
                scope[name] = value
                return
        raise TemplateError(f"line {pipeline.line}: the variable {name} is not declared")

    def _block(self, block: ControlBlock) -> str:
        self._scopes.append({})
        try:
            value = self._value(block.pipeline)
            if block.keyword == "range":
                return self._range(block, value)
            if block.pipeline.variables:
                self._assign(block.pipeline.variables[0], value, block.pipeline)
            if not truth(value):
                return self.text(block.otherwise)
            return self._within(value if block.keyword == "with" else self._dot, block.body)
        finally:
            self._scopes.pop()

    def _within(self, dot: Any, nodes: Sequence[Any]) -> str:
        before, self._dot = self._dot, dot
        self._scopes.append({})
        try:
            return self.text(nodes)
        finally:
            self._scopes.pop()
            self._dot = before

    def _range(self, block: ControlBlock, value: Any) -> str:
        items: list[tuple[Any, Any]]
        match value:
            case dict():
                items = sorted(value.items())
            case list() | None:
                items = list(enumerate(value or ()))
            case int() if not isinstance(value, bool):
                items = list(enumerate(range(min(value, _MOST))))
            case _:
                raise TemplateError(f"line {block.pipeline.line}: {go_text(value)} has no items for range to go over")
        if len(items) >= _MOST:
            raise TemplateError(f"line {block.pipeline.line}: range goes over more than {_MOST} items")
        if not items:
            return self.text(block.otherwise)
        names = block.pipeline.variables
        if len(names) == 2 and isinstance(value, int):
            raise TemplateError(f"line {block.pipeline.line}: range over a number has one variable")
        made = []
        for key, item in items:
            if len(names) == 2:
                self._scopes[-1][names[0]] = key
            if names:
                self._scopes[-1][names[-1]] = item
            made.append(self._within(item, block.body))
        return "".join(made)

    def _value(self, pipeline: Pipeline) -> Any:
        piped: tuple[Any, ...] = ()
        for command in pipeline.commands:
            piped = (self._command(command, piped, pipeline.line),)
        return piped[0]

    def _command(self, command: Command, piped: tuple[Any, ...], line: int) -> Any:
        first, rest = command[0], command[1:]
        if first.kind != "function":
            if rest or piped:
                raise TemplateError(f"line {line}: what is not a function cannot be given anything")
            if first.kind == "constant" and first.value is None:
                raise TemplateError(f"line {line}: nil is no command")
            return self._operand(first, line)
        if first.value in LAZY:
            arguments = [lambda operand=operand: self._operand(operand, line) for operand in rest]
            given = [*arguments, *(lambda value=value: value for value in piped)]
            if not given:
                raise TemplateError(f"line {line}: {first.value} needs something to decide on")
            return LAZY[first.value](*given)
        given = [self._operand(operand, line) for operand in rest]
        try:
            value = self._functions[first.value](*given, *piped)
        except TemplateError as error:
            raise TemplateError(f"line {line}: {error}") from None
        except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
            raise TemplateError(f"line {line}: {first.value} cannot be used so: {error}") from None
        return self._fields(value, first.fields, line)

    def _operand(self, operand: Operand, line: int) -> Any:
        match operand.kind:
            case "constant":
                return operand.value
            case "dot":
                return self._fields(self._dot, operand.fields, line)
            case "variable":
                return self._fields(self._variable(operand.value, line), operand.fields, line)
            case "pipeline":
                return self._fields(self._value(operand.value), operand.fields, line)
        return self._command((operand,), (), line)

    def _variable(self, name: str, line: int) -> Any:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        raise TemplateError(f"line {line}: the variable {name} is not declared")

    def _fields(self, value: Any, names: Sequence[str], line: int) -> Any:
        is_missing = value is None
        for name in names:
            if is_missing:
                # What is not there has whatever fields one likes; what is null has none.
                return None
            if not isinstance(value, dict):
                raise TemplateError(f"line {line}: {go_text(value)} has no field {name}")
            is_missing, value = name not in value, value.get(name)
        return value
