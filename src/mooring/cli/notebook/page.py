"""What `mooring notebook run` says of a run: the verdict, a line for each cell of code, and what differs."""

from __future__ import annotations

from typing import Any, Final

from mooring.cli.render.page import Style, TextColumn, TextPage

__all__ = ["result_page"]

_COLUMNS: Final = (TextColumn("CELL", right=True), TextColumn("STATUS"), TextColumn("TIME", right=True), TextColumn(""))
_SHOWN_CHARACTERS: Final = 100
_DIFF_STYLES: Final[dict[str, Style]] = {"-": "bad", "+": "good", "@": "dim"}


def result_page(name: str, result: dict[str, Any]) -> TextPage:
    page = TextPage()
    good = result["outcome"] == "Passed"
    page.spans((f"{name}: ", "bold"), (f"{result['outcome']} ({result['reason']})", "good" if good else "bad"))
    page.line(result["message"], indent=2)
    executed = [cell for cell in result["results"] if cell["status"] != "Skipped"]
    if executed:
        page.line()
        rows = [
            (str(cell["cellIndex"]), cell["status"], cell.get("executionTime", ""), _said(cell)) for cell in executed
        ]
        failed = [number for number, cell in enumerate(executed) if cell["status"] == "Failure"]
        page.table(_COLUMNS, rows, marked=failed)
    for cell in executed:
        if cell["status"] == "Failure":
            page.title(f"Cell {cell['cellIndex']} failed: {cell.get('errorMessage', '')}")
            _lines(page, cell.get("output", ""))
    compared = result["comparisonResult"] or {}
    for diff in compared.get("diffs", ()):
        page.title(_heading(diff))
        _lines(page, diff.get("diff") or diff.get("actual") or diff.get("expected", ""), coloured=True)
    for warning in result["warnings"]:
        page.line(f"warning: {warning}", "dim")
    return page


def _heading(diff: dict[str, Any]) -> str:
    words = {
        "output_mismatch": "differs from the golden notebook",
        "execution_error": "failed before it could be compared; its outputs were",
        "missing_cell": "is only in the golden notebook",
        "extra_cell": "is not in the golden notebook",
    }
    return f"Cell {diff['cellIndex']} {words[diff['diffType']]}"


def _lines(page: TextPage, text: str, *, coloured: bool = False) -> None:
    for line in text.splitlines():
        style = _DIFF_STYLES.get(line[:1], "") if coloured else ""
        page.line(line, style, 2, wrap=False)


def _said(cell: dict[str, Any]) -> str:
    text = cell.get("errorMessage") or cell.get("output", "")
    line = next((line for line in text.splitlines() if line.strip()), "").strip()
    return line if len(line) <= _SHOWN_CHARACTERS else line[: _SHOWN_CHARACTERS - 1] + "…"
