"""The switches and levels of validationConfig do what their names say, cell by cell."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.notebook_runner.settings import ValidationRules
from mooring.notebook_runner.validation.validation import validated
from tests.notebook_runner.notebooks import code, error, markdown, notebook, png, printed, result, shown

ASSERTS = code("assert 1")
UNASSERTED = "no code cell asserts anything"


def findings(*cells: Any, saved: Any = None, **config: Any) -> tuple[list[tuple[str, int | None]], list[str]]:
    ran = notebook(*cells)
    failures, warnings = validated(ran, len(cells), ValidationRules.from_data(config), saved or notebook(*cells))
    return [(each.reason, each.cell) for each in failures], [each.reason for each in warnings]


STDERR = code("", printed("Traceback: hm\n", "stderr"))
WARNING = code("", printed("/tmp/ipykernel_1/2.py:1: FutureWarning: old\n  f()\n", "stderr"))
SILENT = code("", printed("loss: nan\n"))
SHELL = code("!curl -f http://x")


@pytest.mark.parametrize(
    ("cell", "config", "reason"),
    [
        (STDERR, {}, ""),
        (STDERR, {"failOnStderr": True}, "StderrFound"),
        (STDERR, {"failOnWarnings": True}, ""),
        (STDERR, {"strictMode": True}, "StderrFound"),
        (WARNING, {}, ""),
        (WARNING, {"failOnWarnings": True}, "WarningsFound"),
        (code("", printed("WARNING:root:low on memory\n", "stderr")), {"failOnWarnings": True}, "WarningsFound"),
        (code("", printed("UserWarning: told on standard output\n")), {"failOnWarnings": True}, ""),
        (WARNING, {"level": "production"}, "WarningsFound"),
        (WARNING, {"level": "staging"}, ""),
        (SILENT, {}, "SilentFailure"),
        (SILENT, {"detectSilentFailures": False}, ""),
        (SILENT, {"detectSilentFailures": False, "strictMode": True}, "SilentFailure"),
        (SILENT, {"level": "learning"}, ""),
        (SHELL, {}, ""),
        (SHELL, {"requireExplicitExitCodes": True}, "ExitCodeMissing"),
        (SHELL, {"level": "staging"}, "ExitCodeMissing"),
        (code("!curl x\nassert _exit_code == 0"), {"level": "staging"}, ""),
        (code("out = !ls"), {"requireExplicitExitCodes": True}, "ExitCodeMissing"),
        (code("%%bash\n!ls"), {"requireExplicitExitCodes": True}, ""),
        (code("if x != 1:\n  pass"), {"requireExplicitExitCodes": True}, ""),
        (code("import sys\nsys.exit()"), {"requireExplicitExitCodes": True}, "ExitCodeMissing"),
        (code("import sys\nsys.exit(0)"), {"requireExplicitExitCodes": True}, ""),
    ],
)
def test_a_switch_finds_what_it_is_named_after(cell: Any, config: dict[str, Any], reason: str) -> None:
    found, _ = findings(markdown("# text"), cell, ASSERTS, **config)
    expected = [(reason, 1)] if reason else []
    assert [each for each in found if each[0] == reason or not reason] == expected


@pytest.mark.parametrize(
    "cell",
    [
        code("", printed("None\n")),
        code("", printed("fine\naccuracy = NaN\n")),
        code("", printed("  \x1b[31mnan\x1b[0m\n")),
        code("", result("nan")),
        code("", result("np.float64(nan)")),
        code("", result("array([1., nan])")),
        code("", result("{'loss': nan}")),
        code("", result("NaT")),
    ],
)
def test_none_and_nan_are_silent_failures(cell: Any) -> None:
    assert findings(ASSERTS, cell)[0] == [("SilentFailure", 1)]


@pytest.mark.parametrize(
    "cell",
    [
        code("", printed("None of the above\nbanana nan bread\n")),
        code("", result("'nan'")),
        code("", result("[None, 1]")),
        # A table with a gap is data.
        code("", result("     a    b\n0  1.0  NaN", html="<table>NaN</table>")),
        code("", shown({"image/png": png(1)})),
        code("", printed("None\n", "stderr")),
        code("", error("ValueError", "nan"), tags=("raises-exception",)),
    ],
)
def test_other_outputs_are_none(cell: Any) -> None:
    assert findings(ASSERTS, cell)[0] == []


@pytest.mark.parametrize(
    ("source", "asserts"),
    [
        ("assert x", True),
        ("np.testing.assert_allclose(a, b)", True),
        ("if 1:\n    assert x, 'why'", True),
        ("%time f()\nassert x", True),
        ("# assert x", False),
        ("'assert x'", False),
        ("this is no Python, assert", False),
    ],
)
def test_assertions_are_looked_for_in_code(source: str, asserts: bool) -> None:
    found, _ = findings(code(source), verifyAssertions=True)
    assert found == ([] if asserts else [("NoAssertions", None)])


def test_missing_assertions_only_warn_in_development() -> None:
    assert findings(code("1")) == ([], ["NoAssertions"])
    assert findings(markdown("no code at all"), verifyAssertions=True) == ([], [])


def test_learning_warns_and_fails_nothing_by_itself() -> None:
    found, warnings = findings(STDERR, WARNING, SILENT, SHELL, level="learning")
    assert found == []
    assert set(warnings) == {"StderrFound", "WarningsFound", "SilentFailure", "ExitCodeMissing", "NoAssertions"}
    assert findings(ASSERTS, STDERR, level="learning", failOnStderr=True)[0] == [("StderrFound", 1)]


def test_strict_mode_is_production_whatever_the_level() -> None:
    cells = (STDERR, WARNING, SILENT, SHELL)
    assert findings(*cells, level="learning", strictMode=True) == findings(*cells, level="production")


def test_cells_that_did_not_run_are_not_judged() -> None:
    late, skipped = code("", printed("x", "stderr")), code("", printed("x", "stderr"), tags=("skip-execution",))
    ran = notebook(skipped, ASSERTS, late)
    failures, _ = validated(ran, 2, ValidationRules.from_data({"failOnStderr": True}), ran)
    assert failures == []


def test_advice_of_ipython_on_exits_is_no_output_of_the_notebook() -> None:
    advice = "/x/interactiveshell.py:3831: UserWarning: To exit: use 'exit', 'quit', or Ctrl-D.\n  warn(\"To exit\")\n"
    assert findings(ASSERTS, code("sys.exit(0)", printed(advice, "stderr")), failOnStderr=True)[0] == []


def test_kinds_of_outputs_are_held_against_those_that_were_saved() -> None:
    saved = notebook(code("", result("1")), code("", shown({"image/png": png(1)})), code(""))
    ran = (code("", result("2")), code("", printed("no plot")), code("", printed("more")))
    assert findings(*ran, saved=saved, checkOutputTypes=True)[0] == [("OutputTypeMismatch", 1)]
    assert findings(*ran, saved=saved)[0] == []


def with_value(text: str, **value: Any) -> Any:
    cell = code("x", result(text))
    cell["metadata"]["mooring"] = {"value": value}
    return cell


FRAME = with_value("...", types=["pandas.core.frame.DataFrame", "builtins.object"], shape=[5, 10], length=5)
NUMBER = with_value("0.9", types=["numpy.float64", "builtins.float", "builtins.object"], number="0.9")


@pytest.mark.parametrize(
    ("cell", "expected", "problem"),
    [
        (FRAME, {"type": "pandas.DataFrame", "shape": "-1,10", "notEmpty": True}, ""),
        (FRAME, {"type": "DataFrame"}, ""),
        (FRAME, {"type": "list"}, "gave a value of type pandas.core.frame.DataFrame; expected is list"),
        (FRAME, {"shape": "-1,9"}, "gave a value of shape 5,10; expected is -1,9"),
        (FRAME, {"shape": "-1"}, "gave a value of shape 5,10; expected is -1"),
        (NUMBER, {"type": "float", "minValue": "0.8", "maxValue": "1"}, ""),
        (NUMBER, {"minValue": "0.95"}, "gave 0.9, and at least 0.95 is expected"),
        (NUMBER, {"maxValue": "0.5"}, "gave 0.9, and at most 0.5 is expected"),
        (with_value("nan", types=["builtins.float"], number="nan"), {"minValue": "0"}, "gave NaN, and at least 0"),
        (with_value("[]", types=["builtins.list"], shape=[0], length=0), {"notEmpty": True}, "gave an empty value"),
        (FRAME, {"minValue": "0"}, "gave no number"),
        # Without a word of the kernel, what was shown counts.
        (code("", printed("accuracy 0.91\n")), {"minValue": "0.9"}, ""),
        (code("", printed("accuracy 0.85\n")), {"minValue": "0.9"}, "gave 0.85"),
        (code("", printed("[]\n")), {"notEmpty": True}, "gave an empty value"),
        (code("", printed("[1]\n")), {"type": "list"}, "gave no value whose type can be told"),
        (code(""), {"notEmpty": True}, "has no output"),
        (code(""), {}, "has no output"),
        (markdown("x"), {}, "which is no code cell"),
    ],
)
def test_expected_outputs_are_held_against_values(cell: Any, expected: dict[str, Any], problem: str) -> None:
    rules = ValidationRules.from_data({"expectedOutputs": [{"cell": 1, **expected}], "detectSilentFailures": False})
    ran = notebook(ASSERTS, cell)
    failures, _ = validated(ran, 2, rules, ran)
    assert [each.reason for each in failures] == (["ExpectedOutputMissing"] if problem else [])
    assert not problem or problem in failures[0].message


def test_an_expected_output_of_a_cell_that_is_not_there_is_named() -> None:
    found, _ = findings(ASSERTS, expectedOutputs=[{"cell": 7}])
    assert found == [("ExpectedOutputMissing", None)]
