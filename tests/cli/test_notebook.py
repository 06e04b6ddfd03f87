"""`mooring notebook` as a user types it. Runs are real and few: each starts a kernel."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from mooring.cli.main import cli
from mooring.cli.notebook import commands, runner_process
from mooring.client.http import HttpTransport
from mooring.notebook_runner.frames import ARTIFACT, RESULT, encode
from tests.cli.served import served
from tests.notebook_runner.notebooks import code, markdown, notebook, printed, written

DOCS = Path(__file__).parents[2] / "docs"


def mooring(folder: Path, *arguments: str) -> Result:
    with chdir(folder):
        return CliRunner().invoke(cli, ["notebook", *arguments], prog_name="mooring")


def error_of(done: Result) -> str:
    """The one line that was said, on standard error."""
    assert (done.exit_code, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    return line.removeprefix("error: ")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    cells = (markdown("# T"), code("size = 1", tags=("parameters",)), "print('wer', 0.0842 * size)", "assert size")
    return written(tmp_path / "eval.ipynb", notebook(*cells))


def test_the_output_of_one_run_is_the_golden_notebook_of_the_next(tmp_path: Path, source: Path) -> None:
    first = mooring(tmp_path, "run", "eval.ipynb", "--output", "golden.ipynb")
    assert (first.exit_code, first.stderr) == (0, "")
    assert first.stdout.splitlines()[:2] == [
        "eval.ipynb: Passed (ValidationComplete)",
        "  3 of 3 code cells succeeded (100.0%)",
    ]
    again = mooring(
        tmp_path, "run", "eval.ipynb", "--golden", "golden.ipynb", "--param", "size=2", "--report", "report.html"
    )
    assert again.exit_code == 2
    assert "Cell 2 differs from the golden notebook" in again.stdout
    assert "  -wer 0.0842\n  +wer 0.1684\n" in again.stdout
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "wer 0.1684" in page
    assert sorted(path.name for path in tmp_path.iterdir()) == ["eval.ipynb", "golden.ipynb", "report.html"]


def test_a_terminal_shows_a_bar_over_the_cells_and_a_program_gets_json(tmp_path: Path, source: Path) -> None:
    command = [sys.executable, "-m", "mooring", "notebook", "run", "eval.ipynb"]
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                shown += os.read(ours, 65536)
            except OSError:
                break
    os.close(ours)
    assert process.returncode == 0
    assert b"starting the kernel" in shown
    assert b"4/4" in shown
    answered = mooring(tmp_path, "run", "eval.ipynb", "-o", "json", "--param", 'size="x"')
    assert answered.exit_code == 2
    result = json.loads(answered.stdout)
    assert (result["reason"], result["results"][2]["status"]) == ("NotebookExecutionFailed", "Failure")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.ipynb"], "nowhere.ipynb does not exist"),
        (["settings.ipynb"], "settings.ipynb is not a notebook: it is JSON without nbformat"),
        (["eval.ipynb", "--golden", "settings.ipynb"], "settings.ipynb is not a notebook"),
        (["eval.ipynb", "--tolerance", "much"], 'comparison.floatingPointTolerance "much" is no number'),
        (["other.ipynb"], 'asks for the kernel "r-4.3", which is not installed; installed: '),
        (["eval.ipynb", "--param", "size"], "--param size is no parameter; write it as name=value"),
        (["eval.ipynb", "--report", "no/such/folder/x.html"], "no/such/folder is not a folder"),
        (["eval.ipynb", "--timeout", "soon"], '"soon" is not a duration such as 90s, 5m or 1h30m'),
        (["eval.ipynb", "--level", "high"], "Invalid value for '--level'"),
    ],
)
def test_bad_input_is_one_line_that_names_it(tmp_path: Path, source: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "settings.ipynb").write_text("{}", encoding="utf-8")
    written(tmp_path / "other.ipynb", notebook("1", kernel="r-4.3"))
    before = sorted(tmp_path.iterdir())
    assert said in error_of(mooring(tmp_path, "run", *arguments))
    assert sorted(tmp_path.iterdir()) == before


def test_a_missing_extra_is_named(tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner_process, "_NEEDED", ("nbclient", "no_such_kernel"))
    line = error_of(mooring(tmp_path, "run", "eval.ipynb"))
    assert line == "no_such_kernel is missing; install what notebooks need: pip install 'mooring[notebooks]'"


def test_a_runner_that_dies_is_an_error_and_no_success(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert error_of(mooring(tmp_path, "run", "eval.ipynb", "--output", "x.ipynb")).startswith(
        "the runner gave no result"
    )
    assert not (tmp_path / "x.ipynb").exists()


def test_ctrl_c_ends_the_runner_and_its_kernel(tmp_path: Path) -> None:
    cell = (
        "import os, time\nopen('pid.part', 'w').write(str(os.getpid()))\nos.rename('pid.part', 'pid'); time.sleep(99)"
    )
    written(tmp_path / "slow.ipynb", notebook(cell))
    command = [sys.executable, "-m", "mooring", "notebook", "run", "slow.ipynb", "--output", "x.ipynb"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        wait_until((tmp_path / "pid").exists)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=30)
    assert (process.returncode, said) == (130, b"")
    kernel = int((tmp_path / "pid").read_text(encoding="ascii"))
    wait_until(lambda: not Path(f"/proc/{kernel}").exists())
    assert not (tmp_path / "x.ipynb").exists()


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def pod(name: str, created: str) -> dict[str, Any]:
    meta = {"name": name, "namespace": "ml", "creationTimestamp": created, "labels": {"notebookvalidationjob": "eval"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {**meta, "uid": name}, "spec": {"containers": []}}


def test_a_report_is_fetched_from_the_log_of_the_newest_pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executed = notebook(code("1", printed("☃")))
    artifact = encode(ARTIFACT, json.dumps({"executed": executed, "report": "<p>page</p>"}).encode())
    logs = {"eval-validation": "killed", "eval-validation-1": artifact + encode(RESULT, b"{}")}

    async def log(self: HttpTransport, namespace: str, name: str, query: dict[str, str]) -> str:
        assert (namespace, query["container"]) == ("ml", "validator")
        return logs[name]

    monkeypatch.setattr(HttpTransport, "log", log)
    with served(tmp_path) as cluster:
        config = ["--kubeconfig", cluster.kubeconfig()]
        missing = error_of(mooring(tmp_path, "report", "eval", "-n", "ml", *config))
        assert missing == "job eval in namespace ml has no pod, or none any more; its report is gone too"
        cluster.add(pod("eval-validation-1", "2026-11-16T10:00:00Z"), pod("eval-validation", "2026-11-16T09:00:00Z"))
        done = mooring(tmp_path, "report", "eval", "-n", "ml", "--executed", "e.ipynb", *config)
        assert (done.exit_code, done.stdout) == (0, "eval.html written\ne.ipynb written\n")
        logs["eval-validation-1"] = artifact[:-30]
        cut = error_of(mooring(tmp_path, "report", "eval", "-n", "ml", "-o", "other.html", *config))
        assert "eval in namespace ml: the ARTIFACT frame in the log has no end" in cut
    assert (tmp_path / "eval.html").read_text(encoding="utf-8") == "<p>page</p>"
    assert json.loads((tmp_path / "e.ipynb").read_text(encoding="utf-8")) == executed
    assert not (tmp_path / "other.html").exists()


def test_every_option_of_every_command_is_documented() -> None:
    page = (DOCS / "notebook.md").read_text(encoding="utf-8")
    for command in commands.command.commands.values():
        for parameter in command.params:
            for option in parameter.opts if isinstance(parameter, click.Option) else ():
                assert f"`{option}" in page, f"{option} of {command.name} is not in notebook.md"


def test_levels_and_normalisers_on_the_command_line_are_those_of_the_runner() -> None:
    from mooring.notebook_runner.settings import LEVELS, NORMALIZERS

    assert commands._LEVELS == LEVELS
    assert commands._NORMALIZERS == NORMALIZERS
