"""One API server of each home with a REST server beside it, for all stories here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mooring.testing.fixtures import running
from mooring.testing.homes import EMBEDDED, HOMES, Home, api_only
from tests.runway.rest.serving import USERS, Rest, furnish, rest


@pytest.fixture(scope="session")
def embedded_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    yield from running(api_only(EMBEDDED, tmp_path_factory.mktemp("rest"), USERS))


@pytest.fixture(scope="session")
def embedded(embedded_home: Home) -> Iterator[Rest]:
    """On the embedded API server."""
    with embedded_home.api() as api, rest(embedded_home) as found:
        furnish(api)
        yield found


@pytest.fixture(scope="session", params=HOMES)
def either(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rest]:
    """On both API servers, one after the other."""
    for home in running(api_only(request.param, tmp_path_factory.mktemp(f"rest-{request.param}"), USERS)):
        with home.api() as api, rest(home) as found:
            furnish(api)
            yield found
