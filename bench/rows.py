"""What was measured, as rows of one table: the figure, its budget, what the peer did, and how much better it is."""

from __future__ import annotations

import sys
from typing import NamedTuple

HEADER = ("what", "measured", "budget", "peer", "ratio", "")


class Row(NamedTuple):
    """`peer` is what the real program of Kubernetes did with the same, in the same run."""

    what: str
    measured: float
    unit: str
    budget: float | None = None
    at_least: bool = False
    peer: float | None = None

    @property
    def verdict(self) -> str:
        if self.budget is None:
            return ""
        met = self.measured >= self.budget if self.at_least else self.measured <= self.budget
        return "ok" if met else "OVER BUDGET"

    @property
    def ratio(self) -> str:
        """How many times better than the peer; below one it is worse."""
        if not self.peer or not self.measured:
            return ""
        times = self.measured / self.peer if self.at_least else self.peer / self.measured
        return f"{times:,.0f}x" if times >= 10 else f"{times:.1f}x"

    def cells(self) -> tuple[str, ...]:
        limit = "" if self.budget is None else f"{'>=' if self.at_least else '<='} {_number(self.budget)} {self.unit}"
        beside = "" if self.peer is None else f"{_number(self.peer)} {self.unit}"
        return self.what, f"{_number(self.measured)} {self.unit}", limit, beside, self.ratio, self.verdict


def _number(value: float) -> str:
    whole = abs(value) >= 100 or value == int(value)
    return f"{value:,.0f}" if whole else f"{value:,.2f}" if abs(value) < 10 else f"{value:,.1f}"


def progress(row: Row) -> None:
    print(f"  {row.what}: {row.cells()[1]}", file=sys.stderr)


def table(rows: list[Row]) -> str:
    lines = [HEADER, *(row.cells() for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADER))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in lines)
