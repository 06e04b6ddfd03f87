"""Texts in expressions: the functions of the language and of its extension for strings, version 2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mooring.kube.cel.functions.formatting import format_text, quote
from mooring.kube.cel.functions.model import Function, read_argument, traversal

_BLANK: Final = " \t\n\v\f\r\x85\xa0 　" + "".join(map(chr, range(0x2000, 0x200B))) + "\u1680\u2028\u2029\u202f\u205f"


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise ValueError(f"index out of range: {index}")
    return text[index : index + 1]


def _index_of(text: str, part: str, offset: int = 0) -> int:
    if not part:
        return offset
    if offset < 0:
        raise ValueError(f"index out of range: {offset}")
    return text.find(part, offset)


def _last_index_of(text: str, part: str) -> int:
    return text.rfind(part) if part else len(text)


def _last_index_from(text: str, part: str, offset: int) -> int:
    if not part:
        return offset
    if offset < 0:
        raise ValueError(f"index out of range: {offset}")
    return -1 if offset >= len(text) else text.rfind(part, 0, offset + len(part))


def _substring(text: str, start: int, end: int | None = None) -> str:
    if end is not None and start > end:
        raise ValueError(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, len(text) if end is None else end):
        if not 0 <= index <= len(text):
            raise ValueError(f"index out of range: {index}")
    return text[start:end]


def _split(text: str, separator: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    if not separator:
        letters = list(text)
        return letters if limit < 0 or limit >= len(letters) else [*letters[: limit - 1], text[limit - 1 :]]
    return text.split(separator, limit - 1 if limit > 0 else -1)


def _join(items: list[Any], separator: str = "") -> str:
    for item in items:
        if not isinstance(item, str):
            raise ValueError(f"join: invalid input: {item}")
    return separator.join(items)


def _lower(text: str) -> str:
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)


def _upper(text: str) -> str:
    return "".join(letter.upper() if letter.isascii() else letter for letter in text)


def _contains_cost(arguments: Sequence[Any], _: Any) -> int:
    return traversal(arguments[0]) * traversal(arguments[1])


def _result(_: Sequence[Any], result: Any) -> int:
    return traversal(result, 2)


def _searched(arguments: Sequence[Any], _: Any) -> int:
    return len(arguments[0]) // 10


_ONE: Final = read_argument()
_TWICE: Final = read_argument(2)
_TEXT: Final = ("string", "string")

STRINGS: Final = (
    Function("contains", _TEXT, "bool", lambda text, part: part in text, member=True, cost=_contains_cost),
    Function("charAt", ("string", "int"), "string", _char_at, member=True),
    Function("indexOf", _TEXT, "int", _index_of, member=True, cost=_searched),
    Function("indexOf", ("string", "string", "int"), "int", _index_of, member=True, cost=_searched),
    Function("lastIndexOf", _TEXT, "int", _last_index_of, member=True, cost=_searched),
    Function("lastIndexOf", ("string", "string", "int"), "int", _last_index_from, member=True, cost=_searched),
    Function("lowerAscii", ("string",), "string", _lower, member=True, cost=_ONE),
    Function("upperAscii", ("string",), "string", _upper, member=True, cost=_ONE),
    Function("replace", ("string", "string", "string"), "string", str.replace, member=True, cost=_TWICE),
    Function("replace", ("string", "string", "string", "int"), "string", str.replace, member=True, cost=_TWICE),
    Function("split", _TEXT, "list<string>", _split, member=True, cost=_TWICE),
    Function("split", ("string", "string", "int"), "list<string>", _split, member=True, cost=_TWICE),
    Function("substring", ("string", "int"), "string", _substring, member=True, cost=_ONE),
    Function("substring", ("string", "int", "int"), "string", _substring, member=True, cost=_ONE),
    Function("trim", ("string",), "string", lambda text: text.strip(_BLANK), member=True, cost=_ONE),
    Function("join", ("list<string>",), "string", _join, member=True, cost=_result),
    Function("join", ("list<string>", "string"), "string", _join, member=True, cost=_result),
    Function("format", ("string", "list<dyn>"), "string", format_text, member=True, cost=_ONE),
    Function("strings.quote", ("string",), "string", quote, cost=_ONE),
)
