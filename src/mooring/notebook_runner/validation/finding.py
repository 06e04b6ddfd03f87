"""A finding: something that a rule has against a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["RuleFinding", "code_cells"]


@dataclass(frozen=True)
class RuleFinding:
    """`cell` is None where it is about the notebook as a whole."""

    reason: str
    cell: int | None
    message: str


def code_cells(notebook: dict[str, Any], reached: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """The code cells that a kernel has executed."""
    for index, cell in enumerate(notebook["cells"][:reached]):
        if cell["cell_type"] == "code" and "skip-execution" not in cell["metadata"].get("tags", ()):
            yield index, cell
