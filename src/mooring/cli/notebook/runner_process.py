"""The runner as a child process of the command, as it is in a pod: the same program, settings and frames.

What a notebook does to the process that runs it, memory and signals included, does not reach the command.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from mooring.cli.whole_file import write_whole
from mooring.kube.errors import InputError
from mooring.notebook_runner.frames import RESULT, FrameError, decode

__all__ = ["run_notebook"]

_NEEDED: Final = ("nbclient", "nbformat", "ipykernel")
_CELL: Final = re.compile(r"cell ([0-9]+) of ([0-9]+): (\S+)")
# The runner ends by itself; this is for one that cannot any more.
_WATCHDOG_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 5.0


def run_notebook(
    settings: dict[str, Any], *, report: Path | None, executed: Path | None, progress: bool
) -> dict[str, Any]:
    """The RESULT of a run. Files are written only when the notebook was really run."""
    from importlib.util import find_spec

    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        names = f"{missing[0]} is" if len(missing) == 1 else f"{' and '.join(missing)} are"
        raise InputError(f"{names} missing; install what notebooks need: pip install 'mooring[notebooks]'")
    with tempfile.TemporaryDirectory(prefix="mooring-notebook-") as name:
        folder = Path(name)
        path = folder / "settings.json"
        path.write_text(json.dumps({**settings, "output": name}), encoding="utf-8")
        log, problem = _run(path, settings["timeoutSeconds"] + _WATCHDOG_SECONDS, progress)
        try:
            result: dict[str, Any] = json.loads(decode(log, RESULT))
        except FrameError as error:
            raise InputError(f"the runner gave no result: {problem or error}") from None
        for target, made in ((executed, folder / "executed.ipynb"), (report, folder / "report.html")):
            if target is not None and made.exists():
                write_whole(target, made.read_text(encoding="utf-8"))
        return result


def _run(settings: Path, seconds: float, progress: bool) -> tuple[str, str]:
    """The standard output of the runner, and the last line that it had to complain about."""
    # -P: a file of the current folder must not stand in for a module of Python.
    command = [sys.executable, "-P", "-m", "mooring.notebook_runner", str(settings)]
    lines: list[str] = []
    with tempfile.TemporaryFile() as errors:
        # In a session of its own: Ctrl-C is for the command, which passes it on.
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, start_new_session=True) as child:
            watchdog = threading.Timer(seconds, _kill, (child,))
            watchdog.daemon = True
            watchdog.start()
            try:
                _read(child, lines, progress)
                child.wait()
            except BaseException:
                _stop(child)
                raise
            finally:
                watchdog.cancel()
        errors.seek(0)
        complaints = errors.read().decode(errors="replace").strip().splitlines()
    if child.returncode < 0:
        complaints.append(f"it was ended by {signal.Signals(-child.returncode).name}")
    return "\n".join(lines), complaints[-1] if complaints else ""


def _read(child: subprocess.Popen[bytes], lines: list[str], progress: bool) -> None:
    assert child.stdout is not None
    if not progress:
        lines += (line.decode(errors="replace").rstrip("\n") for line in child.stdout)
        return
    from mooring.cli.notebook.progress_bar import progress_bar

    with progress_bar() as advance:
        for raw in child.stdout:
            line = raw.decode(errors="replace").rstrip("\n")
            lines.append(line)
            _tell(line, advance)


def _tell(line: str, advance: Callable[[int, int, str], None]) -> None:
    found = _CELL.match(line)
    if found is not None:
        advance(int(found.group(1)), int(found.group(2)), found.group(3))


def _stop(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        # Its output is of no interest any more, and must not keep it from ending.
        child.communicate(timeout=_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        _kill(child)


def _kill(child: subprocess.Popen[bytes]) -> None:
    """With its session; kernels have sessions of their own, and end when they find their parent gone."""
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)
