"""The runner as it is in a pod: one file, settings in, frames out, an exit code that says how it went."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mooring.notebook_runner.bundle import runner_zip
from mooring.notebook_runner.frames import ARTIFACT, RESULT, FrameError, decode
from tests.notebook_runner.notebooks import code, markdown, notebook, printed, written


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runner") / "runner.pyz"
    path.write_bytes(runner_zip())
    return path


@pytest.fixture(autouse=True)
def own_handlers() -> Iterator[None]:
    """The program takes signals for the process that it thinks is its own."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGALRM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def settings_file(folder: Path, **settings: Any) -> str:
    path = folder / "settings.json"
    path.write_text(json.dumps(settings), encoding="utf-8")
    return str(path)


def run(runner: Path, settings: str, *options: str) -> tuple[int, str, dict[str, Any]]:
    # Without -P a file in the current folder could stand in for the runner's own.
    command = [sys.executable, *options, str(runner), settings]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout, json.loads(decode(done.stdout, RESULT))


def test_a_run_ends_with_its_artefact_and_its_result(runner: Path, tmp_path: Path) -> None:
    source = written(tmp_path / "a b.ipynb", notebook(markdown("# T"), "x = 21", "print(x * 2)\nassert x"))
    golden = written(tmp_path / "golden.ipynb", notebook(markdown("# T"), "", code("", printed("42.00001\n"))))
    settings = settings_file(tmp_path, notebook=str(source), golden=str(golden), output=str(tmp_path))
    status, log, result = run(runner, settings)
    assert (status, result["outcome"], result["reason"]) == (0, "Passed", "ValidationComplete")
    assert result["message"] == "2 of 2 code cells succeeded (100.0%); 3 of 3 match the golden notebook"
    assert result["comparisonResult"] == {
        "strategy": "normalized",
        "result": "matched",
        "totalCells": 3,
        "matchedCells": 3,
        "mismatchedCells": 0,
    }
    assert result["statistics"] == {"totalCells": 3, "codeCells": 2, "failedCells": 0}
    assert set(result["environment"]) >= {"python", "nbclient", "kernel"}
    assert log.splitlines()[-1] == "-----END MOORING NOTEBOOK RESULT-----"
    assert "cell 2 of 3: started" in log.splitlines()
    artifact = json.loads(decode(log, ARTIFACT))
    assert artifact["executed"]["cells"][2]["outputs"][0]["text"] == "42\n"
    assert artifact["report"].startswith("<!doctype html>")
    assert json.loads((tmp_path / "executed.ipynb").read_text(encoding="utf-8"))["nbformat"] == 4
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == artifact["report"]


def test_a_python_without_nbclient_says_what_to_install(runner: Path, tmp_path: Path) -> None:
    source = written(tmp_path / "a.ipynb", notebook("1"))
    # Without packages of a site, as in an image that has nothing but Python.
    status, _, result = run(runner, settings_file(tmp_path, notebook=str(source)), "-I", "-S")
    assert (status, result["outcome"], result["reason"]) == (3, "Error", "RunnerUnavailable")
    assert "has no nbclient and no nbformat" in result["message"]
    assert "pip install nbclient nbformat ipykernel" in result["message"]


@pytest.mark.parametrize(
    ("settings", "reason", "words"),
    [
        ({"notebook": "/nowhere/x.ipynb"}, "NotANotebook", "/nowhere/x.ipynb does not exist"),
        ({"notebook": "x", "timeoutSeconds": -1}, "ConfigurationError", "timeoutSeconds is -1"),
    ],
)
def test_what_cannot_be_run_is_an_error_with_a_result(
    runner: Path, tmp_path: Path, settings: dict[str, Any], reason: str, words: str
) -> None:
    status, _, result = run(runner, settings_file(tmp_path, **settings))
    assert (status, result["outcome"], result["reason"], result["results"]) == (1, "Error", reason, [])
    assert words in result["message"]


def test_a_runner_that_breaks_says_so_in_a_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from mooring.notebook_runner import program

    def broken(*_: Any) -> None:
        raise RuntimeError("no wheel")

    monkeypatch.setattr(program, "_executed", broken)
    settings = settings_file(tmp_path, notebook=str(written(tmp_path / "a.ipynb", notebook("1"))))
    assert program.main([settings]) == 1
    result = json.loads(decode(capsys.readouterr().out, RESULT))
    assert (result["reason"], result["message"]) == ("RunnerFailed", "the runner itself failed: RuntimeError: no wheel")


@pytest.mark.parametrize("phase", ["_executed", "verdict"])
def test_a_runner_that_is_told_to_stop_between_cells_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], phase: str
) -> None:
    from mooring.notebook_runner import program
    from mooring.notebook_runner.execution.cell_run import CellRun, Execution

    def at_once(made: dict[str, Any], *_: Any) -> Execution:
        return Execution(made, [CellRun("Success")], reached=1)

    def told_to_stop(*_: Any) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(1)

    monkeypatch.setattr(program, "_executed", at_once)
    monkeypatch.setattr(program, phase, told_to_stop)
    settings = settings_file(tmp_path, notebook=str(written(tmp_path / "a.ipynb", notebook("1"))))
    assert program.main([settings]) == 1
    result = json.loads(decode(capsys.readouterr().out, RESULT))
    assert (result["outcome"], result["reason"]) == ("Error", "Terminated")


def started(runner: Path, tmp_path: Path) -> subprocess.Popen[str]:
    source = written(tmp_path / "a.ipynb", notebook("1", "import time; time.sleep(120)"))
    settings = settings_file(tmp_path, notebook=str(source))
    process = subprocess.Popen([sys.executable, str(runner), settings], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("cell 1 of 2: started"):
            return process
    raise AssertionError("the second cell never started")


def test_a_runner_that_is_told_to_stop_reports_what_it_has(runner: Path, tmp_path: Path) -> None:
    with started(runner, tmp_path) as process:
        process.terminate()
        log, _ = process.communicate(timeout=30)
    result = json.loads(decode(log, RESULT))
    assert (process.returncode, result["outcome"], result["reason"]) == (1, "Error", "Terminated")
    assert [cell["status"] for cell in result["results"]] == ["Success", "Failure"]


def test_a_runner_that_is_killed_has_no_result_and_leaves_no_kernel(runner: Path, tmp_path: Path) -> None:
    with started(runner, tmp_path) as process:
        kernels = children(process.pid)
        process.kill()
        log, _ = process.communicate(timeout=30)
    with pytest.raises(FrameError):
        decode(log, RESULT)
    assert process.returncode == -signal.SIGKILL
    assert kernels
    deadline = time.monotonic() + 30
    while any(map(alive, kernels)):
        assert time.monotonic() < deadline, "the kernel outlives its runner"
        time.sleep(0.1)


def test_a_pattern_that_takes_for_ever_ends_with_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from mooring.notebook_runner import program
    from mooring.notebook_runner.execution.cell_run import CellRun, Execution

    def at_once(made: dict[str, Any], *_: Any) -> Execution:
        return Execution(made, [CellRun("Success")], reached=1)

    source = notebook(code("", printed("a" * 60 + "!")))
    golden = notebook(code("", printed("a" * 61 + "!")))
    monkeypatch.setattr(program, "_executed", at_once)
    monkeypatch.setattr(program, "_JUDGING_SECONDS", 0.2)
    settings = settings_file(
        tmp_path,
        notebook=str(written(tmp_path / "a.ipynb", source)),
        golden=str(written(tmp_path / "g.ipynb", golden)),
        comparison={"customTimestampPatterns": ["(a+)+$"]},
        timeoutSeconds=0.3,
    )
    assert program.main([settings]) == 2
    result = json.loads(decode(capsys.readouterr().out, RESULT))
    assert (result["reason"], result["comparisonResult"]) == ("ValidationTimeout", None)
    assert [cell["status"] for cell in result["results"]] == ["Success"]


def children(pid: int) -> list[int]:
    done = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(line) for line in done.stdout.split()]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
