"""What a run found: the RESULT that a controller writes to status, spelt as the status of a job spells it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

__all__ = ["ERROR", "EXIT_CODES", "FAILED", "PASSED", "CellMismatch", "CellOutcome", "GoldenComparison", "RunResult"]

FORMAT: Final = 1

PASSED: Final = "Passed"
FAILED: Final = "Failed"
ERROR: Final = "Error"

RUNNER_UNAVAILABLE: Final = "RunnerUnavailable"
EXIT_CODES: Final = {PASSED: 0, ERROR: 1, FAILED: 2}
RUNNER_UNAVAILABLE_EXIT_CODE: Final = 3


@dataclass(frozen=True)
class CellOutcome:
    """An entry of `status.results`. The index is that of the cell in the source, from 0 on."""

    cellIndex: int
    status: str
    executionTime: str = ""
    output: str = ""
    errorMessage: str = ""

    def to_data(self) -> dict[str, Any]:
        return _without_blanks(vars(self), keep=("cellIndex", "status"))


@dataclass(frozen=True)
class CellMismatch:
    """An entry of `status.comparisonResult.diffs`."""

    cellIndex: int
    cellType: str
    diffType: str
    severity: str
    expected: str = ""
    actual: str = ""
    diff: str = ""

    def to_data(self) -> dict[str, Any]:
        return _without_blanks(vars(self), keep=("cellIndex", "cellType", "diffType", "severity"))


@dataclass(frozen=True)
class GoldenComparison:
    """`status.comparisonResult`."""

    strategy: str
    result: str
    totalCells: int
    matchedCells: int
    mismatchedCells: int
    diffs: tuple[CellMismatch, ...] = ()

    def to_data(self) -> dict[str, Any]:
        found = {name: value for name, value in vars(self).items() if name != "diffs"}
        if self.diffs:
            found["diffs"] = [each.to_data() for each in self.diffs]
        return found


@dataclass(frozen=True)
class RunResult:
    """The whole of it. `outcome` is the verdict; `reason` and `message` are those of a condition."""

    outcome: str
    reason: str
    message: str
    results: tuple[CellOutcome, ...] = ()
    comparison: GoldenComparison | None = None
    total_cells: int = 0
    code_cells: int = 0
    failed_cells: int = 0
    warnings: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()

    @property
    def exit_code(self) -> int:
        return RUNNER_UNAVAILABLE_EXIT_CODE if self.reason == RUNNER_UNAVAILABLE else EXIT_CODES[self.outcome]

    def to_data(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "outcome": self.outcome,
            "reason": self.reason,
            "message": self.message,
            "results": [each.to_data() for each in self.results],
            "comparisonResult": None if self.comparison is None else self.comparison.to_data(),
            "statistics": {
                "totalCells": self.total_cells,
                "codeCells": self.code_cells,
                "failedCells": self.failed_cells,
            },
            "warnings": list(self.warnings),
            "environment": dict(self.environment),
        }


def _without_blanks(data: dict[str, Any], keep: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name in keep or value}
