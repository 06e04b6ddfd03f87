"""What is made of a run of kubectl's scripts; and that their excuses stand in the docs and become no more."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.kubectl_scripts.functions import BETWEEN, excused, functions
from tests.conformance.kubectl_scripts.run import verdict

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"
# May only become less.
EXCUSED_AT_MOST = 4


def test_no_more_functions_are_excused_than_were() -> None:
    assert len(excused()) <= EXCUSED_AT_MOST


def test_every_excuse_is_in_the_docs_and_nothing_else_is() -> None:
    _, _, table = PAGE.read_text(encoding="utf-8").partition("| function that need not pass | reason |\n|---|---|\n")
    rows = table.partition("\n\n")[0].splitlines()
    assert rows == [f"| `{name}` | {why} |" for name, why in excused().items()]


def test_the_functions_are_those_that_upstream_records_and_its_checks_in_between(tmp_path: Path) -> None:
    (tmp_path / "test" / "cmd").mkdir(parents=True)
    (tmp_path / "test" / "cmd" / "legacy-script.sh").write_text(
        "function record_command() {\n}\n# record_command run_kubectl_tests\n"
        "  record_command run_b_tests\n  if true; then\n    record_command run_a_test\n  fi\n"
        '  record_command "run_${pkg}_tests"\n'
    )
    assert functions(tmp_path) == [BETWEEN, "run_b_tests", "run_a_test"]


def test_a_home_in_which_every_function_passes_is_well() -> None:
    assert verdict(["a", "b"], [], {}) == (["2 of 2 functions passed"], True)


def test_an_excused_failure_is_told_with_its_reason() -> None:
    lines, well = verdict(["a"], ["b"], {"b": "nobody can"})
    assert (lines, well) == (["1 of 2 functions passed", "  excused: b (nobody can)"], True)


def test_any_other_failure_counts() -> None:
    assert verdict([], ["a"], {"b": "nobody can"}) == (["0 of 1 functions passed", "  FAILED: a"], False)


def test_an_excuse_that_is_not_needed_must_go() -> None:
    lines, well = verdict(["a"], [], {"a": "nobody can"})
    assert (lines[1:], well) == (["  passed, though it is excused: a"], False)
