"""The embedded cluster as `mooring up` starts it, and kubectl in two versions, each test in its own namespace."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from mooring.testing.fixtures import missing
from mooring.testing.homes import EMBEDDED, Home, whole
from mooring.testing.tools import ToolMissing, tool
from tests.external.kubectl import Kubectl

NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    with whole(EMBEDDED, tmp_path_factory.mktemp("embedded")) as home:
        yield home


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kubectl")


@pytest.fixture(params=["kubectl", "kubectl-1.31"])
def kubectl(request: pytest.FixtureRequest, home: Home, cache: Path) -> Kubectl:
    """kubectl of 1.35, which sends protobuf, and of 1.31, which sends JSON."""
    return namespaced(request.param, home, cache)


@pytest.fixture
def newest(home: Home, cache: Path) -> Kubectl:
    """For what does not depend on kubectl's version."""
    return namespaced("kubectl", home, cache)


def namespaced(name: str, home: Home, cache: Path) -> Kubectl:
    kubectl = Kubectl(required(name), home.kubeconfig, cache / name, f"external-{next(NUMBERS)}")
    kubectl("create", "namespace", kubectl.namespace)
    return kubectl


def required(name: str) -> Path:
    """The program; without it the test is skipped, or fails in CI."""
    try:
        return tool(name)
    except ToolMissing as error:
        missing(error)
