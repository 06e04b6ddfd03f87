"""A result fits into a status, and what matters most is kept longest."""

from __future__ import annotations

import json

import pytest

from mooring.notebook_runner.result import CellMismatch, CellOutcome, GoldenComparison, RunResult
from mooring.notebook_runner.result_limits import MAX_RESULT_BYTES, cut, fitted, payload_of


def result_of(cells: int, text: str, *, failed: int = -1) -> RunResult:
    results = tuple(
        CellOutcome(index, "Failure" if index == failed else "Success", "1ms", text, text if index == failed else "")
        for index in range(cells)
    )
    diffs = tuple(CellMismatch(index, "code", "output_mismatch", "major", text, text, text) for index in range(cells))
    compared = GoldenComparison("normalized", "failed", cells, 0, cells, diffs)
    return RunResult("Failed", "ComparisonFailed", "it differs", results, compared, cells, cells, 1)


def test_texts_are_cut_to_the_sizes_of_the_api() -> None:
    found = fitted(result_of(1, "x" * 5000, failed=0))
    assert found.comparison is not None
    (diff,) = found.comparison.diffs
    (cell,) = found.results
    sizes = [len(text) for text in (cell.output, cell.errorMessage, diff.expected, diff.actual, diff.diff)]
    assert sizes == [2000, 1000, 500, 500, 1000]
    assert cell.output.endswith("… [5000 characters]")


@pytest.mark.parametrize("cells", [10, 1_000, 6_000])
@pytest.mark.parametrize("text", ["x" * 3000, "☃" * 3000])
def test_a_result_of_any_size_fits(cells: int, text: str) -> None:
    found = fitted(result_of(cells, text, failed=cells - 1))
    assert len(payload_of(found)) <= MAX_RESULT_BYTES
    assert found.total_cells == cells
    assert any(cell.status == "Failure" for cell in found.results)
    assert [cell.cellIndex for cell in found.results] == sorted(cell.cellIndex for cell in found.results)


def test_a_small_result_is_left_as_it_is() -> None:
    small = result_of(3, "short")
    assert fitted(small) == small


def test_a_result_that_lost_cells_says_how_many() -> None:
    found = fitted(result_of(6_000, "x", failed=3))
    assert f"results of {6_000 - len(found.results)} cells did not fit" in found.message


def test_half_a_surrogate_pair_is_replaced() -> None:
    result = RunResult("Passed", "ValidationComplete", "fine", (CellOutcome(0, "Success", output="☃ \ud800"),))
    assert json.loads(payload_of(result))["results"][0]["output"] == "☃ ?"


def test_a_cut_never_gives_more_than_asked_for() -> None:
    assert all(len(cut("x" * 100, size)) <= size for size in range(110))
