"""Both API servers, each alone, for every case, with users of several kinds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mooring.testing.fixtures import running
from mooring.testing.homes import HOMES, Home, api_only
from mooring.testing.http import Api
from tests.conformance.users import USERS, Clients


@pytest.fixture(scope="session", params=HOMES)
def api_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    yield from running(api_only(request.param, tmp_path_factory.mktemp(f"{request.param}-api"), USERS))


@pytest.fixture(scope="session")
def api(api_server: Home) -> Iterator[Api]:
    with api_server.api() as api:
        yield api


@pytest.fixture(scope="session")
def clients(api_server: Home) -> Iterator[Clients]:
    with Clients(api_server) as clients:
        yield clients
