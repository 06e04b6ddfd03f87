"""The functions of kubectl's scripts: which there are, which need not pass, and how one is run."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from mooring.testing.homes import Home
from mooring.testing.tools import ToolMissing, tool

HERE = Path(__file__).parent
# The second is for one function only.
PROGRAMS = ("kubectl", "kubectl-convert")
# The checks that upstream makes itself, between the functions that it records.
BETWEEN = "runTests"
FUNCTION_SECONDS = 600
# Colours are asked of the terminal by name; and kubectl need not be of the very build that the server is.
ENVIRONMENT = {"TERM": "xterm", "ALLOW_SKEW": "1"}


def excused() -> dict[str, str]:
    """The functions that need not pass, because they do not on a real control plane in the same shape either."""
    found: dict[str, str] = json.loads((HERE / "excused.json").read_text(encoding="utf-8"))
    return found


def functions(folder: Path) -> list[str]:
    """What upstream runs, in its order."""
    script = (folder / "test" / "cmd" / "legacy-script.sh").read_text(encoding="utf-8")
    return [BETWEEN, *re.findall(r"^ *record_command (run_\w+)", script, re.MULTILINE)]


def copy_scripts(folder: Path) -> None:
    """The scripts, where they may write, and the programs in the place where they look for what upstream builds."""
    shutil.copytree(tool("kubectl-scripts"), folder)
    programs = folder / "_output" / "bin"
    programs.mkdir(parents=True)
    for name in PROGRAMS:
        with contextlib.suppress(ToolMissing):
            (programs / name).symlink_to(tool(name))


def passes(function: str, home: Home, folder: Path, log: Path) -> bool:
    """Whether the function passes in that home; what it says goes to the log."""
    with log.open("wb") as output, tempfile.TemporaryDirectory() as temporary:
        # Upstream's API server leaves its certificate there.
        shutil.copy(home.ca, Path(temporary) / "apiserver.crt")
        environment = {**os.environ, **ENVIRONMENT, "TMPDIR": temporary}
        environment["SECURE_API_PORT"] = home.url.rpartition(":")[2]
        environment.pop("KUBECONFIG", None)
        child = subprocess.Popen(
            ["bash", str(HERE / "function.sh"), str(folder), function],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
        try:
            return child.wait(FUNCTION_SECONDS) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            _end(child)


def _end(child: subprocess.Popen[bytes]) -> None:
    """A function that fails leaves its kubectl proxy or its watch behind."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
