"""Regular expressions of schemas, which are Go's, as Python understands them.

The two dialects share nearly everything that people write, and differ in silence: in Go `$` is the very end of the
text, `\\d`, `\\w` and `\\s` are ASCII, named classes exist, flags hold from where they stand. So an expression is read
by Go's rules and written anew for Python, one piece after the other. What Go refuses (look-around, references back) is
refused here too, in Go's words, because a real cluster would refuse the definition.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from mooring.kube.schemas.patterns_ranges import ESCAPED, NAMED, Ranges, category, complement

__all__ = ["compile_pattern"]

_REPEATS: Final = 1000
_COUNTS: Final = re.compile(r"\{(0|[1-9][0-9]*)(,(0|[1-9][0-9]*)?)?\}", re.ASCII)
_NAME: Final = re.compile(r"[0-9A-Za-z_]+", re.ASCII)
_CONTROLS: Final = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_HEX: Final = "0123456789abcdefABCDEF"
_OCTAL: Final = "01234567"


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """The compiled expression; ValueError with the API's words when it is not one."""
    try:
        return re.compile(_Reader(pattern).read())
    except (re.error, RecursionError, OverflowError):
        raise _wrong("expression nests too deeply", pattern) from None


def _wrong(what: str, where: str) -> ValueError:
    return ValueError(f"error parsing regexp: {what}: `{where}`")


class _Group(NamedTuple):
    """What an opening bracket interrupts."""

    pieces: list[str]
    flags: frozenset[str]
    copies: int


class _Reader:
    """`pieces` are those of the innermost group so far; a repetition applies to the last of them."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        self._pieces: list[str] = []
        self._flags: frozenset[str] = frozenset()
        self._groups: list[_Group] = []
        # How often the last piece, and the most repeated one of the group, is copied by repetitions within it.
        self._last_copies = 0
        self._copies = 0

    def read(self) -> str:
        repeated = ""
        while self._at < len(self._text):
            char = self._text[self._at]
            counts = _COUNTS.match(self._text, self._at) if char == "{" else None
            if char in "*+?" or counts:
                repeated = self._repeat(counts, repeated)
                continue
            repeated = ""
            self._one(char)
        if self._groups:
            raise _wrong("missing closing )", self._text)
        return "".join(self._pieces)

    def _one(self, char: str) -> None:
        if char == "\\":
            self._escape()
        elif char == "[":
            self._put(self._class())
        elif char == "(" and self._text.startswith("(?", self._at):
            self._special_group()
        else:
            self._at += 1
            if char == "(":
                self._open()
            elif char == ")":
                self._close()
            elif char == "|":
                self._pieces.append("|")
            elif char == ".":
                self._put("(?s:.)" if "s" in self._flags else r"[^\n]")
            elif char == "^":
                self._put("(?m:^)" if "m" in self._flags else r"(?:\A)")
            elif char == "$":
                self._put("(?m:$)" if "m" in self._flags else r"(?:\Z)")
            else:
                self._literal(ord(char))

    def _put(self, piece: str, copies: int = 0) -> None:
        self._pieces.append(piece)
        self._last_copies = copies
        self._copies = max(self._copies, copies)

    def _literal(self, code: int) -> None:
        escaped = re.escape(chr(code))
        self._put(f"(?i:{escaped})" if "i" in self._flags else escaped)

    def _set(self, ranges: Ranges) -> None:
        self._put(self._written(ranges))

    def _written(self, ranges: Ranges) -> str:
        if not ranges:
            return "(?!)"
        written = "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges)
        return f"(?i:[{written}])" if "i" in self._flags else f"[{written}]"

    # Groups

    def _open(self) -> None:
        self._groups.append(_Group(self._pieces, self._flags, self._copies))
        self._pieces, self._copies = [], 0

    def _close(self) -> None:
        if not self._groups:
            raise _wrong("unexpected )", self._text)
        inner, copies = "".join(self._pieces), self._copies
        self._pieces, self._flags, self._copies = self._groups.pop()
        self._put(f"(?:{inner})", copies)

    def _special_group(self) -> None:
        text, start = self._text, self._at
        for opening in ("(?P<", "(?<"):
            if text.startswith(opening, start) and len(text) > start + len(opening):
                end = text.find(">", start)
                if end < 0:
                    raise _wrong("invalid named capture", text[start:])
                if not _NAME.fullmatch(text, start + len(opening), end):
                    raise _wrong("invalid named capture", text[start : end + 1])
                self._at = end + 1
                self._open()
                return
        self._at += 2
        self._flags = self._read_flags(start)

    def _read_flags(self, start: int) -> frozenset[str]:
        flags, added, said = set(self._flags), True, False
        while self._at < len(self._text):
            char = self._text[self._at]
            self._at += 1
            if char in "imsU":
                (flags.add if added else flags.discard)(char)
                said = True
            elif char == "-" and added:
                added = said = False
            elif char in ":)" and (added or said):
                if char == ":":
                    self._open()
                return frozenset(flags)
            else:
                break
        raise _wrong("invalid or unsupported Perl syntax", self._text[start : self._at])

    # Repetitions

    def _repeat(self, counts: re.Match[str] | None, repeated: str) -> str:
        """Repeat the last piece; what is left of the text from here on, to tell of a second repetition."""
        start, copies = self._at, self._last_copies
        operator = counts[0] if counts else self._text[start]
        self._at += len(operator)
        here = operator
        if counts:
            low = int(counts[1])
            high = low if counts[2] is None else int(counts[3]) if counts[3] else -1
            if max(low, high) > _REPEATS or 0 <= high < low:
                raise _wrong("invalid repeat count", operator)
            copies = (low if high < 0 else high) * max(copies, 1)
        lazy = self._text.startswith("?", self._at)
        if lazy:
            self._at += 1
            here += "?"
        if repeated:
            raise _wrong("invalid nested repetition operator", repeated + here)
        if not self._pieces or self._pieces[-1] == "|":
            raise _wrong("missing argument to repetition operator", here)
        if copies > _REPEATS:
            raise _wrong("invalid repeat count", here)
        # In brackets of its own: flags may stand between it and another repetition.
        self._pieces[-1] = f"(?:{self._pieces[-1]}{operator}{'?' if lazy is not ('U' in self._flags) else ''})"
        self._last_copies = copies
        self._copies = max(self._copies, copies)
        return here

    # Escapes and classes

    def _escape(self) -> None:
        text, char = self._text, self._text[self._at + 1 : self._at + 2]
        if char == "Q":
            quoted, end, _ = text[self._at + 2 :].partition(r"\E")
            self._at += 2 + len(quoted) + len(end)
            for each in quoted:
                self._literal(ord(each))
            return
        if char == "C":
            raise _wrong("invalid escape sequence", r"\C")
        if char and char in "AbBz":
            self._at += 2
            self._put({"A": r"(?:\A)", "z": r"(?:\Z)", "b": r"(?a:\b)", "B": r"(?a:(?!\b))"}[char])
        elif (ranges := self._shorthand()) is not None:
            self._set(ranges)
        else:
            self._literal(self._character())

    def _class(self) -> str:
        text, start = self._text, self._at
        self._at += 1
        negated = text.startswith("^", self._at)
        self._at += negated
        ranges: list[tuple[int, int]] = []
        first = True
        while first or not text.startswith("]", self._at):
            first = False
            known = self._named()
            if known is None:
                known = self._shorthand()
            ranges += [self._range(start)] if known is None else known
        self._at += 1
        return self._written(complement(ranges) if negated else tuple(ranges))

    def _range(self, start: int) -> tuple[int, int]:
        begin = self._at
        low = high = self._member(start)
        after = self._text[self._at : self._at + 2]
        if after.startswith("-") and after not in ("-", "-]"):
            self._at += 1
            high = self._member(start)
            if high < low:
                raise _wrong("invalid character class range", self._text[begin : self._at])
        return low, high

    def _member(self, start: int) -> int:
        if self._at >= len(self._text):
            raise _wrong("missing closing ]", self._text[start:])
        if self._text[self._at] == "\\":
            return self._character()
        self._at += 1
        return ord(self._text[self._at - 1])

    def _named(self) -> Ranges | None:
        """A class like `[:alpha:]`, if there is one here."""
        end = self._text.find(":]", self._at + 2)
        if not self._text.startswith("[:", self._at) or end < 0:
            return None
        whole, name = self._text[self._at : end + 2], self._text[self._at + 2 : end]
        ranges = NAMED.get(name.removeprefix("^"))
        if ranges is None:
            raise _wrong("invalid character class range", whole)
        self._at = end + 2
        return complement(ranges) if name.startswith("^") else ranges

    def _shorthand(self) -> Ranges | None:
        r"""A class like `\d` or `\pL`, if there is one here."""
        text, char = self._text, self._text[self._at + 1 : self._at + 2]
        if text[self._at : self._at + 1] != "\\" or not char:
            return None
        if char in "dDsSwW":
            self._at += 2
            ranges = ESCAPED[char.lower()]
            return ranges if char.islower() else complement(ranges)
        return self._category(negated=char == "P") if char in "pP" else None

    def _category(self, *, negated: bool) -> Ranges:
        text, start = self._text, self._at
        end, name = start + 3, text[start + 2 : start + 3]
        if name == "{":
            end = text.find("}", start) + 1
            if not end:
                raise _wrong("invalid character class range", text[start:])
            name = text[start + 3 : end - 1]
        ranges = category(name.removeprefix("^"))
        if ranges is None:
            raise _wrong("invalid character class range", text[start:end])
        self._at = end
        return complement(ranges) if negated is not name.startswith("^") else ranges

    def _character(self) -> int:
        r"""The one character that an escape like `\n` or `\x41` stands for."""
        text, start = self._text, self._at
        char = text[start + 1 : start + 2]
        if not char:
            raise ValueError("error parsing regexp: trailing backslash at end of expression: ``")
        self._at += 2
        if char in _CONTROLS:
            return _CONTROLS[char]
        if char == "0" or (char in _OCTAL and self._peek() in _OCTAL and self._peek()):
            while self._at < start + 4 and self._peek() and self._peek() in _OCTAL:
                self._at += 1
            return int(text[start + 1 : self._at], 8)
        if char == "x":
            code = self._hexadecimal()
            if code is not None:
                return code
        elif char.isascii() and not char.isalnum():
            return ord(char)
        raise _wrong("invalid escape sequence", text[start : self._at])

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _hexadecimal(self) -> int | None:
        """The digits after an `x`, in braces or two; None, and past what is wrong, when they are not that."""
        if self._peek() != "{":
            digits = self._text[self._at : self._at + 2]
            self._at += len(digits)
            return int(digits, 16) if len(digits) == 2 and all(each in _HEX for each in digits) else None
        self._at += 1
        begin, code = self._at, 0
        while char := self._peek():
            self._at += 1
            if char == "}":
                return code if self._at - 1 > begin else None
            if char not in _HEX:
                return None
            code = code * 16 + int(char, 16)
            if code > 0x10FFFF:
                return None
        return None
