"""Parameters: assignments that the kernel gets after the cell tagged `parameters`, without being a cell themselves.

A cell put into the notebook would move the indices of all that follow.
"""

from __future__ import annotations

from typing import Any

__all__ = ["assignments", "place_of"]


def assignments(parameters: dict[str, Any]) -> str:
    """JSON values as Python writes them."""
    return "\n".join(f"{name} = {value!r}" for name, value in sorted(parameters.items()))


def place_of(cells: list[dict[str, Any]]) -> int:
    """The index of the cell before which the parameters are set: after the tagged one, otherwise the first of all."""
    for index, cell in enumerate(cells):
        if cell["cell_type"] == "code" and "parameters" in cell["metadata"].get("tags", ()):
            return index + 1
    return 0
