"""The notebook runner beside nbclient alone, on the same notebook: one whole run, and one cell more.

Each run is a process of its own, from its start to its end, with a kernel. A cell more is the slope between a short and
a long notebook, so that the start of Python and of the kernel is in neither.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SHORT_CELLS = 1
LONG_CELLS = 201
TRIES = 3

_NBCLIENT = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=600).execute()
nbformat.write(notebook, sys.argv[1] + ".executed")
"""


def measured() -> dict[str, float]:
    """Milliseconds: wall and CPU time of a whole run and of a cell more, of the runner and of nbclient."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="mooring-bench-") as name:
        folder = Path(name)
        for who in ("runner", "nbclient"):
            short, long = (_best(_command(who, folder, cells)) for cells in (SHORT_CELLS, LONG_CELLS))
            for what, first, second in zip(("wall", "cpu"), short, long, strict=True):
                found[f"{who} {what}"] = first * 1000
                found[f"{who} {what} of a cell"] = (second - first) * 1000 / (LONG_CELLS - SHORT_CELLS)
    return found


def write_notebook(path: Path, cells: int) -> None:
    """A notebook that prints a number in every cell."""
    made: list[dict[str, object]] = [
        {
            "cell_type": "code",
            "id": f"c{n}",
            "source": f"print({n})",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        for n in range(cells)
    ]
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    document = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": spec}, "cells": made}
    path.write_text(json.dumps(document), encoding="utf-8")


def _command(who: str, folder: Path, cells: int) -> list[str]:
    notebook = folder / f"{cells}.ipynb"
    write_notebook(notebook, cells)
    if who == "nbclient":
        return [sys.executable, "-c", _NBCLIENT, str(notebook)]
    settings = folder / f"{cells}.json"
    settings.write_text(json.dumps({"notebook": str(notebook), "output": str(folder)}), encoding="utf-8")
    return [sys.executable, "-m", "mooring.notebook_runner", str(settings)]


def _best(command: list[str]) -> tuple[float, float]:
    """The least seconds on the clock and the least of CPU, kernel included, of a few tries."""
    walls, cpus = [], []
    for _ in range(TRIES):
        before, started = _cpu(), time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        walls.append(time.perf_counter() - started)
        cpus.append(_cpu() - before)
    return min(walls), min(cpus)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
