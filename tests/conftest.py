"""What all tests share: thorough and repeatable property tests in CI, quick ones at the desk."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("desk", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "desk")

# These wait for other programs most of the time: started first, they leave the cores to the rest.
WAITING = ("tests/e2e/", "tests/external/", "tests/nodes/process/", "tests/cli/")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(WAITING))
