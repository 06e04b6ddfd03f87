"""A pytest plugin that writes down how long every test took and whether it passed.

A suite that also plays against a real cluster is played here against ours only: a real one runs nothing of our source.
"""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

import pytest

# As the parameter of a test's home is called.
REAL = "real"
_seconds: dict[str, float] = defaultdict(float)


def pytest_configure(config: pytest.Config) -> None:
    os.environ["MUTANTS_PROCESS"] = str(os.getpid())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    theirs = [item for item in items if f"[{REAL}" in item.nodeid]
    config.hook.pytest_deselected(items=theirs)
    items[:] = [item for item in items if f"[{REAL}" not in item.nodeid]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Its set-up counts as well, as it is paid again when the test runs alone."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    _seconds[report.nodeid] += report.duration
    if report.when == "teardown" or report.outcome != "passed":
        with Path(os.environ["MUTANTS_TESTS"]).open("a", encoding="utf-8") as file:
            file.write(f"{report.nodeid}\t{report.outcome}\t{_seconds[report.nodeid]:.3f}\n")
