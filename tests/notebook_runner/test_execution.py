"""Notebooks in real kernels. Few and short: each kernel takes most of a second to start."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from mooring.notebook_runner.cell_text import output_text
from mooring.notebook_runner.execution.cell_run import CellRun, Execution
from mooring.notebook_runner.execution.client import MAX_CELL_CHARACTERS
from mooring.notebook_runner.execution.dead_kernel import how_it_died, oom_kills
from mooring.notebook_runner.execution.notebook_file import read_notebook
from mooring.notebook_runner.execution.run import NotebookRun
from mooring.notebook_runner.settings import RunnerSettings
from mooring.notebook_runner.verdict import verdict
from tests.notebook_runner.notebooks import code, markdown, notebook, printed, raw, written


def executed(folder: Path, *cells: Any, kernel: str = "python3", **settings: Any) -> Execution:
    source = read_notebook(str(written(folder / "source.ipynb", notebook(*cells, kernel=kernel))))
    wanted = RunnerSettings.from_json(json.dumps({"notebook": "x", **settings}))
    run = NotebookRun(
        source, wanted, str(folder), deadline=time.monotonic() + wanted.timeout_seconds, progress=_no_progress
    )
    return asyncio.run(run.run())


def statuses(execution: Execution) -> list[str]:
    return [cell.status for cell in execution.cells]


def _no_progress(index: int, run: CellRun | None) -> None:
    pass


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Execution:
    """Everything that one kernel can show; the last but one cell fails."""
    folder = tmp_path_factory.mktemp("story")
    (folder / "data.txt").write_text("from the notebook's folder", encoding="utf-8")
    return executed(
        folder,
        markdown("# Title"),  # 0
        raw("raw"),  # 1
        code("size = 1\nname = 'default'", tags=("parameters",)),  # 2
        code("print(size, name, 'héllo ☃ 💥')"),  # 3
        code("open('data.txt').read()", printed("stale")),  # 4
        code("1/0", tags=("raises-exception",)),  # 5
        code("never_defined", printed("as it was saved"), tags=("skip-execution",)),  # 6
        code("   "),  # 7
        code("import sys, warnings\nprint('hm', file=sys.stderr)\nwarnings.warn('careful')"),  # 8
        code("for _ in range(40): print('x' * 100_000)\n'the end'"),  # 9
        code("import time; time.sleep(0.2); [1, 2, 3]"),  # 10
        code(
            "from IPython.display import clear_output, display\n"
            "for step in range(3):\n    clear_output(wait=True); print('step', step)\n"
            "display('first', display_id='x'); display('second', display_id='x', update=True);"
        ),  # 11
        code("raise ValueError('no such file: ☃')"),  # 12
        code("print('never')", printed("stale")),  # 13
        parameters={"size": [1, None, {"a": True}]},
        validation={"expectedOutputs": [{"cell": 10}, {"cell": 11}]},
    )


def test_every_cell_has_its_own_status_at_its_own_index(story: Execution) -> None:
    good, left_out = "Success", "Skipped"
    assert statuses(story) == [
        left_out, left_out, good, good, good, good, left_out, left_out, good, good, good, good, "Failure", left_out,
    ]  # fmt: skip
    assert story.reached == 12


def test_the_error_that_ended_it_is_told(story: Execution) -> None:
    assert story.end is not None
    assert (story.end.outcome, story.end.reason) == ("Failed", "NotebookExecutionFailed")
    assert story.end.message == "cell 12 raised ValueError: no such file: ☃"


def test_parameters_are_set_after_their_cell_and_move_no_index(story: Execution) -> None:
    assert output_text(story.notebook["cells"][3]) == "[1, None, {'a': True}] default héllo ☃ 💥"
    assert len(story.notebook["cells"]) == 14
    assert story.notebook["metadata"]["mooring"] == {"parameters": {"size": [1, None, {"a": True}]}}


def test_parameters_are_there_from_the_first_cell_on_where_none_is_tagged(tmp_path: Path) -> None:
    found = executed(tmp_path, "size", "size * 2", parameters={"size": 21})
    assert [output_text(cell) for cell in found.notebook["cells"]] == ["21", "42"]


def test_cells_run_in_the_folder_of_the_notebook(story: Execution) -> None:
    assert output_text(story.notebook["cells"][4]) == '"from the notebook\'s folder"'


def test_outputs_of_an_earlier_run_are_gone_except_where_cells_are_left_out(story: Execution) -> None:
    cells = story.notebook["cells"]
    assert cells[13]["outputs"] == []
    assert output_text(cells[6]) == "as it was saved"


def test_standard_error_of_cells_is_apart_from_that_of_the_kernel(story: Execution) -> None:
    (output,) = story.notebook["cells"][8]["outputs"]
    assert output["name"] == "stderr"
    assert "hm" in output["text"]
    assert "UserWarning: careful" in output["text"]
    assert all("TCP" not in output_text(cell) for cell in story.notebook["cells"])


def test_huge_output_is_cut_and_says_so(story: Execution) -> None:
    outputs = story.notebook["cells"][9]["outputs"]
    printed_ = "".join(output.get("text", "") for output in outputs)
    assert len(printed_) < MAX_CELL_CHARACTERS + 200
    assert "[output cut by the runner: " in outputs[-1]["text"]


def test_outputs_that_a_cell_takes_back_or_changes_are_as_a_reader_sees_them(story: Execution) -> None:
    assert output_text(story.notebook["cells"][11]) == "step 2\n'second'"


def test_time_is_taken_for_each_cell(story: Execution) -> None:
    assert 0.2 <= story.cells[10].seconds < 5
    assert story.cells[6].seconds == 0


def test_the_kernel_is_asked_about_values_that_are_expected(story: Execution) -> None:
    value = story.notebook["cells"][10]["metadata"]["mooring"]["value"]
    assert value == {"types": ["builtins.list", "builtins.object"], "shape": [3], "length": 3, "number": None}
    assert "mooring" not in story.notebook["cells"][11]["metadata"]


def test_a_verdict_on_it_has_results_up_to_the_failure(story: Execution) -> None:
    found = verdict(story, RunnerSettings("x"), story.notebook, story.notebook)
    assert (found.outcome, found.reason, found.exit_code) == ("Failed", "NotebookExecutionFailed", 2)
    failed = found.results[12]
    assert (failed.status, failed.errorMessage) == ("Failure", "ValueError: no such file: ☃")
    assert "Traceback" in failed.output
    assert "\x1b" not in failed.output
    assert found.results[3].executionTime.endswith("ms")
    assert found.comparison is not None
    assert [each.cellIndex for each in found.comparison.diffs] == [12]
    assert (found.total_cells, found.code_cells, found.failed_cells) == (14, 12, 1)


def test_a_cell_over_its_limit_fails_with_what_it_had_printed(tmp_path: Path) -> None:
    found = executed(
        tmp_path, "1", "print('so far', flush=True)\nimport time; time.sleep(60)", "2", cellTimeoutSeconds=1.5
    )
    assert found.end is not None
    assert (found.end.outcome, found.end.reason) == ("Failed", "CellTimeout")
    assert found.end.message == "in cell 1: the cell was not done within 1.5s, its limit (cellTimeout)"
    assert statuses(found) == ["Success", "Failure", "Skipped"]
    assert output_text(found.notebook["cells"][1]) == "so far"


def test_a_notebook_over_its_limit_fails(tmp_path: Path) -> None:
    found = executed(tmp_path, "while True: pass", timeoutSeconds=3)
    assert found.end is not None
    assert (found.end.outcome, found.end.reason) == ("Failed", "ValidationTimeout")
    assert "the notebook was not done within 3s, its limit (timeout)" in found.end.message
    # On a machine so busy that the kernel did not start in time, the cell was never reached.
    assert "Success" not in statuses(found)


def test_a_kernel_that_is_killed_is_noticed(tmp_path: Path) -> None:
    found = executed(tmp_path, "x = 1", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "x")
    assert found.end is not None
    assert (found.end.outcome, found.end.reason) == ("Failed", "KernelDied")
    assert "killed (SIGKILL), as is done when memory runs out" in found.end.message
    assert statuses(found) == ["Success", "Failure", "Skipped"]


def test_a_notebook_may_end_itself_with_exit_code_0(tmp_path: Path) -> None:
    found = executed(tmp_path, "import sys; sys.exit(0)", "1")
    assert (found.end, found.exited_at, statuses(found)) == (None, 0, ["Success", "Skipped"])
    result = verdict(found, RunnerSettings("x"), found.notebook, None)
    assert result.outcome == "Passed"
    assert "cell 0 ended the notebook with exit code 0" in result.message


def test_a_kernel_that_is_not_installed_is_named_with_those_that_are(tmp_path: Path) -> None:
    found = executed(tmp_path, "1", kernel="julia-1.9")
    assert found.end is not None
    assert (found.end.outcome, found.end.reason) == ("Error", "KernelNotInstalled")
    assert 'asks for the kernel "julia-1.9", which is not installed; installed: python3' in found.end.message
    assert statuses(found) == ["Skipped"]


def test_a_notebook_of_an_older_format_is_read(tmp_path: Path) -> None:
    old = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {"name": ""},
        "worksheets": [{"cells": [{"cell_type": "code", "language": "python", "input": ["1\n", "2"], "outputs": []}]}],
    }
    (cell,) = read_notebook(str(written(tmp_path / "old.ipynb", old)))["cells"]
    assert cell["source"] == "1\n2"


def test_how_a_kernel_died_is_told() -> None:
    assert "memory limit was reached" in how_it_died(-9, True, "")
    assert how_it_died(-11, False, "") == "signal 11 (SIGSEGV) ended it"
    assert how_it_died(3, False, "a\nb") == "it exited with code 3; its last words: a b"
    assert how_it_died(None, False, "") == "it no longer answers"


@pytest.mark.parametrize(
    ("groups", "file"),
    [
        ("0::/pods/a\n", "pods/a/memory.events"),
        ("0::/elsewhere\n", "memory.events"),
        ("5:cpu:/x\n4:memory,hugetlb:/pods/a\n", "memory/pods/a/memory.oom_control"),
        ("", "memory/memory.oom_control"),
    ],
)
def test_processes_killed_for_memory_are_counted_where_the_system_does(tmp_path: Path, groups: str, file: str) -> None:
    (tmp_path / "cgroup").write_text(groups, encoding="ascii")
    assert oom_kills(str(tmp_path / "cgroup"), str(tmp_path)) == 0
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text("low 0\noom 3\noom_kill 2\n", encoding="ascii")
    assert oom_kills(str(tmp_path / "cgroup"), str(tmp_path)) == 2
