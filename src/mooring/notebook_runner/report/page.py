"""The whole page of a report: one file, light and dark, no script, and a policy that lets it load nothing."""

from __future__ import annotations

from html import escape
from pkgutil import get_data
from typing import Any, Final

from mooring.notebook_runner.durations import go_duration
from mooring.notebook_runner.report.cells import cell_panel, cell_row, mismatch_html, seconds_of
from mooring.notebook_runner.result import PASSED, CellMismatch, RunResult
from mooring.notebook_runner.settings import ComparisonRules, RunnerSettings

__all__ = ["report_page"]

_POLICY: Final = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_MARK: Final = (
    '<svg viewBox="0 0 20 20" aria-hidden="true"><path fill="currentColor" fill-rule="evenodd" d="M10 1.5a4.7 4.7 0 '
    '0 1 1.6 9.12V14H18v3.5H2V14h6.4v-3.38A4.7 4.7 0 0 1 10 1.5Zm0 2.8a1.9 1.9 0 1 0 0 3.8 1.9 1.9 0 0 0 0-3.8Z"/>'
    "</svg>"
)


def report_page(
    name: str,
    notebook: dict[str, Any],
    golden: dict[str, Any] | None,
    result: RunResult,
    settings: RunnerSettings,
) -> str:
    runs = {each.cellIndex: each for each in result.results}
    mismatches = {} if result.comparison is None else {each.cellIndex: each for each in result.comparison.diffs}
    total = sum(seconds_of(each.executionTime) for each in result.results)
    goldens = [] if golden is None else golden["cells"]
    rows, panels, start = [], [], 0.0
    for index, cell in enumerate(notebook["cells"]):
        run, mismatch = runs.get(index), mismatches.pop(index, None)
        rows.append(cell_row(index, cell, run, mismatch is not None, (start, total)))
        panels.append(cell_panel(index, cell, run, mismatch, goldens[index] if index < len(goldens) else None))
        start += seconds_of(run.executionTime) if run is not None else 0.0
    panels += [_missing(each, goldens) for each in mismatches.values()]
    aside = _panel("Cells", f'<div class="rows">{"".join(rows)}</div>', _counts(result))
    aside += _panel("Run", _facts(_run_facts(result, total)))
    if result.comparison is not None:
        aside += _panel("How it was compared", _facts(_rules(settings.comparison)))
    if result.warnings:
        notes = "".join(f"<li>{escape(each)}</li>" for each in result.warnings)
        aside += _panel("Warnings", f'<ol class="notes">{notes}</ol>')
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{escape(name)}: '
        f"{escape(result.outcome)}</title><style>{_style()}</style></head>\n"
        f'<body><header class="top">{_MARK}Mooring<span>notebook report</span></header><main class="page">'
        f'<div class="head"><h1>{escape(name)}</h1>{_state(result)}</div>'
        f'<p class="message">{escape(result.message)}</p>'
        f'<div class="cols"><div class="aside">{aside}</div><div>{"".join(panels)}</div></div></main></body></html>\n'
    )


def _style() -> str:
    found = get_data("mooring.notebook_runner.report", "report.css")
    assert found is not None
    return found.decode()


def _state(result: RunResult) -> str:
    kind = "ok" if result.outcome == PASSED else "bad"
    return (
        f'<span class="state {kind}"><i class="i {kind}"></i>{escape(result.outcome)}: {escape(result.reason)}</span>'
    )


def _counts(result: RunResult) -> str:
    if result.comparison is not None and result.comparison.result != "skipped":
        return f"{result.comparison.matchedCells} as golden, {result.comparison.mismatchedCells} differ"
    return f"{result.code_cells} code cells, {result.failed_cells} failed"


def _run_facts(result: RunResult, total: float) -> list[tuple[str, str]]:
    facts = [("Cells", f"{result.total_cells}, of which {result.code_cells} have code")]
    facts.append(("Time in cells", go_duration(total)))
    return facts + [(name, value) for name, value in result.environment if value]


def _rules(rules: ComparisonRules) -> list[tuple[str, str]]:
    facts = [("Strategy", rules.strategy)]
    if rules.strategy != "exact":
        relative = f", {rules.relative_tolerance} relative" if rules.relative_tolerance else ""
        facts.append(("Tolerance", f"{rules.tolerance} absolute{relative}"))
        names = (["timestamps"] if rules.ignore_timestamps else []) + list(rules.normalizers)
        facts.append(("Normalised", ", ".join(dict.fromkeys(names)) or "nothing"))
    ignored = (["execution counts"] if rules.ignore_execution_count else []) + list(rules.ignore_output_types)
    facts.append(("Ignored", ", ".join(ignored) or "nothing"))
    return facts


def _facts(facts: list[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts) + "</dl>"


def _panel(title: str, body: str, note: str = "") -> str:
    aside = f'<span class="muted">{escape(note)}</span>' if note else ""
    return f'<section class="panel"><header><h2>{title}</h2>{aside}</header>{body}</section>'


def _missing(mismatch: CellMismatch, goldens: list[dict[str, Any]]) -> str:
    index = mismatch.cellIndex
    golden = goldens[index] if index < len(goldens) else None
    return (
        f'<section class="panel" id="cell-{index}"><header><i class="i bad"></i><h2>Cell {index}</h2>'
        f'<span class="muted">only in the golden notebook</span></header>'
        f"{mismatch_html(mismatch, None, golden)}</section>"
    )
