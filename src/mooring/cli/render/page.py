"""A page of text before it is known where it goes.

What is said is decided once; how it looks is decided by `plain` (a pipe, a file: aligned columns, lines of any length,
no escape codes) or `terminal` (colour, wrapped at the edge of the window).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

Style = Literal["", "bold", "command", "dim", "good", "bad", "title"]


@dataclass(frozen=True)
class Span:
    text: str
    style: Style = ""


@dataclass(frozen=True)
class Line:
    """One line of text. A line that is to be pasted must not be wrapped."""

    spans: tuple[Span, ...]
    indent: int = 0
    wrap: bool = True

    @property
    def text(self) -> str:
        return "".join(span.text for span in self.spans)


@dataclass(frozen=True)
class Column:
    head: str = ""
    right: bool = False
    least: int = 0
    style: Style = ""


@dataclass(frozen=True)
class Table:
    """Aligned columns; without a header where no column has a head. `marked` rows stand out."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    indent: int = 2
    marked: frozenset[int] = frozenset()

    @property
    def has_header(self) -> bool:
        return any(column.head for column in self.columns)


Block = Line | Table


@dataclass
class Page:
    blocks: list[Block] = field(default_factory=list)

    def line(self, text: str = "", style: Style = "", indent: int = 0, *, wrap: bool = True) -> None:
        self.blocks.append(Line((Span(text, style),), indent, wrap))

    def spans(self, *spans: tuple[str, Style], indent: int = 0) -> None:
        self.blocks.append(Line(tuple(Span(text, style) for text, style in spans), indent))

    def title(self, text: str) -> None:
        """The heading of a section, set off from what is above."""
        if self.blocks:
            self.line()
        self.line(text, "title")

    def table(
        self, columns: Sequence[Column], rows: Iterable[Sequence[str]], indent: int = 2, marked: Iterable[int] = ()
    ) -> None:
        self.blocks.append(Table(tuple(columns), tuple(map(tuple, rows)), indent, frozenset(marked)))
