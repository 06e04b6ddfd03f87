"""Laws of comparison, on random notebooks and numbers."""

from __future__ import annotations

import copy
from decimal import Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mooring.notebook_runner.comparison.comparison import compared
from mooring.notebook_runner.comparison.normalizers import normalizer_of
from mooring.notebook_runner.comparison.numbers import Tolerance, same_text
from mooring.notebook_runner.settings import NORMALIZERS, ComparisonRules
from tests.notebook_runner.notebooks import code, error, markdown, notebook, png, printed, raw, result, shown

FEW = settings(max_examples=60, deadline=None)

texts = st.text(max_size=60) | st.sampled_from(
    ["loss: nan", "0.1 -3e-9 7.", "2026-10-28 09:14:07", "<A at 0x7f3a5c0d>", "\x1b[31m/tmp/a/b.csv\x1b[0m\r1700000000"]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
outputs = st.one_of(
    st.builds(printed, texts, st.sampled_from(["stdout", "stderr"])),
    st.builds(result, texts, st.integers(1, 9)),
    st.builds(error, texts, texts, texts),
    st.builds(lambda value: shown({"application/json": value}), json_values),
    st.builds(lambda pixel: shown({"image/png": png(pixel)}), st.integers(0, 255)),
    st.builds(lambda text: shown({"image/jpeg": text, "text/html": text}), texts),
)
cells = st.one_of(
    st.builds(markdown, texts),
    st.builds(raw, texts),
    st.builds(lambda made, count: code("x", *made, count=count), st.lists(outputs, max_size=4), st.integers(1, 9)),
)
notebooks = st.builds(lambda made: notebook(*made), st.lists(cells, max_size=4))
tolerances = st.decimals(0, 10, allow_nan=False, allow_infinity=False, places=6)
rules = st.builds(
    ComparisonRules,
    strategy=st.sampled_from(["exact", "normalized"]),
    tolerance=tolerances,
    relative_tolerance=tolerances,
    ignore_timestamps=st.booleans(),
    ignore_execution_count=st.booleans(),
    ignore_output_types=st.lists(st.sampled_from(["stream", "stderr", "error", "image/png", "text/*"])).map(tuple),
    timestamp_patterns=st.sampled_from([(), (r"\d+",), ("a*",)]),
    normalizers=st.lists(st.sampled_from(NORMALIZERS)).map(tuple),
)
numbers = st.decimals(allow_nan=False, allow_infinity=False) | st.floats(allow_nan=False, allow_infinity=False).map(
    lambda value: Decimal(repr(value))
)


@FEW
@given(made=notebooks, config=rules)
def test_a_notebook_matches_itself_under_every_configuration(made: dict[str, Any], config: ComparisonRules) -> None:
    found = compared(copy.deepcopy(made), made, config)
    assert found.result == "matched"
    assert (found.matchedCells, found.mismatchedCells) == (len(made["cells"]), 0)


@FEW
@given(one=notebooks, other=notebooks, config=rules)
def test_comparison_is_symmetric(one: dict[str, Any], other: dict[str, Any], config: ComparisonRules) -> None:
    forth, back = compared(one, other, config), compared(other, one, config)
    assert [each.cellIndex for each in forth.diffs] == [each.cellIndex for each in back.diffs]


@settings(max_examples=300, deadline=None)
@given(one=numbers, other=numbers, absolute=tolerances, relative=tolerances, more=tolerances)
def test_tolerance_is_symmetric_and_monotonic(
    one: Decimal, other: Decimal, absolute: Decimal, relative: Decimal, more: Decimal
) -> None:
    narrow = Tolerance(absolute, relative)
    assert narrow.allows(one, one)
    assert narrow.allows(one, other) == narrow.allows(other, one)
    if narrow.allows(one, other):
        assert Tolerance(absolute + more, relative).allows(one, other)
        assert Tolerance(absolute, relative + more).allows(one, other)


@FEW
@given(values=st.lists(numbers, min_size=1, max_size=5), shift=st.decimals("-1", 1, places=3), limit=tolerances)
def test_numbers_in_a_text_are_compared_one_by_one(values: list[Decimal], shift: Decimal, limit: Decimal) -> None:
    shifted = [value + shift for value in values]
    allowed = all(Tolerance(limit).allows(*pair) for pair in zip(values, shifted, strict=True))
    texts = [", ".join(f"v{'abcde'[i]}: {value}" for i, value in enumerate(side)) for side in (values, shifted)]
    assert same_text(texts[0], texts[1], Tolerance(limit)) == allowed


@FEW
@given(text=texts, config=rules.filter(lambda made: not made.timestamp_patterns))
def test_a_normaliser_applied_twice_does_no_more_than_once(text: str, config: ComparisonRules) -> None:
    normalized = normalizer_of(config)
    assert normalized(normalized(text)) == normalized(text)
