"""Label selectors, compiled once and shared.

A cluster holds thousands of pods with a handful of selectors, so equal selectors are one object: comparing them is
comparing identities, and counts can be kept per selector. `a=b`, `a==b` and `a in (b)` say the same and compile to the
same requirement.

Missing means `NOTHING` (no object matches); empty means everything. The API makes that difference everywhere.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple
from weakref import WeakValueDictionary

from mooring.kube.errors import FieldError, SelectorError, aggregate, go_quote, invalid
from mooring.kube.interning import intern
from mooring.kube.names import is_label_value, is_qualified_name

__all__ = [
    "EVERYTHING",
    "NOTHING",
    "Matcher",
    "Operator",
    "Requirement",
    "Selector",
    "make_requirement",
    "parse_int64",
    "parse_selector",
    "selector_from_dict",
    "selector_from_labels",
]

Operator = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]
Labels = Mapping[str, str]
Matcher = Callable[[Labels], bool]

_INTEGER: Final = re.compile("[+-]?[0-9]+").fullmatch


class Requirement(NamedTuple):
    """One condition on one label. `values` are sorted and distinct; make one with `make_requirement`."""

    key: str
    op: Operator
    values: tuple[str, ...] = ()

    def matcher(self) -> Matcher:
        """A function that tests labels, as fast as the operator allows."""
        return _MATCHERS[self.op](self.key, self.values)

    def matches(self, labels: Labels) -> bool:
        return self.matcher()(labels)

    def __str__(self) -> str:
        match self.op:
            case "Exists":
                return self.key
            case "DoesNotExist":
                return f"!{self.key}"
            case "Gt":
                return f"{self.key}>{self.values[0]}"
            case "Lt":
                return f"{self.key}<{self.values[0]}"
        if len(self.values) == 1:
            return f"{self.key}{'=' if self.op == 'In' else '!='}{self.values[0]}"
        return f"{self.key} {self.op.lower()} ({','.join(self.values)})"


def parse_int64(text: str) -> int | None:
    """The number as the API reads it for Gt and Lt: decimal, with sign and leading zeros, in 64 bits."""
    if not _INTEGER(text):
        return None
    digits = text.lstrip("+-").lstrip("0")
    if len(digits) > 19:
        return None
    number = -int(digits or "0") if text[0] == "-" else int(digits or "0")
    return number if -(2**63) <= number < 2**63 else None


def _match_in(key: str, values: tuple[str, ...]) -> Matcher:
    if len(values) == 1:
        only = values[0]
        return lambda labels: labels.get(key) == only
    members = frozenset(values)
    return lambda labels: labels.get(key) in members


def _match_not_in(key: str, values: tuple[str, ...]) -> Matcher:
    members = frozenset(values)
    return lambda labels: labels.get(key) not in members


def _match_exists(key: str, values: tuple[str, ...]) -> Matcher:
    return lambda labels: key in labels


def _match_absent(key: str, values: tuple[str, ...]) -> Matcher:
    return lambda labels: key not in labels


def _match_gt(key: str, values: tuple[str, ...]) -> Matcher:
    bound = parse_int64(values[0])

    def matches(labels: Labels) -> bool:
        number = parse_int64(labels.get(key, ""))
        return bound is not None and number is not None and number > bound

    return matches


def _match_lt(key: str, values: tuple[str, ...]) -> Matcher:
    bound = parse_int64(values[0])

    def matches(labels: Labels) -> bool:
        number = parse_int64(labels.get(key, ""))
        return bound is not None and number is not None and number < bound

    return matches


_MATCHERS: Final[dict[str, Callable[[str, tuple[str, ...]], Matcher]]] = {
    "In": _match_in,
    "NotIn": _match_not_in,
    "Exists": _match_exists,
    "DoesNotExist": _match_absent,
    "Gt": _match_gt,
    "Lt": _match_lt,
}


def make_requirement(key: str, op: Operator, values: Iterable[str] | None = (), path: str = "") -> Requirement:
    """Check and build a requirement; the SelectorError carries every complaint of the API at once."""
    listed = list(values or ())
    dot = f"{path}." if path else ""
    errors: list[FieldError] = []
    if texts := is_qualified_name(key):
        errors.append(invalid(f"{dot}key", key, "; ".join(texts)))
    if op in ("In", "NotIn"):
        if not listed:
            shown = None if values is None else listed
            errors.append(invalid(f"{dot}values", shown, "for 'in', 'notin' operators, values set can't be empty"))
    elif op in ("Exists", "DoesNotExist"):
        if listed:
            detail = "values set must be empty for exists and does not exist"
            errors.append(invalid(f"{dot}values", listed, detail))
    else:
        if len(listed) != 1:
            detail = "for 'Gt', 'Lt' operators, exactly one value is required"
            errors.append(invalid(f"{dot}values", listed, detail))
        errors += [
            invalid(f"{dot}values[{i}]", value, "for 'Gt', 'Lt' operators, the value must be an integer")
            for i, value in enumerate(listed)
            if parse_int64(value) is None
        ]
    for i, value in enumerate(listed):
        if texts := is_label_value(value):
            errors.append(invalid(f"{dot}values[{i}][{key}]", value, "; ".join(texts)))
    if errors:
        raise SelectorError(aggregate(errors))
    return Requirement(key, op, tuple(sorted(set(listed))))


class Selector:
    """A conjunction of requirements. Equal selectors are the same object, so `is` and `==` agree.

    `matches` tests labels; `empty` is true for the selector that matches everything.
    """

    __slots__ = ("__weakref__", "empty", "matches", "nothing", "requirements")

    requirements: tuple[Requirement, ...]
    matches: Matcher
    empty: bool
    nothing: bool

    def __new__(cls, requirements: Iterable[Requirement] = ()) -> "Selector":
        unique = tuple(sorted(set(requirements)))
        found = _INTERNED.get(unique)
        if found is None:
            found = _build(unique, nothing=False)
            _INTERNED[unique] = found
        return found

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))

    def __repr__(self) -> str:
        return "NOTHING" if self.nothing else f"Selector({str(self)!r})"

    def __reduce__(self) -> str | tuple[Any, ...]:
        return "NOTHING" if self.nothing else (Selector, (self.requirements,))

    def with_requirements(self, more: Iterable[Requirement]) -> "Selector":
        """This selector and `more`; nothing stays nothing."""
        return self if self.nothing else Selector((*self.requirements, *more))


def _build(requirements: tuple[Requirement, ...], *, nothing: bool) -> Selector:
    made = object.__new__(Selector)
    made.requirements = requirements
    made.nothing = nothing
    made.empty = not requirements and not nothing
    made.matches = (lambda labels: False) if nothing else _conjunction(requirements)
    return made


def _conjunction(requirements: tuple[Requirement, ...]) -> Matcher:
    matchers = tuple(requirement.matcher() for requirement in requirements)
    match matchers:
        case ():
            return lambda labels: True
        case (only,):
            return only
        case (first, second):
            return lambda labels: first(labels) and second(labels)
    return lambda labels: all(matches(labels) for matches in matchers)


_INTERNED: Final[WeakValueDictionary[tuple[Requirement, ...], Selector]] = WeakValueDictionary()

NOTHING: Final = _build((), nothing=True)
EVERYTHING: Final = Selector()

_LABEL_OPERATORS: Final[dict[str, Operator]] = {
    "In": "In",
    "NotIn": "NotIn",
    "Exists": "Exists",
    "DoesNotExist": "DoesNotExist",
}

_NOT_A_SELECTOR: Final = "a label selector has matchLabels, a map of strings, and matchExpressions, a list of objects"

# Selectors by the shape they were written in, so that the same manifest is checked once.
_MAX_COMPILED: Final = 16_384
_COMPILED: Final[dict[tuple[Any, ...], Selector]] = {}


def selector_from_labels(labels: Labels | None) -> Selector:
    """Exactly these labels and any others; none at all selects everything."""
    return selector_from_dict({"matchLabels": labels})


def selector_from_dict(selector: Mapping[str, Any] | None) -> Selector:
    """Compile a LabelSelector; None gives NOTHING, {} everything. Raises SelectorError."""
    if selector is None:
        return NOTHING
    try:
        labels = selector.get("matchLabels")
        expressions = selector.get("matchExpressions")
        if not labels and not expressions:
            return EVERYTHING
        shape = (
            tuple(labels.items()) if labels else (),
            tuple((e.get("key", ""), e.get("operator", ""), tuple(e.get("values") or ())) for e in expressions or ()),
        )
        found = _COMPILED.get(shape)
    except (AttributeError, TypeError):
        raise SelectorError(_NOT_A_SELECTOR) from None
    if found is None:
        return intern(_COMPILED, shape, _compile(*shape), _MAX_COMPILED)
    return found


def _compile(
    labels: tuple[tuple[str, str], ...], expressions: tuple[tuple[str, str, tuple[str, ...]], ...]
) -> Selector:
    words = [word for label in labels for word in label]
    words += [word for key, op, values in expressions for word in (key, op, *values)]
    if not all(isinstance(word, str) for word in words):
        raise SelectorError(_NOT_A_SELECTOR)
    requirements = [make_requirement(key, "In", (value,)) for key, value in sorted(labels)]
    for key, text, values in expressions:
        op = _LABEL_OPERATORS.get(text)
        if op is None:
            raise SelectorError(f"{go_quote(text)} is not a valid label selector operator")
        requirements.append(make_requirement(key, op, values or None))
    return Selector(requirements)


def parse_selector(text: str) -> Selector:
    """Parse the one-line form, `a=b,c in (x,y),!d`. Raises SelectorError with the API's text."""
    return Selector(_Parser(text).parse())


_TOKEN: Final = re.compile(r"[ \t\r\n]*(?:(==|!=|[=!(),<>])|([^ \t\r\n=!(),<>]+)|$)")
_OPERATORS: Final[dict[str, tuple[Operator, bool]]] = {
    "in": ("In", True),
    "notin": ("NotIn", True),
    "=": ("In", False),
    "==": ("In", False),
    "!=": ("NotIn", False),
    ">": ("Gt", False),
    "<": ("Lt", False),
}


class _Parser:
    """Recursive descent over tokens (is it a word, its text); the end is an empty symbol."""

    def __init__(self, text: str) -> None:
        self.tokens = [(match[2] is not None, match[2] or match[1] or "") for match in _TOKEN.finditer(text)]
        self.tokens.append((False, ""))
        self.position = 0

    def peek(self) -> tuple[bool, str]:
        return self.tokens[self.position]

    def take(self) -> tuple[bool, str]:
        token = self.tokens[self.position]
        self.position += 1
        return token

    def parse(self) -> list[Requirement]:
        found: list[Requirement] = []
        word, text = self.peek()
        if not word and text not in ("!", ""):
            raise SelectorError(f"found '{text}', expected: !, identifier, or 'end of string'")
        while self.peek() != (False, ""):
            try:
                found.append(self.requirement())
            except SelectorError as error:
                raise SelectorError(f"unable to parse requirement: {error}") from None
            word, text = self.take()
            if (word, text) == (False, ""):
                break
            if word or text != ",":
                raise SelectorError(f"found '{text}', expected: ',' or 'end of string'")
            word, text = self.peek()
            if not word and text != "!":
                raise SelectorError(f"found '{text}', expected: identifier after ','")
        return found

    def requirement(self) -> Requirement:
        word, key = self.take()
        absent = (word, key) == (False, "!")
        if absent:
            word, key = self.take()
        if not word:
            raise SelectorError(f"found '{key}', expected: identifier")
        if texts := is_qualified_name(key):
            raise SelectorError(str(invalid("<nil>", key, "; ".join(texts))))
        if absent:
            return make_requirement(key, "DoesNotExist")
        if self.peek() in ((False, ""), (False, ",")):
            return make_requirement(key, "Exists")
        word, text = self.take()
        if text not in _OPERATORS:
            raise SelectorError(f"found '{text}', expected: in, notin, =, ==, !=, gt, lt")
        op, is_set = _OPERATORS[text]
        values = self.value_set() if is_set else {self.exact_value()}
        return make_requirement(key, op, sorted(values))

    def exact_value(self) -> str:
        if self.peek() in ((False, ""), (False, ",")):
            return ""
        word, text = self.take()
        if not word:
            raise SelectorError(f"found '{text}', expected: identifier")
        return text

    def value_set(self) -> set[str]:
        word, text = self.take()
        if word or text != "(":
            raise SelectorError(f"found '{text}' expected: '('")
        word, text = self.peek()
        if (word, text) == (False, ")"):
            self.take()
            return {""}
        if not word and text != ",":
            raise SelectorError(f"found '{text}', expected: ',', ')' or identifier")
        values = self.identifiers()
        self.take()
        return values

    def identifiers(self) -> set[str]:
        """Words between commas up to the closing parenthesis; nothing between two commas is the empty word."""
        values: set[str] = set()
        while True:
            word, text = self.take()
            after = self.peek()
            if word:
                values.add(text)
                if after == (False, ")"):
                    return values
                if after != (False, ","):
                    raise SelectorError(f"found '{after[1]}', expected: ',' or ')'")
            elif text == ",":
                if not values or after in ((False, ","), (False, ")")):
                    values.add("")
                if after == (False, ")"):
                    return values
            else:
                raise SelectorError(f"found '{text}', expected: ',', or identifier")
