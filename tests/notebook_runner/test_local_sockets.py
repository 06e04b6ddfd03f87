"""How the runner talks to its kernel."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mooring.notebook_runner.execution.local_sockets import use_local_sockets
from mooring.notebook_runner.execution.notebook_file import read_notebook
from mooring.notebook_runner.execution.run import NotebookRun
from mooring.notebook_runner.settings import RunnerSettings
from tests.notebook_runner.notebooks import code, notebook, written

CONNECTION = "import json\nfrom ipykernel.connect import get_connection_info\nprint(get_connection_info())"


def manager(*argv: str) -> Any:
    return SimpleNamespace(kernel_spec=SimpleNamespace(argv=list(argv)), transport="tcp", ip="127.0.0.1")


@pytest.mark.parametrize(
    ("argv", "folder", "transport"),
    [
        (("python", "-m", "ipykernel_launcher", "-f", "{connection_file}"), "/tmp/kernel-x", "ipc"),
        (("julia", "kernel.jl", "{connection_file}"), "/tmp/kernel-x", "tcp"),
        (("python", "-m", "ipykernel_launcher"), f"/tmp/{'ü' * 50}", "tcp"),
    ],
    ids=["a kernel of Python", "a kernel that knows ports alone", "a path that is too long for a socket"],
)
def test_only_kernels_that_know_sockets_of_files_get_them(argv: tuple[str, ...], folder: str, transport: str) -> None:
    made = manager(*argv)
    use_local_sockets(made, folder)
    assert made.transport == transport


def test_a_kernel_of_python_opens_no_port_and_leaves_no_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sockets = tmp_path / "s"
    sockets.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(sockets))
    source = read_notebook(str(written(tmp_path / "source.ipynb", notebook(code(CONNECTION)))))
    run = NotebookRun(
        source,
        RunnerSettings.from_json('{"notebook": "x"}'),
        str(tmp_path),
        deadline=time.monotonic() + 60,
        progress=lambda index, found: None,
    )
    execution = asyncio.run(run.run())
    (output,) = execution.notebook["cells"][0]["outputs"]
    assert '"transport": "ipc"' in output["text"]
    assert not any(sockets.iterdir())
