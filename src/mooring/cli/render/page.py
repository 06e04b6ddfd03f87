"""A page of text, independent of where it is shown.

The content is decided once; the layout by `plain` (a pipe, a file: aligned columns, lines of any length,
no escape codes) or `terminal` (colour, wrapped at the edge of the window).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

Style = Literal["", "bold", "command", "dim", "good", "bad", "warn", "title"]


@dataclass(frozen=True)
class TextSpan:
    text: str
    style: Style = ""


@dataclass(frozen=True)
class TextLine:
    """One line of text. A line that is to be pasted must not be wrapped."""

    spans: tuple[TextSpan, ...]
    indent: int = 0
    wrap: bool = True

    @property
    def text(self) -> str:
        return "".join(span.text for span in self.spans)


@dataclass(frozen=True)
class TextColumn:
    head: str = ""
    right: bool = False
    least: int = 0
    style: Style = ""


@dataclass(frozen=True)
class Table:
    """Aligned columns; without a header where no column has a head. `marked` rows stand out."""

    columns: tuple[TextColumn, ...]
    rows: tuple[tuple[str, ...], ...]
    indent: int = 2
    marked: frozenset[int] = frozenset()

    @property
    def has_header(self) -> bool:
        return any(column.head for column in self.columns)


TextBlock = TextLine | Table


@dataclass
class TextPage:
    blocks: list[TextBlock] = field(default_factory=list)

    def line(self, text: str = "", style: Style = "", indent: int = 0, *, wrap: bool = True) -> None:
        self.blocks.append(TextLine((TextSpan(text, style),), indent, wrap))

    def spans(self, *spans: tuple[str, Style], indent: int = 0) -> None:
        self.blocks.append(TextLine(tuple(TextSpan(text, style) for text, style in spans), indent))

    def title(self, text: str) -> None:
        """The heading of a section, set off from what is above."""
        if self.blocks:
            self.line()
        self.line(text, "title")

    def table(
        self, columns: Sequence[TextColumn], rows: Iterable[Sequence[str]], indent: int = 2, marked: Iterable[int] = ()
    ) -> None:
        self.blocks.append(Table(tuple(columns), tuple(map(tuple, rows)), indent, frozenset(marked)))
