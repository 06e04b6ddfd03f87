"""A pytest plugin that writes down how long every test took and whether it passed."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

import pytest

_seconds: dict[str, float] = defaultdict(float)


def pytest_configure(config: pytest.Config) -> None:
    os.environ["MUTANTS_PROCESS"] = str(os.getpid())


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Its set-up counts as well, as it is paid again when the test runs alone."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    _seconds[report.nodeid] += report.duration
    if report.when == "teardown" or report.outcome != "passed":
        with Path(os.environ["MUTANTS_TESTS"]).open("a", encoding="utf-8") as file:
            file.write(f"{report.nodeid}\t{report.outcome}\t{_seconds[report.nodeid]:.3f}\n")
