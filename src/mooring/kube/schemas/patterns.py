"""Regular expressions of schemas, which are Go's, as Python understands them.

The two dialects share nearly everything that people write. What differs in silence is translated: `$` and `\\z` are the
very end of the text, `\\d`, `\\w` and `\\s` are ASCII, named classes exist. What Go refuses (look-around, references
back) is refused here too, in Go's words, because a real cluster would refuse the definition.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

__all__ = ["compile_pattern"]

_CLASSES: Final = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7F",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1F\x7F",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": r"0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_LOOKAROUND: Final = ("(?=", "(?!", "(?<=", "(?<!", "(?>", "(?#", "(?P=")
_TOKEN: Final = re.compile(r"\\Q.*?(?:\\E|$)|\\.|\[:\^?\w+:\]|\(\?<?[=!>#]|\(\?P=|\(\?<|.", re.DOTALL)


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """The compiled expression; ValueError with the API's words when it is not one."""
    translated = "".join(_translate(pattern))
    # Python wants flags for the whole expression at its start only; in Go they hold from where they stand.
    translated = re.sub(r"^(\^?)\(\?([ims]+)\)(.*)$", r"(?\2:\1\3)", translated, flags=re.DOTALL)
    try:
        return re.compile(translated, re.ASCII)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"error parsing regexp: {error}: `{pattern}`") from None


def _translate(pattern: str) -> Iterator[str]:
    in_class = False
    first = False
    for match in _TOKEN.finditer(pattern):
        token = match[0]
        was_first, first = first, False
        if token.startswith(r"\Q"):
            yield re.escape(token[2:].removesuffix(r"\E"))
        elif token[0] == "\\":
            yield _escape(token)
        elif in_class:
            if token.startswith("[:"):
                yield _named_class(token)
            elif token == "[":
                yield r"\["
            elif token == "]" and was_first:
                yield r"\]"
            else:
                in_class = token != "]"
                first = was_first and token == "^"
                yield token
        elif token.startswith("["):
            in_class = first = True
            yield "["
        elif token in _LOOKAROUND:
            raise ValueError(f"error parsing regexp: invalid or unsupported Perl syntax: `{token}`")
        elif token == "(?<":
            yield "(?P<"
        else:
            yield r"\Z" if token == "$" else token


def _escape(token: str) -> str:
    if token == r"\z":
        return r"\Z"
    if token == r"\Z" or (token[1].isdigit() and token[1] != "0"):
        raise ValueError(f"error parsing regexp: invalid escape sequence: `{token}`")
    return token


def _named_class(token: str) -> str:
    name = token.strip("[:^]")
    if name not in _CLASSES or "^" in token:
        raise ValueError(f"error parsing regexp: invalid character class range: `{token}`")
    return _CLASSES[name]
