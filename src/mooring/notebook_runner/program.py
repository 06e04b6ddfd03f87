"""`python3 runner.pyz settings.json`: runs a notebook, and writes the artefact and the result to standard output.

Exit codes: 0 passed, 2 validation failed, 1 error, 3 the image lacks what the runner needs. The last thing written is
the RESULT; a runner that is killed before has none, and nobody takes that for a success.
"""

from __future__ import annotations

import copy
import io
import os
import platform
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NoReturn

from mooring.notebook_runner.artifact import artifact_frame
from mooring.notebook_runner.durations import go_duration
from mooring.notebook_runner.execution.cell_run import CellRun, EarlyEnd, Execution
from mooring.notebook_runner.frames import RESULT, encode
from mooring.notebook_runner.report.page import report_page
from mooring.notebook_runner.result import ERROR, FAILED, RUNNER_UNAVAILABLE, RunResult
from mooring.notebook_runner.result_limits import fitted, payload_of
from mooring.notebook_runner.settings import RunnerSettings, SettingsError
from mooring.notebook_runner.verdict import execution_result, verdict

__all__ = ["EXECUTED", "REPORT", "main"]

EXECUTED: Final = "executed.ipynb"
REPORT: Final = "report.html"
# Even a run whose cells took all the time is judged; what judging may take is bounded by this.
_JUDGING_SECONDS: Final = 30.0
_ADVICE: Final = "install nbclient, nbformat and ipykernel for it: pip install nbclient nbformat ipykernel"


class _Interrupted(BaseException):
    """A limit or a signal, while no kernel runs."""

    def __init__(self, end: EarlyEnd) -> None:
        self.end = end


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    if isinstance(sys.stdout, io.TextIOWrapper):
        # An image may be set to a language whose letters are not those of the notebook.
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    if len(arguments) != 1:
        print("usage: runner.pyz settings.json", file=sys.stderr)
        return 1
    try:
        settings = RunnerSettings.from_json(Path(arguments[0]).read_bytes())
    except (OSError, SettingsError) as error:
        return _finish(RunResult(ERROR, "ConfigurationError", str(error)))
    missing = _missing()
    if missing:
        return _finish(RunResult(ERROR, RUNNER_UNAVAILABLE, missing))
    # As the first process of a container it would not even be ended by the signal without this.
    signal.signal(signal.SIGTERM, _on_term)
    try:
        return _run(settings)
    except _Interrupted as interrupted:
        return _finish(RunResult(ERROR, interrupted.end.reason, interrupted.end.message))
    except ImportError as error:
        return _finish(RunResult(ERROR, RUNNER_UNAVAILABLE, f"{error}; {_ADVICE}"))
    except Exception as error:
        # Whatever it is, it is told: a log without a result says nothing of why.
        traceback.print_exc()
        return _finish(RunResult(ERROR, "RunnerFailed", f"the runner itself failed: {type(error).__name__}: {error}"))


def _run(settings: RunnerSettings) -> int:
    from mooring.notebook_runner.execution.notebook_file import NotANotebook, read_notebook

    deadline = time.monotonic() + settings.timeout_seconds
    try:
        saved = read_notebook(settings.notebook)
        golden = read_notebook(settings.golden) if settings.golden else None
    except NotANotebook as error:
        return _finish(RunResult(ERROR, "NotANotebook", str(error)))
    execution = _executed(copy.deepcopy(saved), settings, deadline)
    try:
        with _bounded(deadline, settings):
            result = verdict(execution, settings, saved, golden)
    except _Interrupted as interrupted:
        result = execution_result(execution, interrupted.end)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    result = replace(result, environment=(("python", platform.python_version()), *result.environment))
    return _finish(result, settings, execution.notebook, golden)


def _executed(notebook: dict[str, Any], settings: RunnerSettings, deadline: float) -> Execution:
    import asyncio

    from mooring.notebook_runner.execution.run import NotebookRun

    total = len(notebook["cells"])

    def progress(index: int, run: CellRun | None) -> None:
        done = "started" if run is None else f"{run.status} in {go_duration(run.seconds)}"
        print(f"cell {index} of {total}: {done}", flush=True)

    folder = str(Path(settings.notebook).absolute().parent)
    run = NotebookRun(notebook, settings, folder, deadline=deadline, progress=progress)
    return asyncio.run(run.run())


@contextmanager
def _bounded(deadline: float, settings: RunnerSettings) -> Iterator[None]:
    """A pattern of a user may take for ever to match, and matching lets no other thread run; a signal it does heed."""

    def late(number: int, frame: Any) -> NoReturn:
        limit = go_duration(settings.timeout_seconds)
        raise _Interrupted(EarlyEnd(FAILED, "ValidationTimeout", f"outputs were not compared within {limit} (timeout)"))

    signal.signal(signal.SIGALRM, late)
    signal.signal(signal.SIGTERM, _on_term)
    signal.setitimer(signal.ITIMER_REAL, max(_JUDGING_SECONDS, deadline - time.monotonic()))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _on_term(number: int, frame: Any) -> NoReturn:
    raise _Interrupted(EarlyEnd(ERROR, "Terminated", "the runner was told to stop before it was done"))


def _missing() -> str:
    """What to install, when something is missing."""
    from importlib.util import find_spec

    missing = [name for name in ("nbclient", "nbformat", "jupyter_client") if find_spec(name) is None]
    if not missing:
        return ""
    return f"Python {platform.python_version()} ({sys.executable}) has no {' and no '.join(missing)}; {_ADVICE}"


def _finish(
    result: RunResult,
    settings: RunnerSettings | None = None,
    notebook: dict[str, Any] | None = None,
    golden: dict[str, Any] | None = None,
) -> int:
    print(f"{result.outcome}: {result.reason}: {result.message}", flush=True)
    if settings is not None and notebook is not None:

        def page(shown: dict[str, Any]) -> str:
            return report_page(Path(settings.notebook).name, shown, golden, result, settings)

        if settings.output:
            _write_files(Path(settings.output), notebook, page(notebook))
        sys.stdout.write(artifact_frame(notebook, page))
    sys.stdout.write(encode(RESULT, payload_of(fitted(result))))
    sys.stdout.flush()
    return result.exit_code


def _write_files(folder: Path, notebook: dict[str, Any], page: str) -> None:
    """Whole for those in the same pod or on the same machine; a folder that cannot be written is no failed notebook."""
    import nbformat

    try:
        _write(folder / EXECUTED, nbformat.writes(nbformat.from_dict(notebook)) + "\n")
        _write(folder / REPORT, page)
    except OSError as error:
        print(f"{error.filename}: {error.strerror}; the artefact in the log has what was to be written", flush=True)


def _write(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(text, encoding="utf-8", errors="replace")
    draft.replace(path)
