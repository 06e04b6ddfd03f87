"""The verdict on a run: what the execution, the rules and the comparison say, put together. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mooring.notebook_runner.cell_text import output_text, traceback_text
from mooring.notebook_runner.comparison.comparison import compared
from mooring.notebook_runner.durations import go_duration
from mooring.notebook_runner.execution.cell_run import FAILURE, SKIPPED, SUCCESS, CellRun, EarlyEnd, Execution
from mooring.notebook_runner.result import FAILED, PASSED, CellOutcome, GoldenComparison, RunResult
from mooring.notebook_runner.settings import ComparisonRules, RunnerSettings
from mooring.notebook_runner.validation.finding import RuleFinding
from mooring.notebook_runner.validation.validation import validated

__all__ = ["execution_result", "verdict"]


def verdict(
    execution: Execution, settings: RunnerSettings, saved: dict[str, Any], golden: dict[str, Any] | None
) -> RunResult:
    """`saved` is the notebook as it was before it ran. What went wrong first is the reason."""
    rules = settings.validation
    failures, warnings = validated(execution.notebook, _judged(execution), rules, saved if golden is None else golden)
    comparison = None if golden is None else _comparison(execution, golden, settings.comparison)
    found = replace(execution_result(execution), warnings=tuple(each.message for each in warnings))
    found = replace(_with_failures(found, failures), comparison=comparison)
    if found.outcome != PASSED:
        return found
    if failures:
        more = f" ({len(failures) - 1} more findings)" if len(failures) > 1 else ""
        return replace(found, outcome=FAILED, reason=failures[0].reason, message=failures[0].message + more)
    if comparison is not None and comparison.diffs:
        first = comparison.diffs[0]
        message = (
            f"{comparison.matchedCells} of {comparison.totalCells} cells match the golden notebook; "
            f"the first that does not is cell {first.cellIndex} ({first.diffType})"
        )
        return replace(found, outcome=FAILED, reason="ComparisonFailed", message=message)
    if comparison is not None:
        message = f"{found.message}; {comparison.matchedCells} of {comparison.totalCells} match the golden notebook"
        return replace(found, message=message)
    return found


def execution_result(execution: Execution, end: EarlyEnd | None = None) -> RunResult:
    """What the cells alone say; `end` overrides how the execution itself ended."""
    end = end or execution.end
    cells = execution.notebook["cells"]
    outcomes = tuple(_outcome(index, run, cell) for index, (run, cell) in enumerate(zip(execution.cells, cells)))
    executed = [each for each in outcomes if each.status != SKIPPED]
    good = sum(each.status == SUCCESS for each in executed)
    share = 100.0 if not executed else 100.0 * good / len(executed)
    message = f"{good} of {len(executed)} code cells succeeded ({share:.1f}%)"
    if execution.exited_at is not None:
        message += f"; cell {execution.exited_at} ended the notebook with exit code 0"
    return RunResult(
        outcome=PASSED if end is None else end.outcome,
        reason="ValidationComplete" if end is None else end.reason,
        message=message if end is None else end.message,
        results=outcomes,
        total_cells=len(cells),
        code_cells=sum(cell["cell_type"] == "code" for cell in cells),
        failed_cells=len(executed) - good,
        environment=tuple(sorted(execution.environment.items())),
    )


def _judged(execution: Execution) -> int:
    """How many cells the rules look at: the cell that ended the run early has its own error."""
    return execution.reached if execution.exited_at is None else execution.exited_at + 1


def _comparison(execution: Execution, golden: dict[str, Any], rules: ComparisonRules) -> GoldenComparison:
    notebook = execution.notebook
    if execution.end is None:
        return compared(notebook, golden, rules)
    reached = execution.reached
    if execution.end.outcome == FAILED and execution.cells[reached : reached + 1] and _failed(execution.cells[reached]):
        return compared(notebook, golden, rules, failed_at=reached)
    return GoldenComparison(rules.strategy, "skipped", len(notebook["cells"]), 0, 0)


def _failed(run: CellRun) -> bool:
    return run.status == FAILURE


def _outcome(index: int, run: CellRun, cell: dict[str, Any]) -> CellOutcome:
    if run.status == SKIPPED:
        return CellOutcome(index, SKIPPED)
    output = (traceback_text(cell) if run.status == FAILURE else "") or output_text(cell)
    return CellOutcome(index, run.status, go_duration(run.seconds), output, run.error)


def _with_failures(result: RunResult, failures: list[RuleFinding]) -> RunResult:
    """A cell that a rule fails is a failed cell; its output stays as it was."""
    sentences: dict[int, list[str]] = {}
    for each in failures:
        if each.cell is not None:
            sentences.setdefault(each.cell, []).append(each.message)
    outcomes = tuple(
        replace(
            cell,
            status=FAILURE,
            errorMessage="; ".join(([cell.errorMessage] if cell.errorMessage else []) + sentences[cell.cellIndex]),
        )
        if cell.cellIndex in sentences
        else cell
        for cell in result.results
    )
    return replace(result, results=outcomes, failed_cells=sum(cell.status == FAILURE for cell in outcomes))
