"""Pytest fixtures for tests that run in both homes. A conftest.py takes them with

    pytest_plugins = ["mooring.testing.fixtures"]

A home's process lives for the session; what tests make in it they keep apart by namespaces. Where a program is
missing, a test is skipped with a line that says how to get it; in CI (CI=true) that is a failure, so nothing is left
out unseen.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import NoReturn

import pytest

from mooring.testing.homes import HOMES, Home, api_only, whole
from mooring.testing.tools import ToolMissing


def missing(error: Exception) -> NoReturn:
    """Skips the test, or fails it in CI."""
    if os.environ.get("CI"):
        pytest.fail(str(error), pytrace=False)
    pytest.skip(str(error))


@pytest.fixture(scope="session", params=HOMES)
def api_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """Each home's API server, alone."""
    yield from running(api_only(request.param, tmp_path_factory.mktemp(f"{request.param}-api")))


@pytest.fixture(scope="session", params=HOMES)
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """Each home with scheduler and controllers."""
    yield from running(whole(request.param, tmp_path_factory.mktemp(f"{request.param}-cluster")))


def running(starting: AbstractContextManager[Home]) -> Iterator[Home]:
    """The body of a fixture that gives a home."""
    try:
        home = starting.__enter__()
    except ToolMissing as error:
        missing(error)
    try:
        yield home
    finally:
        starting.__exit__(None, None, None)
