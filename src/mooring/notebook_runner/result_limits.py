"""Fits a result into what a status may hold: texts are cut to the sizes of the API, then further until all fits."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Final

from mooring.notebook_runner.result import CellMismatch, CellOutcome, RunResult

__all__ = ["MAX_RESULT_BYTES", "cut", "fitted", "payload_of"]

MAX_RESULT_BYTES: Final = 384 << 10
MESSAGE_CHARACTERS: Final = 4000
OUTPUT_CHARACTERS: Final = 2000
ERROR_CHARACTERS: Final = 1000
SIDE_CHARACTERS: Final = 500
DIFF_CHARACTERS: Final = 1000
WARNINGS: Final = 20
# Texts of all cells are divided by these in turn; the last one leaves none.
_DIVISORS: Final = (1, 2, 4, 10, 25, 0)


def cut(text: str, characters: int) -> str:
    """The beginning of a text, with a marker of how much is missing; never longer than asked for."""
    if len(text) <= characters:
        return text
    marker = f"… [{len(text)} characters]"
    return text[: characters - len(marker)] + marker if characters > len(marker) else text[:characters]


def payload_of(result: RunResult) -> bytes:
    # Half a surrogate pair can be in an output, and no API takes it.
    return json.dumps(result.to_data(), separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")


def fitted(result: RunResult, most_bytes: int = MAX_RESULT_BYTES) -> RunResult:
    """The result, small enough. Cells that failed and cells that differ lose their places last."""
    result = replace(
        result,
        message=cut(result.message, MESSAGE_CHARACTERS),
        warnings=tuple(cut(each, ERROR_CHARACTERS) for each in result.warnings[:WARNINGS]),
    )
    for divisor in _DIVISORS:
        # Adding up lengths is quick; writing thousands of cells to learn that they are too long is not.
        if _characters(result, divisor) <= most_bytes:
            small = _with_texts(result, divisor)
            if len(payload_of(small)) <= most_bytes:
                return small
    return _with_fewer_entries(_with_texts(result, 0), most_bytes)


def _characters(result: RunResult, divisor: int) -> int:
    """At least so many bytes are needed for the texts of all cells."""
    if not divisor:
        return 0
    outputs = sum(min(len(cell.output), OUTPUT_CHARACTERS // divisor) for cell in result.results)
    diffs = () if result.comparison is None else result.comparison.diffs
    return outputs + sum(min(len(diff.diff), DIFF_CHARACTERS // divisor) for diff in diffs)


def _with_texts(result: RunResult, divisor: int) -> RunResult:
    def short(text: str, characters: int) -> str:
        return cut(text, characters // divisor) if divisor else ""

    def outcome(cell: CellOutcome) -> CellOutcome:
        return replace(
            cell,
            output=short(cell.output, OUTPUT_CHARACTERS),
            errorMessage=cut(cell.errorMessage, ERROR_CHARACTERS // (divisor or 50)),
        )

    def mismatch(cell: CellMismatch) -> CellMismatch:
        return replace(
            cell,
            expected=short(cell.expected, SIDE_CHARACTERS),
            actual=short(cell.actual, SIDE_CHARACTERS),
            diff=short(cell.diff, DIFF_CHARACTERS),
        )

    compared = result.comparison
    if compared is not None:
        compared = replace(compared, diffs=tuple(map(mismatch, compared.diffs)))
    return replace(result, results=tuple(map(outcome, result.results)), comparison=compared)


def _with_fewer_entries(result: RunResult, most_bytes: int) -> RunResult:
    total = len(result.results)
    # Failures first, then in order; sorted back afterwards.
    ranked = sorted(result.results, key=lambda cell: (cell.status != "Failure", cell.cellIndex))
    kept, diffs = total, () if result.comparison is None else result.comparison.diffs
    while True:
        kept, diffs = kept // 2, diffs[: len(diffs) // 2]
        entries = tuple(sorted(ranked[:kept], key=lambda cell: cell.cellIndex))
        message = cut(f"{result.message} (results of {total - kept} cells did not fit)", MESSAGE_CHARACTERS)
        compared = None if result.comparison is None else replace(result.comparison, diffs=diffs)
        small = replace(result, results=entries, comparison=compared, message=message)
        if kept == 0 or len(payload_of(small)) <= most_bytes:
            return small
