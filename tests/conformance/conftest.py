"""Both API servers, each alone, for every case."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mooring.testing.fixtures import api_server as api_server
from mooring.testing.homes import Home
from mooring.testing.http import Api


@pytest.fixture(scope="session")
def api(api_server: Home) -> Iterator[Api]:
    with api_server.api() as api:
        yield api
