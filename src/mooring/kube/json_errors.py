"""What is wrong with a text that should be JSON, in the words of Go's parser, which are the API's."""

import re
from typing import Final

from mooring.kube.errors import go_quote

__all__ = ["TYPE_META", "json_complaint", "json_type", "unmarshal_complaint"]

# What Go reads first of every object.
TYPE_META: Final = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
)

_END: Final = "unexpected end of JSON input"
_SPACE: Final = re.compile(rb"[ \t\r\n]*")
_CLEAN: Final = re.compile(rb'[^"\\\x00-\x1f]*')
_DIGITS: Final = re.compile(rb"[0-9]*")
_HEX: Final = re.compile(rb"[0-9a-fA-F]{0,4}")
_LITERALS: Final = {b"t": b"true", b"f": b"false", b"n": b"null"}
_DEPTH: Final = 10_000


class _Complaint(Exception):
    pass


def json_complaint(text: bytes) -> str:
    """What keeps the text from being JSON; empty when nothing does."""
    try:
        _Scanner(text).scan()
    except _Complaint as complaint:
        return str(complaint)
    return ""


def unmarshal_complaint(value: object, wanted: str) -> str:
    """What Go says about a JSON value that does not fit into a variable of that type."""
    return f"json: cannot unmarshal {json_type(value)} into Go value of type {wanted}"


def json_type(value: object) -> str:
    """What Go calls a JSON value."""
    return {dict: "object", list: "array", str: "string", bool: "bool"}.get(value.__class__, "number")


class _Scanner:
    def __init__(self, text: bytes) -> None:
        self._text = text
        self._at = 0

    def scan(self) -> None:
        """One value with nothing behind it, without recursion: texts nest as deep as they like."""
        open_brackets: list[bytes] = []
        self._begin(open_brackets, b"")
        while open_brackets:
            bracket = open_brackets[-1]
            char = self._next()
            if char == (b"}" if bracket == b"{" else b"]"):
                open_brackets.pop()
            elif char != b",":
                raise self._wrong("after object key:value pair" if bracket == b"{" else "after array element")
            else:
                if bracket == b"{":
                    self._key(b"")
                self._begin(open_brackets, b"")
        if self._next(at_end=True):
            raise self._wrong("after top-level value")

    def _begin(self, open_brackets: list[bytes], also: bytes) -> None:
        """The beginning of a value, down to the first that is no bracket; `also` is what may stand there too."""
        while True:
            char = self._next()
            if char == also and char:
                self._at -= 1
                return
            if char not in (b"{", b"["):
                self._scalar(char)
                return
            open_brackets.append(char)
            if len(open_brackets) > _DEPTH:
                raise _Complaint("exceeded max depth")
            if char == b"[":
                also = b"]"
            elif self._key(b"}"):
                also = b""
            else:
                return

    def _key(self, also: bytes) -> bool:
        """A key and its colon; False when the object ends here instead."""
        char = self._next()
        if char == also and char:
            self._at -= 1
            return False
        if char != b'"':
            raise self._wrong("looking for beginning of object key string")
        self._string()
        if self._next() != b":":
            raise self._wrong("after object key")
        return True

    def _scalar(self, char: bytes) -> None:
        if char == b'"':
            self._string()
        elif char in _LITERALS:
            for expected in _LITERALS[char][1:]:
                name = _LITERALS[char].decode()
                if self._take() != bytes((expected,)):
                    raise self._wrong(f"in literal {name} (expecting {_quote(expected)})")
        elif char == b"-" or char.isdigit():
            self._number(char)
        else:
            raise self._wrong("looking for beginning of value")

    def _number(self, char: bytes) -> None:
        if char == b"-":
            char = self._take()
            if not char.isdigit():
                raise self._wrong("in numeric literal")
        if char != b"0":
            self._skip(_DIGITS)
        if self._peek() == b".":
            self._at += 1
            self._digits("after decimal point in numeric literal")
        if self._peek() in (b"e", b"E"):
            self._at += 1
            if self._peek() in (b"+", b"-"):
                self._at += 1
            self._digits("in exponent of numeric literal")

    def _digits(self, where: str) -> None:
        if not self._take().isdigit():
            raise self._wrong(where)
        self._skip(_DIGITS)

    def _string(self) -> None:
        while True:
            self._skip(_CLEAN)
            char = self._peek()
            self._at += 1
            if char == b'"':
                return
            if not char:
                raise _Complaint(_END)
            if char != b"\\":
                raise self._wrong("in string literal")
            self._escape()

    def _escape(self) -> None:
        char = self._peek()
        self._at += 1
        if char == b"u":
            begin = self._at
            self._skip(_HEX)
            if self._at < begin + 4:
                self._take()
                raise self._wrong("in \\u hexadecimal character escape")
        elif not char or char not in b'bfnrt\\/"':
            raise self._wrong("in string escape code")

    def _peek(self) -> bytes:
        return self._text[self._at : self._at + 1]

    def _take(self) -> bytes:
        """The next byte; the end reads as a space, as it does for Go."""
        self._at += 1
        return self._text[self._at - 1 : self._at] or b" "

    def _next(self, *, at_end: bool = False) -> bytes:
        """The next byte that is no space."""
        self._skip(_SPACE)
        char = self._peek()
        if not char and not at_end:
            raise _Complaint(_END)
        self._at += 1
        return char

    def _skip(self, what: re.Pattern[bytes]) -> None:
        match = what.match(self._text, self._at)
        if match:
            self._at = match.end()

    def _wrong(self, where: str) -> _Complaint:
        char = self._text[self._at - 1 : self._at]
        return _Complaint(f"invalid character {_quote(char[0] if char else 0x20)} {where}")


def _quote(code: int) -> str:
    """A byte as Go shows it: by itself, even within a longer character."""
    if code == 0x27:
        return r"'\''"
    return "'\"'" if code == 0x22 else f"'{go_quote(chr(code))[1:-1]}'"
