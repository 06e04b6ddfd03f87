"""Shows answers on standard output: one, or, when they are watched, each that differs from the one before."""

from __future__ import annotations

import sys
from typing import Final

import click
import msgspec

from mooring.cli.answers.answer import ShownAnswer
from mooring.cli.render.data import encode
from mooring.cli.render.plain import to_text
from mooring.cli.render.screen import is_terminal, show_page

__all__ = ["AnswerDisplay"]

_CLEAR: Final = "\x1b[H\x1b[2J\x1b[3J"
# What stands between two answers; also what YAML has between documents.
_BETWEEN: Final = "---\n"


class AnswerDisplay:
    """Answers that are watched replace one another on a terminal; as JSON each is one line."""

    def __init__(self, form: str, *, colour: bool, watched: bool) -> None:
        self._form, self._colour, self._watched = form, colour, watched
        self._shown = ""

    @property
    def is_empty(self) -> bool:
        return not self._shown

    def show(self, answer: ShownAnswer) -> None:
        if self._form == "text":
            self._show_page(answer)
        elif self._form == "json" and self._watched:
            self._show_text(msgspec.json.encode(answer.data()).decode() + "\n", between="")
        else:
            self._show_text(encode(answer.data(), self._form), between=_BETWEEN)
        sys.stdout.flush()

    def _show_page(self, answer: ShownAnswer) -> None:
        page = answer.page()
        text = to_text(page)
        if text == self._shown:
            return
        if self._watched and is_terminal():
            sys.stdout.write(_CLEAR)
        elif self._shown:
            click.echo(_BETWEEN, nl=False)
        show_page(page, colour=self._colour)
        self._shown = text

    def _show_text(self, text: str, *, between: str) -> None:
        if text != self._shown:
            click.echo(f"{between if self._shown else ''}{text}", nl=False)
            self._shown = text
