"""A page as plain text, for pipes and files: aligned, never wrapped, without escape codes."""

from __future__ import annotations

from collections.abc import Iterator

from mooring.cli.render.page import Table, TextColumn, TextPage

GAP = "  "


def to_text(page: TextPage) -> str:
    return "".join(f"{line}\n" for line in _lines(page))


def _lines(page: TextPage) -> Iterator[str]:
    for block in page.blocks:
        if isinstance(block, Table):
            yield from _table_lines(block)
        else:
            yield (" " * block.indent + block.text).rstrip()


def _table_lines(table: Table) -> Iterator[str]:
    rows = [tuple(column.head for column in table.columns), *table.rows] if table.has_header else list(table.rows)
    widths = [max(column.least, *(len(row[i]) for row in rows)) for i, column in enumerate(table.columns)]
    margin = " " * table.indent
    for row in rows:
        cells = (_cell(*place) for place in zip(row, widths, table.columns, strict=True))
        yield f"{margin}{GAP.join(cells)}".rstrip()


def _cell(text: str, width: int, column: TextColumn) -> str:
    return text.rjust(width) if column.right else text.ljust(width)
