"""Errors that name the field they are about, worded as the Kubernetes API words them.

Two families live here. `FieldError` is data: validation returns lists of them, and their text is what users of
kubectl know by heart, so it must not differ by a character. The exceptions are for input that cannot be read at all:

    MooringError              every error of this product that a user may see; `.path` names the field, if there is one
    +- QuantityError          a string that is not a quantity
    +- SelectorError          a label or node selector that cannot be parsed
    +- InputError             what a user asked for cannot be done
    +- InvalidObjectError     an object with field errors, `.errors`; the text is the API's "is invalid" message
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

__all__ = [
    "OMITTED",
    "Enum",
    "FieldError",
    "InputError",
    "InvalidObjectError",
    "MooringError",
    "QuantityError",
    "SelectorError",
    "aggregate",
    "duplicate",
    "forbidden",
    "go_json",
    "go_quote",
    "go_text",
    "internal",
    "invalid",
    "invalid_message",
    "not_found",
    "not_supported",
    "one_line",
    "paragraphs",
    "plainly",
    "required",
    "too_long",
    "too_many",
    "type_invalid",
    "unique_texts",
]


class MooringError(Exception):
    """The base of every error that is meant for a user; `path` is the field it is about, or empty."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.message = message
        self.path = path


class InputError(MooringError):
    """What a user asked for cannot be done."""


class QuantityError(MooringError):
    """A value that is not a resource quantity."""


class SelectorError(MooringError):
    """A selector that cannot be parsed."""


class Enum(str):
    """A string of a named type.

    The API prints plain strings as Go quotes them and named string types as JSON; the two differ for `<`, `>`, `&`
    and control characters.
    """

    __slots__ = ()


# Value of errors whose text has none.
OMITTED: Final = object()

_KINDS_WITHOUT_VALUE: Final = frozenset({"Required value", "Forbidden", "Too long", "Internal error"})

# The machine-readable cause in a Status, by the words shown to people.
_CAUSES: Final = {
    "Not found": "FieldValueNotFound",
    "Required value": "FieldValueRequired",
    "Duplicate value": "FieldValueDuplicate",
    "Invalid value": "FieldValueInvalid",
    "Unsupported value": "FieldValueNotSupported",
    "Forbidden": "FieldValueForbidden",
    "Too long": "FieldValueTooLong",
    "Too many": "FieldValueTooMany",
    "Internal error": "InternalError",
}


class FieldError(NamedTuple):
    """One thing that is wrong with one field. `str()` is the line the API shows."""

    kind: str
    path: str
    value: Any
    detail: str
    type_mismatch: bool = False

    @property
    def body(self) -> str:
        """The text without the path, as it stands in the causes of a Status."""
        text = self.kind
        if self.kind not in _KINDS_WITHOUT_VALUE and self.value is not OMITTED:
            text = f"{text}: {_render(self.value)}"
        return f"{text}: {self.detail}" if self.detail else text

    @property
    def cause(self) -> str:
        """The machine-readable reason, as it stands in the causes of a Status."""
        return "FieldValueTypeInvalid" if self.type_mismatch else _CAUSES[self.kind]

    def __str__(self) -> str:
        return f"{one_line(self.path)}: {self.body}"


class InvalidObjectError(MooringError):
    """An object that the API would refuse; `errors` holds every reason."""

    def __init__(self, kind: str, name: str, errors: Sequence[FieldError]) -> None:
        super().__init__(invalid_message(kind, name, errors))
        self.errors = tuple(errors)
        self.path = errors[0].path if errors else ""


def invalid(path: str, value: Any, detail: str) -> FieldError:
    return FieldError("Invalid value", path, value, detail)


def plainly(path: str, detail: str) -> FieldError:
    """An error about a whole part, which is not shown."""
    return FieldError("Invalid value", path, OMITTED, detail)


def type_invalid(path: str, value: Any, detail: str) -> FieldError:
    return FieldError("Invalid value", path, value, detail, True)


def required(path: str, detail: str) -> FieldError:
    return FieldError("Required value", path, "", detail)


def forbidden(path: str, detail: str) -> FieldError:
    return FieldError("Forbidden", path, "", detail)


def internal(path: str, detail: str) -> FieldError:
    return FieldError("Internal error", path, "", detail)


def duplicate(path: str, value: Any) -> FieldError:
    return FieldError("Duplicate value", path, value, "")


def not_found(path: str, value: Any) -> FieldError:
    return FieldError("Not found", path, value, "")


def not_supported(path: str, value: Any, supported: Iterable[str]) -> FieldError:
    values = ", ".join(map(go_quote, supported))
    return FieldError("Unsupported value", path, value, f"supported values: {values}" if values else "")


def too_long(path: str, limit: int) -> FieldError:
    return FieldError("Too long", path, "", f"may not be more than {limit} {'byte' if limit == 1 else 'bytes'}")


def too_many(path: str, actual: int, limit: int) -> FieldError:
    value: Any = actual if actual >= 0 else OMITTED
    return FieldError("Too many", path, value, f"must have at most {limit} {'item' if limit == 1 else 'items'}")


def unique_texts(errors: Iterable[FieldError]) -> list[str]:
    """The lines of the errors, each once, in order of first appearance."""
    return list(dict.fromkeys(map(str, errors)))


def aggregate(errors: Iterable[FieldError]) -> str:
    """One line for all errors: bare when there is one, bracketed when there are more."""
    texts = unique_texts(errors)
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def invalid_message(kind: str, name: str, errors: Sequence[FieldError]) -> str:
    """The message of the API's 422 answer."""
    head = f"{kind} {go_quote(name)} is invalid"
    return f"{head}: {aggregate(errors)}" if errors else head


_ESCAPES: Final = {
    "\a": r"\a",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\v": r"\v",
    "\\": r"\\",
    '"': r"\"",
}


def go_quote(text: str) -> str:
    """Quote a string as Go's %q does."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{"".join(map(_quote_char, text))}"'


def _quote_char(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    if 0xD800 <= code < 0xE000:
        # Go cannot hold a lone surrogate; decoding has replaced it by this character.
        return "�"
    return f"\\U{code:08x}" if code > 0xFFFF else f"\\u{code:04x}"


# The sets C0 and C1. Other characters that cannot be printed stay, as they do in the real server's messages.
_CONTROLS: Final = {code: _quote_char(chr(code)) for code in (*range(0x20), *range(0x7F, 0xA0))}
_CONTROLS_IN_PARAGRAPHS: Final = {code: text for code, text in _CONTROLS.items() if chr(code) not in "\n\t"}


def one_line(text: str) -> str:
    """The text with its control characters escaped as %q would, without quotes.

    A message repeats what a client sent. A line break or an escape sequence in it could pass for another line of a log,
    or steer the terminal that shows it.
    """
    return text if text.isprintable() else text.translate(_CONTROLS)


def paragraphs(text: str) -> str:
    """The same for a text that may have several lines."""
    return text if text.isprintable() else text.translate(_CONTROLS_IN_PARAGRAPHS)


_HTML_SAFE: Final = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


def go_json(value: Any) -> str:
    """Compact JSON as Go writes it: `<`, `>` and `&` escaped. The order of keys is the caller's."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=str).translate(_HTML_SAFE)


def go_text(value: Any) -> str:
    """A value as Go's %v prints it: maps in the order of their keys, nothing quoted."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{go_text(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(go_text, value))}]"
    if value is None:
        return "<nil>"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _render(value: Any) -> str:
    return go_quote(value) if value.__class__ is str else go_json(value)
