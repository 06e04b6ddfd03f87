"""Cuts a Go template into text and actions, and an action into words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from mooring.kube.errors import MooringError
from mooring.nodes.stages.go_values import go_integer

_WORD: Final = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*")
      | (?P<raw>`[^`]*`)
      | (?P<number>[-+]?(?:0[xXoObB]\w+|(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)(?!\w))
      | (?P<variable>\$\w*)
      | (?P<field>\.[A-Za-z_]\w*)
      | (?P<dot>\.)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<sign>:=|=|\||\(|\)|,)
      | (?P<space>\s+)""",
    re.VERBOSE,
)
_ESCAPE: Final = re.compile(r"\\(x[0-9a-fA-F]{2}|[0-7]{3}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)")
_ESCAPED: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", '"': '"'}
_ACTION: Final = re.compile(
    r"""\{\{(?P<left>-\s)?(?P<body>(?:"(?:[^"\\]|\\.)*"|`[^`]*`|[^"`])*?)(?P<right>\s-)?\}\}""", re.DOTALL
)


class TemplateError(MooringError):
    """A template that cannot be read or carried out here."""


class Word(NamedTuple):
    kind: str
    text: str
    # Whether nothing stands between it and the word before.
    glued: bool


class TemplateAction(NamedTuple):
    """What stands between two pairs of braces, and the line it stands on."""

    words: tuple[Word, ...]
    line: int


def pieces(text: str) -> Iterator[str | TemplateAction]:
    """Text and actions in order. Comments are left out; `{{-` and `-}}` take the white space beside them along."""
    place = 0
    trim = False
    for found in _ACTION.finditer(text):
        before = text[place : found.start()]
        if trim:
            before = before.lstrip()
        if found["left"]:
            before = before.rstrip()
        if before:
            yield before
        trim = bool(found["right"])
        place = found.end()
        body = found["body"]
        if not body.startswith("/*"):
            line = text.count("\n", 0, found.start()) + 1
            yield TemplateAction(tuple(_words(body, line)), line)
    rest = text[place:]
    if "{{" in rest:
        line = text.count("\n", 0, text.index("{{", place)) + 1
        raise TemplateError(f"line {line}: an action is not closed with }}}}")
    if rest := rest.lstrip() if trim else rest:
        yield rest


def _words(body: str, line: int) -> Iterator[Word]:
    place = 0
    glued = False
    while place < len(body):
        found = _WORD.match(body, place)
        if found is None:
            raise TemplateError(f'line {line}: "{body[place:].strip()[:20]}" is not understood')
        kind = found.lastgroup or ""
        if kind != "space":
            yield Word(kind, found.group(), glued)
        glued = kind != "space"
        place = found.end()


def number(text: str, line: int) -> int | float:
    """A number as Go reads it: one with a point or an exponent is a float, one that begins with 0 is octal."""
    if "x" not in text.lower() and any(sign in text for sign in ".eE"):
        return float(text)
    found = go_integer(text)
    if found is None:
        raise TemplateError(f"line {line}: {text} is no number")
    return found


def unquoted(text: str, line: int) -> str:
    """What a constant in double quotes says."""

    def one(found: re.Match[str]) -> str:
        escape = found[1]
        if len(escape) == 1:
            if escape not in _ESCAPED:
                raise TemplateError(f"line {line}: \\{escape} is not understood in {text}")
            return _ESCAPED[escape]
        return chr(int(escape, 8) if escape.isdecimal() else int(escape[1:], 16))

    return _ESCAPE.sub(one, text[1:-1])
