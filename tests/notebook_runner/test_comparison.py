"""Two outputs are the same when a person would say so, and only then."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.notebook_runner.comparison.comparison import compared
from mooring.notebook_runner.settings import ComparisonRules
from tests.notebook_runner.notebooks import code, error, markdown, notebook, png, printed, raw, result, shown

PRINTED_PAIRS = [
    # Known wrong answers of rounding and of masking digits.
    ("0.1234567890123", "0.9876543210987", {}, False),
    ("0.30000000000000004", "0.3", {}, True),
    ("0.00005", "0.00004999", {}, True),
    ("-0.00001", "0.00001", {}, True),
    ("1.5s", "900.1s", {}, False),
    # What did hold, and still does.
    ("3.14159", "3.1416", {"floatingPointTolerance": "0.0001"}, True),
    ("1.23456 and 7.89012", "1.235 and 7.890", {"floatingPointTolerance": "0.001"}, True),
    ("1.23e-5", "0.0000", {}, True),
    ("-0.00123", "-0.0012", {}, True),
    # Numbers are whole tokens.
    ("wer 0.0842", "wer 0.0871", {"floatingPointTolerance": "0.001"}, False),
    ("rtf 0.0210", "rtf 0.0236", {"relativeTolerance": "0.2"}, True),
    ("rtf 0.0210", "rtf 0.0290", {"relativeTolerance": "0.2"}, False),
    ("torch 2.1.0", "torch 2.1.1", {"floatingPointTolerance": "5"}, False),
    ("id a1b2", "id a1b3", {"floatingPointTolerance": "5"}, False),
    ("sha 12ab34", "sha 13ab34", {"relativeTolerance": "0.9"}, False),
    ("1 2", "12", {"normalizers": ["whitespace"]}, False),
    ("12 MiB", "12.00001MiB", {"normalizers": ["whitespace"]}, True),
    ("[ 0.00001 2]", "[-0.00001 2]", {}, True),
    ("(a,b)", "(a, b)", {}, False),
    ("(a,b)", "(a, b)", {"normalizers": ["whitespace"]}, True),
    ("a   b\n\n", "a b", {}, True),
    ("a b", "ab", {}, False),
    ("1e999999999999999999999", "2e999999999999999999999", {}, False),
    ("9" * 100, "9" * 99 + "8", {}, False),
    ("nan", "nan", {}, True),
    ("inf", "1.0", {"floatingPointTolerance": "1e300"}, False),
    # Timestamps, and what is none.
    ("at 2026-10-28 09:14:07", "at 2026-11-15 13:47:31", {}, True),
    ("at 2026-10-28T09:14:07.123Z", "at 2026-11-15T13:47:31Z", {}, True),
    ("at 10/28/2026 09:14 AM", "at 11/15/2026 01:47 PM", {}, True),
    ("at 2026-10-28 09:14:07", "at 2026-11-15 13:47:31", {"ignoreTimestamps": False}, False),
    ("at 2026-10-28", "at 2026-11-15", {}, False),
    ("epoch 1700000000", "epoch 1800000000", {}, True),
    ("count 3400000000", "count 3500000000", {}, False),
    ("Execution time: 1.5s", "Execution time: 900.1s", {}, True),
    ("Wall time: 12.3 ms", "Wall time: 1 min 4s", {}, True),
    ("run #17", "run #18", {"customTimestampPatterns": [r"#\d+"]}, True),
    # Named normalisers.
    ("<A at 0x7f3a5c0d>", "<A at 0x7f3a5c99>", {}, False),
    ("<A at 0x7f3a5c0d>", "<A at 0x7f3a5c99>", {"normalizers": ["addresses"]}, True),
    ("/home/ada/run1/x.csv", "/tmp/y/x.csv", {"normalizers": ["paths"]}, True),
    ("/home/ada/run1/x.csv", "/tmp/y/z.csv", {"normalizers": ["paths"]}, False),
    ("1/2/3", "1/2/4", {"normalizers": ["paths"]}, False),
    (
        "id 123e4567-e89b-12d3-a456-426614174000",
        "id 00000000-e89b-12d3-a456-426614174999",
        {"normalizers": ["uuids"]},
        True,
    ),
    ("\x1b[31mred\x1b[0m", "red", {}, False),
    ("\x1b[31mred\x1b[0m", "red", {"normalizers": ["ansi"]}, True),
    ("10%\r100%\n", "100%\n", {}, True),
    ("/tmp/ipykernel_71/123.py:1: UserWarning: x", "/tmp/ipykernel_99/123.py:1: UserWarning: x", {}, True),
    # Exact is exact.
    ("0.30000000000000004", "0.3", {"strategy": "exact"}, False),
    ("at 2026-10-28 09:14:07", "at 2026-11-15 13:47:31", {"strategy": "exact", "normalizers": ["timestamps"]}, False),
    ("a ", "a", {"strategy": "exact"}, False),
]


def rules_of(**config: Any) -> ComparisonRules:
    return ComparisonRules.from_data(config)


def same(one: dict[str, Any], other: dict[str, Any], **config: Any) -> bool:
    found = compared(notebook(one), notebook(other), rules_of(**config))
    assert compared(notebook(other), notebook(one), rules_of(**config)).result == found.result, "not symmetric"
    return found.result == "matched"


@pytest.mark.parametrize(("one", "other", "config", "expected"), PRINTED_PAIRS)
def test_what_was_printed_is_compared(one: str, other: str, config: dict[str, Any], expected: bool) -> None:
    assert same(code("", printed(one)), code("", printed(other)), **config) == expected
    assert same(code("", result(one)), code("", result(other)), **config) == expected


@pytest.mark.parametrize(
    ("one", "other", "config", "expected"),
    [
        # Bundles of data are compared, where upstream took any two for equal.
        (result("1"), result("2"), {}, False),
        (shown({"image/png": png(1)}), shown({"image/png": png(1)}), {}, True),
        (shown({"image/png": png(1)}), shown({"image/png": png(2)}), {}, False),
        (shown({"image/png": png(1)}), shown({"image/png": png(1, software="v2", level=1)}), {}, True),
        (shown({"image/png": png(1)}), shown({"image/png": png(2)}), {"ignoreOutputTypes": ["image/png"]}, True),
        (shown({"image/png": png(1)}), shown({"image/png": png(2)}), {"ignoreOutputTypes": ["image/*"]}, True),
        (shown({"image/png": "no base64!"}), shown({"image/png": "no base64?"}), {}, False),
        (
            shown({"application/json": {"a": 1.00001, "b": [1]}}),
            shown({"application/json": {"b": [1], "a": 1}}),
            {},
            True,
        ),
        (shown({"application/json": {"a": [1, 2]}}), shown({"application/json": {"a": [2, 1]}}), {}, False),
        (shown({"application/json": {"a": True}}), shown({"application/json": {"a": 1}}), {}, False),
        (shown({"application/json": {"a": 1}}), shown({"application/json": {"a": 1, "b": 2}}), {}, False),
        (shown({"application/json": 1e400}), shown({"application/json": 2.0}), {}, False),
        (result("x", html="<b>1</b>"), result("x", html="<b>2</b>"), {}, False),
        (result("x", html="<b>1</b>"), result("x"), {}, False),
        (result("x"), shown({"text/plain": "x"}), {}, False),
        (
            shown({"application/vnd.jupyter.widget-view+json": {"model_id": "a"}}),
            shown({"application/vnd.jupyter.widget-view+json": {"model_id": "b"}}),
            {},
            True,
        ),
        (printed("a", "stderr"), printed("b", "stderr"), {}, False),
        (printed("a", "stderr"), printed("b", "stderr"), {"ignoreOutputTypes": ["stderr"]}, True),
        (printed("a"), printed("b"), {"ignoreOutputTypes": ["stream"]}, True),
        (printed(["a\n", "b\n"]), printed("a\nb\n"), {}, True),
        (error("ValueError", "x"), error("ValueError", "y"), {}, False),
        (error("ValueError", "x", "Cell In[1]"), error("ValueError", "x", "Cell In[2]"), {}, True),
        (error("ValueError", "x", "Cell In[1]"), error("ValueError", "x", "Cell In[2]"), {"strategy": "exact"}, False),
        (result("x", count=1), result("x", count=2), {}, True),
        (result("x", count=1), result("x", count=2), {"ignoreExecutionCount": False}, False),
    ],
)
def test_rich_outputs_are_compared(one: Any, other: Any, config: dict[str, Any], expected: bool) -> None:
    assert same(code("", one), code("", other), **config) == expected


def test_streams_are_one_text_however_they_were_sent() -> None:
    pieces = code("", printed("a"), printed("w", "stderr"), result("1"), printed("b\n"))
    whole = code("", printed("w", "stderr"), printed("ab\n"), result("1"))
    assert same(pieces, whole)
    assert same(pieces, whole, strategy="exact")


def test_an_empty_stream_is_no_output() -> None:
    assert same(code("", printed("")), code(""))


def test_sources_of_code_are_not_compared_and_those_of_texts_are() -> None:
    assert same(code("a = 1"), code("a = 2"))
    assert same(markdown("# One"), markdown("# One"))
    assert not same(markdown("# One"), markdown("# Two"))
    assert not same(raw("one"), raw("two"))


def test_counts_of_cells_are_compared_when_asked_for() -> None:
    one, other = code("", count=1), code("", count=2)
    assert same(one, other)
    found = compared(notebook(one), notebook(other), rules_of(ignoreExecutionCount=False))
    assert [(each.severity, each.expected, each.actual) for each in found.diffs] == [
        ("minor", "[execution count]\nexecution count 2", "[execution count]\nexecution count 1")
    ]


def test_cells_are_paired_by_position_and_those_left_over_are_named() -> None:
    short, long = notebook(code("", printed("1"))), notebook(code("", printed("1")), code("", printed("2")), raw("r"))
    missing, extra = compared(short, long, rules_of()), compared(long, short, rules_of())
    assert [(each.cellIndex, each.cellType, each.diffType, each.severity) for each in missing.diffs] == [
        (1, "code", "missing_cell", "major"),
        (2, "markdown", "missing_cell", "major"),
    ]
    assert [(each.cellIndex, each.diffType, each.actual) for each in extra.diffs] == [
        (1, "extra_cell", "2"),
        (2, "extra_cell", "r"),
    ]
    assert (missing.totalCells, missing.matchedCells, missing.mismatchedCells) == (1, 1, 2)
    assert (extra.totalCells, extra.matchedCells, extra.mismatchedCells) == (3, 1, 2)


def test_a_cell_of_another_type_differs() -> None:
    (diff,) = compared(notebook(markdown("x")), notebook(code("x")), rules_of()).diffs
    assert (diff.cellType, diff.expected, diff.actual) == ("markdown", "code cell", "markdown cell")


def test_cells_after_the_one_that_failed_are_not_compared() -> None:
    ran = notebook(code("", printed("1")), code("", error("E", "x")), code(""))
    golden = notebook(code("", printed("1")), code("", printed("2")), code("", printed("3")))
    found = compared(ran, golden, rules_of(), failed_at=1)
    assert (found.result, found.matchedCells, found.mismatchedCells) == ("failed", 1, 1)
    assert [(each.diffType, each.severity, each.expected, each.actual) for each in found.diffs] == [
        ("execution_error", "critical", "2", "[error]\nE: x")
    ]


def test_a_diff_shows_lines_within_tolerance_as_the_same() -> None:
    ran = notebook(code("", printed("wer 0.0871\ncer 0.03140\n")))
    golden = notebook(code("", printed("wer 0.0842\ncer 0.03141\n")))
    (diff,) = compared(ran, golden, rules_of()).diffs
    assert diff.diff == "--- expected\n+++ actual\n-wer 0.0842\n+wer 0.0871\n cer 0.03140"


def test_a_diff_of_texts_of_different_length_has_lines_added_and_gone() -> None:
    lines = [f"line {number}" for number in range(1000)]
    (diff,) = compared(
        notebook(code("", printed("\n".join(lines)))),
        notebook(code("", printed("\n".join(lines[:900] + lines[901:])))),
        rules_of(),
    ).diffs
    assert "+line 900" in diff.diff.splitlines()
    assert len(diff.diff.splitlines()) < 20


def test_only_parts_that_differ_are_shown() -> None:
    (diff,) = compared(
        notebook(code("", printed("same"), result("1"))), notebook(code("", printed("same"), result("2"))), rules_of()
    ).diffs
    assert diff.expected == "[execute_result text/plain]\n2"
