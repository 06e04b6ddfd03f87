"""Compares notebooks cell by cell, by position, and says where and how they differ."""

from __future__ import annotations

from typing import Any, Final

from mooring.notebook_runner.comparison.equality import Equality
from mooring.notebook_runner.comparison.outputs import OutputPart, parts_of, text_of
from mooring.notebook_runner.comparison.text_diff import text_diff
from mooring.notebook_runner.result import CellMismatch, GoldenComparison
from mooring.notebook_runner.settings import ComparisonRules

__all__ = ["compared"]

MATCHED: Final = "matched"
FAILED: Final = "failed"

MINOR: Final = "minor"
MAJOR: Final = "major"
CRITICAL: Final = "critical"


def compared(
    executed: dict[str, Any], golden: dict[str, Any], rules: ComparisonRules, *, failed_at: int | None = None
) -> GoldenComparison:
    """Texts are whole; `mooring.notebook_runner.result_limits` cuts them.

    `failed_at` is the cell that ended the run early: it is an execution error, and cells after it are not compared.
    """
    cells, wanted = executed["cells"], golden["cells"]
    equality = Equality(rules)
    diffs = []
    matched = 0
    for index in range(max(len(cells), len(wanted))):
        if failed_at is not None and index > failed_at:
            break
        if index == failed_at:
            diffs.append(_execution_error(index, cells[index], wanted[index] if index < len(wanted) else None, rules))
        elif index >= len(wanted):
            text = _whole(cells[index], rules)
            diffs.append(CellMismatch(index, _type_of(cells[index]), "extra_cell", MAJOR, "", text))
        elif index >= len(cells):
            text = _whole(wanted[index], rules)
            diffs.append(CellMismatch(index, _type_of(wanted[index]), "missing_cell", MAJOR, text, ""))
        else:
            diff = _difference(index, cells[index], wanted[index], rules, equality)
            if diff is None:
                matched += 1
            else:
                diffs.append(diff)
    result = FAILED if diffs else MATCHED
    return GoldenComparison(rules.strategy, result, len(cells), matched, len(diffs), tuple(diffs))


def _difference(
    index: int, cell: dict[str, Any], golden: dict[str, Any], rules: ComparisonRules, equality: Equality
) -> CellMismatch | None:
    if cell["cell_type"] != golden["cell_type"]:
        expected, actual = f"{golden['cell_type']} cell", f"{cell['cell_type']} cell"
    elif cell["cell_type"] != "code":
        expected, actual = text_of(golden["source"]), text_of(cell["source"])
        if expected == actual:
            return None
    else:
        return _outputs(index, cell, golden, rules, equality)
    diff = text_diff(expected, actual, str.__eq__)
    return CellMismatch(index, _type_of(cell), "output_mismatch", MAJOR, expected, actual, diff)


def _outputs(
    index: int, cell: dict[str, Any], golden: dict[str, Any], rules: ComparisonRules, equality: Equality
) -> CellMismatch | None:
    have, want = parts_of(cell, rules), parts_of(golden, rules)
    same = len(have) == len(want) and all(map(equality.parts, have, want))
    severity = MAJOR
    if same and not rules.ignore_execution_count:
        counts = golden.get("execution_count"), cell.get("execution_count")
        same, severity = counts[0] == counts[1], MINOR
        have.insert(0, _count(counts[1]))
        want.insert(0, _count(counts[0]))
    if same:
        return None
    # Parts that are the same are left out, unless the two sides do not even have the same parts.
    if [part.name for part in have] == [part.name for part in want]:
        pairs = [pair for pair in zip(want, have) if not equality.parts(*pair)]
        want, have = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    expected, actual = _shown(want), _shown(have)
    diff = text_diff(expected, actual, equality.texts)
    return CellMismatch(index, "code", "output_mismatch", severity, expected, actual, diff)


def _count(value: Any) -> OutputPart:
    return OutputPart("execution count", "text", str(value), f"execution count {value}")


def _execution_error(
    index: int, cell: dict[str, Any], golden: dict[str, Any] | None, rules: ComparisonRules
) -> CellMismatch:
    expected, actual = "" if golden is None else _whole(golden, rules), _whole(cell, rules)
    return CellMismatch(index, _type_of(cell), "execution_error", CRITICAL, expected, actual)


def _whole(cell: dict[str, Any], rules: ComparisonRules) -> str:
    return _shown(parts_of(cell, rules)) if cell["cell_type"] == "code" else text_of(cell["source"])


def _shown(parts: list[OutputPart]) -> str:
    """Each part under its name, unless it is the only one of a stream."""
    if len(parts) == 1 and parts[0].name == "stdout":
        return parts[0].shown
    return "\n".join(f"[{part.name}]\n{part.shown}" for part in parts)


def _type_of(cell: dict[str, Any]) -> str:
    """The API knows code and markdown; a raw cell is text as well."""
    return "code" if cell["cell_type"] == "code" else "markdown"
