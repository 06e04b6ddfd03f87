"""Notebook jobs on the process node, from apply to the verdict, one after the other and many together.

A job adds two containers, a clone over the loopback address, the result's way through a log, and the controllers.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench import node
from bench.measured_clusters import embedded
from bench.notebooks import SHORT_CELLS, write_notebook
from bench.wire import Wire
from mooring.testing.processes import ProgramProcess, free_port

ALONE = 5
TOGETHER = 20
_JOBS = "/apis/mlops.mlops.dev/v1alpha1/namespaces/default/notebookvalidationjobs"
_POLL_SECONDS = 0.02
_NAME = "tiny.ipynb"


def measured() -> dict[str, float]:
    """Milliseconds of one job; jobs per second together; milliseconds of CPU of our own processes for one."""
    with tempfile.TemporaryDirectory(prefix="mooring-bench-") as name:
        folder = Path(name)
        _repository(folder / "served" / "models")
        with embedded(folder / "embedded") as running, _git_daemon(folder) as url:
            wire = Wire(running.endpoint)
            node.wait_for_node(wire)
            alone = [_ended(wire, url, [f"alone-{number}"]) for number in range(ALONE)]
            before = sum(running.cpu().values())
            together = _ended(wire, url, [f"together-{number}" for number in range(TOGETHER)])
            cpu = sum(running.cpu().values()) - before
        return {
            "alone": statistics.median(alone) * 1000,
            "together": TOGETHER / together,
            "cpu": cpu * 1000 / TOGETHER,
        }


def _repository(folder: Path) -> None:
    folder.mkdir(parents=True)
    write_notebook(folder / _NAME, SHORT_CELLS)
    for words in (["init", "-q", "-b", "main"], ["add", "."], [*_identity(), "commit", "-q", "-m", "Add"]):
        subprocess.run(["git", *words], cwd=folder, check=True)


def _identity() -> list[str]:
    return ["-c", "user.name=bench", "-c", "user.email=bench@example.com"]


@contextmanager
def _git_daemon(folder: Path) -> Iterator[str]:
    port = free_port()
    command = ["git", "daemon", "--export-all", "--listen=127.0.0.1", f"--port={port}"]
    process = ProgramProcess([*command, f"--base-path={folder / 'served'}"], folder / "daemon.log")
    try:
        yield f"git://127.0.0.1:{port}/models"
    finally:
        process.stop()


def _ended(wire: Wire, url: str, names: list[str]) -> float:
    """Seconds until all of these jobs have succeeded."""
    began = time.perf_counter()
    for name in names:
        wire.call("POST", _JOBS, _job(name, url))
    waiting = set(names)
    while waiting:
        for name in tuple(waiting):
            status = wire.call("GET", f"{_JOBS}/{name}").get("status") or {}
            if status.get("phase") == "Failed" or time.perf_counter() > began + node.WAIT_SECONDS:
                raise RuntimeError(f"job {name} did not succeed: {status.get('message')}")
            if status.get("phase") == "Succeeded":
                waiting.discard(name)
        time.sleep(_POLL_SECONDS)
    return time.perf_counter() - began


def _job(name: str, url: str) -> dict[str, Any]:
    pod = {
        "containerImage": "any",
        "tolerations": [{"key": "mooring.dev/process", "operator": "Exists"}],
        "nodeSelector": {"mooring.dev/process": "true"},
    }
    spec = {"notebook": {"git": {"url": url, "ref": "main"}, "path": _NAME}, "podConfig": pod}
    kind = {"apiVersion": "mlops.mlops.dev/v1alpha1", "kind": "NotebookValidationJob"}
    return {**kind, "metadata": {"name": name}, "spec": spec}
