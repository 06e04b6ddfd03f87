"""What became of the cells of a notebook, and what ended the run early."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

__all__ = ["FAILURE", "SKIPPED", "SUCCESS", "CellRun", "EarlyEnd", "Execution"]

SUCCESS: Final = "Success"
FAILURE: Final = "Failure"
SKIPPED: Final = "Skipped"


@dataclass
class CellRun:
    """One cell; a cell that no kernel has seen is Skipped."""

    status: str = SKIPPED
    seconds: float = 0.0
    error: str = ""


@dataclass(frozen=True)
class EarlyEnd:
    """Why cells were left out: outcome, reason and message of a result."""

    outcome: str
    reason: str
    message: str


@dataclass
class Execution:
    """A run as far as it came. `notebook` has the outputs of the cells that were reached, and only those.

    `reached` is the index of the cell that ended it, or the number of cells; `exited_at` is the cell that left the
    notebook with exit code 0, which is a good end.
    """

    notebook: dict[str, Any]
    cells: list[CellRun]
    end: EarlyEnd | None = None
    reached: int = 0
    exited_at: int | None = None
    environment: dict[str, str] = field(default_factory=dict)
    kernel_log: str = ""
