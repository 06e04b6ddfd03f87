"""A pytest plugin that leaves out what would not help: tests of a real cluster, and all after a given time."""

from __future__ import annotations

import os
import resource
import time

import pytest

# As the parameter of a test's home is called. A real cluster runs nothing of our source.
REAL = "real"
OUT_OF_TIME = "mutants: out of time"
# Of the tests; probes ask for it.
PROCESS = os.getpid()
# One test may begin just before the end; what takes this long is an endless loop.
_MORE_SECONDS = 60


def pytest_configure() -> None:
    most = int(float(os.environ["MUTANT_SECONDS"])) + _MORE_SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    config.hook.pytest_deselected(items=[item for item in items if f"[{REAL}" in item.nodeid])
    items[:] = [item for item in items if f"[{REAL}" not in item.nodeid]


def pytest_runtest_setup(item: pytest.Item) -> None:
    # Of the processor, as others may have it too.
    if time.process_time() > float(os.environ["MUTANT_SECONDS"]):
        pytest.skip(OUT_OF_TIME)
