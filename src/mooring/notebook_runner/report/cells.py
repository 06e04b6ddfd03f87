"""The cells of a report: a list with a bar of time for each, and a panel with source, outputs and what differs."""

from __future__ import annotations

from html import escape
from typing import Any, Final

from mooring.notebook_runner.comparison.outputs import text_of
from mooring.notebook_runner.report.outputs import figures, output_html, pre
from mooring.notebook_runner.result import CellMismatch, CellOutcome

__all__ = ["cell_panel", "cell_row", "seconds_of"]

_STATES: Final = {"Success": "ok", "Failure": "bad", "Skipped": "off"}
_TYPES: Final = {
    "output_mismatch": "differs from the golden notebook",
    "execution_error": "failed before it could be compared",
    "missing_cell": "is missing",
    "extra_cell": "is not in the golden notebook",
}


def seconds_of(duration: str) -> float:
    """A Go duration of this program's own making."""
    total, number = 0.0, ""
    units = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
    place = 0
    while place < len(duration):
        if duration[place] in "0123456789.":
            number += duration[place]
            place += 1
        else:
            unit = "ms" if duration.startswith("ms", place) else duration[place]
            total, number, place = total + float(number or 0) * units[unit], "", place + len(unit)
    return total


def cell_row(
    index: int, cell: dict[str, Any], run: CellOutcome | None, differs: bool, axis: tuple[float, float]
) -> str:
    """`axis` is when the cell started and how long all took, in seconds."""
    start, total = axis
    code = cell["cell_type"] == "code"
    state = _state(run, differs)
    first = next((line for line in text_of(cell["source"]).splitlines() if line.strip()), "").strip()
    time = run.executionTime if run is not None else ""
    bar = ""
    if time and total:
        left, width = 100 * start / total, 100 * seconds_of(time) / total
        bar = f'<i style="left:{min(left, 99):.2f}%;width:{min(width, 100 - left):.2f}%"></i>'
    kind = "row" + ("" if code else " text") + (" failed" if state == "bad" else "")
    icon = f'<i class="i {state}"></i>' if code else "<span></span>"
    return (
        f'<a class="{kind}" href="#cell-{index}">{icon}<span class="n">{index}</span>'
        f"<code>{escape(first if code else first.lstrip('# '))}</code>"
        f'<span class="{"bar" if code else ""}">{bar}</span><span class="d">{time}</span></a>'
    )


def cell_panel(
    index: int, cell: dict[str, Any], run: CellOutcome | None, mismatch: CellMismatch | None, golden: Any
) -> str:
    source = text_of(cell["source"])
    parts = []
    if cell["cell_type"] == "code":
        parts.append(pre(source, "source"))
        if run is not None and run.errorMessage:
            parts.append(f'<p class="why">{escape(run.errorMessage)}</p>')
        parts += [output_html(output) for output in cell.get("outputs", ())]
    else:
        parts.append(f'<div class="markdown">{escape(source)}</div>')
    if mismatch is not None:
        parts.append(mismatch_html(mismatch, cell, golden))
    state = _state(run, mismatch is not None)
    words = _words(cell, run, mismatch)
    return (
        f'<section class="panel" id="cell-{index}"><header><i class="i {state}"></i><h2>Cell {index}</h2>'
        f'<span class="muted">{escape(words)}</span></header>{"".join(parts)}</section>'
    )


def mismatch_html(mismatch: CellMismatch, cell: dict[str, Any] | None, golden: Any) -> str:
    """Images side by side, then the lines; without lines, the two texts side by side."""
    sides = []
    for caption, shown in (("Golden", golden), ("This run", cell)):
        images = "".join(figures(output, caption) for output in (shown or {}).get("outputs", ()))
        sides.append(images)
    pictures = f'<div class="twin"><div>{sides[0]}</div><div>{sides[1]}</div></div>' if any(sides) else ""
    if mismatch.diff:
        return f'{pictures}<div class="diff"><h3>Difference</h3><pre>{_lines(mismatch.diff)}</pre></div>'
    return (
        f'{pictures}<div class="twin"><div><h3>Golden</h3>{pre(mismatch.expected, "")}</div>'
        f"<div><h3>This run</h3>{pre(mismatch.actual, '')}</div></div>"
    )


def _lines(diff: str) -> str:
    kinds = {"-": "o", "+": "a", "@": "q"}
    lines = diff.splitlines()[2:]
    return "".join(f'<span class="{kinds.get(line[:1], "")}">{escape(line) or " "}</span>' for line in lines)


def _state(run: CellOutcome | None, differs: bool) -> str:
    return "bad" if differs else "off" if run is None else _STATES[run.status]


def _words(cell: dict[str, Any], run: CellOutcome | None, mismatch: CellMismatch | None) -> str:
    words = [cell["cell_type"]] if cell["cell_type"] != "code" else []
    if run is not None and run.executionTime:
        words.append(run.executionTime)
    if run is not None and run.status == "Skipped" and cell["cell_type"] == "code":
        words.append("not executed")
    if mismatch is not None:
        words.append(_TYPES[mismatch.diffType])
    return ", ".join(words)
