"""nbdime's verdict on pairs of notebooks beside ours, with the reason for each difference.

nbdime shows what changed between two files; ours says whether a run gave what it should. Where both agree there is no
reason to give.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import nbformat
import pytest
from nbdime import diff_notebooks
from nbdime.diffing.notebooks import reset_notebook_differ, set_notebook_diff_targets

from mooring.notebook_runner.comparison.comparison import compared
from mooring.notebook_runner.settings import ComparisonRules
from tests.notebook_runner.notebooks import code, error, markdown, notebook, png, printed, result, shown

JSON, PNG = "application/json", "image/png"
CONFIG = {"normalizers": ["addresses"]}

# One side, the other, the verdicts of nbdime and of ours (= same, ! different), and why they differ.
PAIRS: list[tuple[str, Any, Any, str, str]] = [
    ("the same", code("", printed("1")), code("", printed("1")), "==", ""),
    ("another text", code("", printed("one")), code("", printed("two")), "!!", ""),
    ("another number", code("", printed("1.0")), code("", printed("1.1")), "!!", ""),
    ("another result", code("", result("1")), code("", result("2")), "!!", ""),
    ("one output more", code("", printed("1")), code("", printed("1"), result("1")), "!!", ""),
    ("another error", code("", error("A", "x")), code("", error("A", "y")), "!!", ""),
    ("another image", code("", shown({PNG: png(1)})), code("", shown({PNG: png(2)})), "!!", ""),
    ("another text cell", markdown("# a"), markdown("# b"), "!!", ""),
    ("another count", code("", result("1", count=1), count=1), code("", result("1", count=2), count=2), "==", ""),
    ("a number nearby", code("", printed("0.3")), code("", printed("0.30000000000000004")), "!=",
     "nbdime knows no tolerance: it compares texts"),
    ("another time of day", code("", printed("2026-10-28 09:14:07")), code("", printed("2026-11-15 13:47:31")), "!=",
     "timestamps differ in every run and are ignored by default"),
    ("another address", code("", result("<A at 0x7f3a5c0d>")), code("", result("<A at 0x7f3a5c99>")), "!=",
     "addresses are masked when asked for, as they are here"),
    ("another space", code("", printed("a  b\n")), code("", printed("a b")), "!=",
     "normalized comparison takes white space for one space"),
    ("a stream in pieces", code("", printed("a"), printed("b")), code("", printed("ab")), "!=",
     "a kernel may send one text in any number of pieces"),
    ("streams in another order", code("", printed("a"), printed("w", "stderr")),
     code("", printed("w", "stderr"), printed("a")), "!=",
     "a kernel sends the two streams over different ways"),
    ("the same image from another program", code("", shown({PNG: png(1)})),
     code("", shown({PNG: png(1, software="v2", level=1)})), "!=",
     "nbdime compares the file, ours what is drawn"),
    ("another source with the same output", code("a = 1", printed("1")), code("b = 1", printed("1")), "!=",
     "a golden notebook says what comes out, not how"),
    ("another traceback", code("", error("A", "x", "In[1]")), code("", error("A", "x", "In[2]")), "!=",
     "lines and counts in a traceback change with code that is not wrong"),
    ("JSON with a number nearby", code("", shown({JSON: {"a": 1.0}})), code("", shown({JSON: {"a": 1.00001}})), "!=",
     "nbdime knows no tolerance: it compares values"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def only_outputs_and_sources() -> Iterator[None]:
    """What nbdime looks at is set for the whole process."""
    set_notebook_diff_targets(
        sources=True, outputs=True, attachments=False, metadata=False, identifier=False, details=False
    )
    yield
    reset_notebook_differ()


@pytest.mark.parametrize(
    ("one", "other", "verdicts", "reason"), [each[1:] for each in PAIRS], ids=[each[0] for each in PAIRS]
)
def test_verdicts_beside_each_other(one: Any, other: Any, verdicts: str, reason: str) -> None:
    a, b = notebook(one), notebook(other)
    found = diff_notebooks(nbformat.from_dict(a), nbformat.from_dict(b))
    ours = compared(b, a, ComparisonRules.from_data(CONFIG)).result == "matched"
    assert ("!" if found else "=") + ("=" if ours else "!") == verdicts
    assert bool(reason) == (verdicts in ("!=", "=!")), "every difference has a reason, and nothing else has"


def test_every_kind_of_verdict_occurs() -> None:
    assert {verdicts for _, _, _, verdicts, _ in PAIRS} == {"==", "!!", "!="}
