"""Shows a page on standard output: with colour on a terminal, plain text elsewhere."""

from __future__ import annotations

import os
import sys

import click

from mooring.cli.render.page import TextPage

__all__ = ["is_terminal", "show_page"]


def is_terminal() -> bool:
    """Whether standard output is a terminal that can do more than print lines."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def show_page(page: TextPage, *, colour: bool) -> None:
    if is_terminal():
        from mooring.cli.render.terminal import show

        show(page, sys.stdout, colour=colour and not os.environ.get("NO_COLOR"))
    else:
        from mooring.cli.render.plain import to_text

        click.echo(to_text(page), nl=False)
