"""Cuts a Go template into text and actions, and an action into words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from mooring.kube.errors import MooringError

_WORD: Final = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*")
      | (?P<raw>`[^`]*`)
      | (?P<number>-?\d+(?:\.\d+)?)
      | (?P<variable>\$\w*)
      | (?P<field>\.[A-Za-z_]\w*)
      | (?P<dot>\.)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<sign>:=|=|\||\(|\)|,)
      | (?P<space>\s+)""",
    re.VERBOSE,
)
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
        if not body.strip().startswith("/*"):
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
