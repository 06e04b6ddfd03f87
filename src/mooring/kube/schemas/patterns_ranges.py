"""The named sets of characters in Go's regular expressions, as ranges of code points."""

import sys
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Final

__all__ = ["ESCAPED", "NAMED", "Ranges", "category", "complement"]

Ranges = tuple[tuple[int, int], ...]


def _ranges(*texts: str) -> Ranges:
    return tuple((ord(text[0]), ord(text[-1])) for text in texts)


_DIGIT: Final = _ranges("09")
_UPPER: Final = _ranges("AZ")
_LOWER: Final = _ranges("az")
_WORD: Final = (*_DIGIT, *_UPPER, *_ranges("_"), *_LOWER)
# All of these are ASCII only.
NAMED: Final = {
    "alnum": (*_DIGIT, *_UPPER, *_LOWER),
    "alpha": (*_UPPER, *_LOWER),
    "ascii": _ranges("\0\x7f"),
    "blank": _ranges("\t", " "),
    "cntrl": _ranges("\0\x1f", "\x7f"),
    "digit": _DIGIT,
    "graph": _ranges("!~"),
    "lower": _LOWER,
    "print": _ranges(" ~"),
    "punct": _ranges("!/", ":@", "[`", "{~"),
    "space": _ranges("\t\r", " "),
    "upper": _UPPER,
    "word": _WORD,
    "xdigit": (*_DIGIT, *_ranges("AF", "af")),
}
ESCAPED: Final = {"d": _DIGIT, "s": _ranges("\t\n", "\f\r", " "), "w": _WORD}


def complement(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Every character that is in none of them."""
    found, next_one = [], 0
    for low, high in sorted(ranges):
        if low > next_one:
            found.append((next_one, low - 1))
        next_one = max(next_one, high + 1)
    if next_one <= sys.maxunicode:
        found.append((next_one, sys.maxunicode))
    return tuple(found)


@cache
def category(name: str) -> Ranges | None:
    """A general category like `L` or `Lu`, or `Any`; None for what is none. Scripts are not known here."""
    if name == "Any":
        return ((0, sys.maxunicode),)
    if not name or name not in _categories():
        return None
    found: list[tuple[int, int]] = []
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code)).startswith(name):
            if found and found[-1][1] == code - 1:
                found[-1] = (found[-1][0], code)
            else:
                found.append((code, code))
    return tuple(found)


@cache
def _categories() -> frozenset[str]:
    named = {"Cc", "Cf", "Co", "Cs", "Ll", "Lm", "Lo", "Lt", "Lu", "Mc", "Me", "Mn", "Nd", "Nl", "No"}
    named |= {"Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "Sc", "Sk", "Sm", "So", "Zl", "Zp", "Zs"}
    return frozenset({each[0] for each in named} - {"C"} | named | {"C"})
