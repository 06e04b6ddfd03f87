"""Kinds of outputs, held against those of the golden notebook, or against what the source was saved with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mooring.notebook_runner.validation.finding import RuleFinding, code_cells

__all__ = ["output_type_findings"]


def output_type_findings(notebook: dict[str, Any], reached: int, reference: dict[str, Any]) -> Iterator[RuleFinding]:
    """A cell that has no outputs in the reference promises nothing."""
    expected = reference["cells"]
    for index, cell in code_cells(notebook, reached):
        want = _kinds(expected[index]) if index < len(expected) else []
        have = _kinds(cell)
        if want and have != want:
            message = f"the outputs of cell {index} are {_named(have)}; expected are {_named(want)}"
            yield RuleFinding("OutputTypeMismatch", index, message)


def _kinds(cell: dict[str, Any]) -> list[str]:
    found = set()
    for output in cell.get("outputs", ()):
        kind = output["output_type"]
        if kind == "stream":
            found.add(str(output["name"]))
        elif kind == "error":
            found.add(f"error {output['ename']}")
        else:
            found.update(f"{kind} {mime}" for mime in output["data"])
    return sorted(found)


def _named(kinds: list[str]) -> str:
    return ", ".join(kinds) or "none"
