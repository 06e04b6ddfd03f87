"""A page on a terminal: colour, and lines that are wrapped at the edge of the window. The only user of rich."""

from __future__ import annotations

from typing import IO

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from mooring.cli.render.page import Style, Table, TextLine, TextPage

STYLES: dict[Style, str] = {
    "": "",
    "bold": "bold",
    "command": "cyan",
    "dim": "dim",
    "good": "bold green",
    "warn": "bold yellow",
    "bad": "bold red",
    "title": "bold",
}


def show(page: TextPage, stream: IO[str], *, colour: bool) -> None:
    console = Console(file=stream, highlight=False, markup=False, emoji=False, no_color=not colour)
    for block in page.blocks:
        if isinstance(block, Table):
            console.print(Padding(_table(block), (0, 0, 0, block.indent)))
        else:
            _line(console, block)


def _line(console: Console, line: TextLine) -> None:
    text = Text()
    for span in line.spans:
        text.append(span.text, STYLES[span.style])
    if not line.text:
        # Padding around nothing prints nothing at all.
        console.print()
    elif line.wrap:
        console.print(Padding(text, (0, 0, 0, line.indent), expand=False))
    else:
        console.print(Text(" " * line.indent) + text, soft_wrap=True)


def _table(table: Table) -> RichTable:
    made = RichTable(
        box=None, show_header=table.has_header, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0), expand=False
    )
    last = len(table.columns) - 1
    for i, column in enumerate(table.columns):
        made.add_column(
            column.head,
            justify="right" if column.right else "left",
            style=STYLES[column.style],
            min_width=column.least or None,
            no_wrap=i != last,
            overflow="fold" if i == last else "ellipsis",
        )
    for i, row in enumerate(table.rows):
        made.add_row(*map(Text, row), style="bold green" if i in table.marked else None)
    return made
