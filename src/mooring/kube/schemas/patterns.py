"""Regular expressions of schemas, which are Go's, matched by RE2.

Go's package was made after RE2: both take the same expressions, find the same, and need time in proportion to the text.
(Python's own needs time exponential in it for `^(a+)+$`, and one request would stop the server.) They differ in their
words and in a few corners of the syntax. What Go refuses is refused here, in its words, because a real cluster would
refuse the definition. Long names of Unicode's classes (`\\p{Letter}` for `\\p{L}`), new in Go, are not known.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

__all__ = ["Pattern", "compile_pattern"]

# Enough for `\pL` a thousand times, which takes half a second to compile. Go allows more, and needs less time for it.
_LARGEST_BYTES: Final = 32 << 20
_MAX_REPEATS: Final = 1000
_DEEPEST: Final = 1000

# RE2's words for what is wrong, and Go's.
_WORDS: Final = {
    "bad repetition operator": "invalid nested repetition operator",
    "invalid named capture group": "invalid named capture",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": "invalid repeat count",
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "trailing \\": "trailing backslash at end of expression",
}

# The pieces in which Go sees something else than RE2; classes and quoted text are skipped as a whole. Every alternative
# ends, or goes on to the end of the text, so that this is one pass whatever a user writes.
_PIECES: Final = re.compile(
    r"""
      \\Q.*?(?:\\E|\Z)
    | (?P<escape>\\C)
    | \\[xpP]\{[^}]*\}?
    | \\.
    | \[\^?\]?(?>\[:\^?[a-z]*+:\]|\\.|[^\]\\])*+(?:\]|\\?\Z)
    | (?P<name>\(\?P?<(?=.))
    | (?P<open>\()
    | (?P<close>\))
    | (?P<counts>\{(?P<low>0|[1-9][0-9]*)(?:,(?P<high>0|[1-9][0-9]*)?)?\})
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_NAME: Final = re.compile(r"[0-9A-Za-z_]+", re.ASCII)
_OPEN_HEXADECIMAL: Final = re.compile(r"\\x\{[0-9A-Fa-f]*\Z")
_OPEN_CATEGORY: Final = re.compile(r"(?<!-)\\[pP]\Z")


class Pattern:
    """A compiled expression, asked by `search`."""

    __slots__ = ("_find", "_text")

    def __init__(self, text: str, find: Callable[[bytes], object]) -> None:
        self._text = text
        self._find = find

    def __reduce__(self) -> tuple[Callable[[str], "Pattern"], tuple[str]]:
        return compile_pattern, (self._text,)

    def search(self, text: str) -> bool:
        """Whether some part of the text matches."""
        return self._find(text.encode(errors="replace")) is not None


@lru_cache(maxsize=1024)
def compile_pattern(text: str) -> Pattern:
    """The compiled expression; ValueError with the API's words when it is not one."""
    odd = _refused_by_go_alone(text)
    if odd is not None and not _is_wrong_before(text, odd[0]):
        raise odd[1]
    try:
        return Pattern(text, _compile(text).search)
    except ValueError as error:
        raise _in_words_of_go(text, str(error)) from None


def _compile(text: str) -> Any:
    """RE2's own object; ValueError in its words."""
    # Imported here: few programs meet a pattern, and all of them would wait for the library.
    import re2

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = _LARGEST_BYTES
    try:
        return re2.compile(text.encode(errors="replace"), options)
    except re2.error as error:
        (said,) = error.args
        raise ValueError(said.decode(errors="replace")) from None


def _refused_by_go_alone(text: str) -> tuple[int, ValueError] | None:
    """The first thing that RE2 would take, or refuse for another reason, and where it is."""
    depth = 0
    for piece in _PIECES.finditer(text):
        start = piece.start()
        depth += bool(piece["open"] or piece["name"]) - bool(piece["close"])
        if depth >= _DEEPEST:
            return start, _complaint("expression nests too deeply", text)
        if piece["escape"]:
            return start, _complaint("invalid escape sequence", piece["escape"])
        if piece["name"]:
            end = text.find(">", start)
            if end < 0:
                return start, _complaint("invalid named capture", text[start:])
            if not _NAME.fullmatch(text, piece.end(), end):
                return start, _complaint("invalid named capture", text[start : end + 1])
        if piece["counts"]:
            low, high = piece["low"], piece["high"] or piece["low"]
            # Compared by their digits first: Python refuses to read numbers of thousands of them.
            if max(len(low), len(high)) > 4 or not int(low) <= int(high) <= _MAX_REPEATS:
                return start, _complaint("invalid repeat count", piece["counts"])
    return None


def _is_wrong_before(text: str, end: int) -> bool:
    """Whether something before `end` is wrong already: whichever comes first is told."""
    try:
        _compile(text[:end])
    except ValueError as error:
        # Brackets are counted at the end.
        return not str(error).startswith("missing )")
    return False


def _in_words_of_go(text: str, said: str) -> ValueError:
    what, _, where = said.partition(": ")
    if what == "invalid UTF-8" and (found := _OPEN_HEXADECIMAL.search(text)):
        what, where = "invalid escape sequence", found[0]
    elif where in (r"\p", r"\P") and _OPEN_CATEGORY.search(text):
        what = "invalid character class range"
    elif what.startswith("pattern too large"):
        what, where = "expression too large", text
    return _complaint(_WORDS.get(what, what), where)


def _complaint(what: str, where: str) -> ValueError:
    return ValueError(f"error parsing regexp: {what}: `{where}`")
