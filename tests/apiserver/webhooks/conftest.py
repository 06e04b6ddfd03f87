"""Foreign webhooks on both API servers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mooring.testing.fixtures import api_server as api_server
from mooring.testing.homes import Home
from tests.apiserver.webhooks.foreign import Foreign, foreign_webhook
from tests.apiserver.webhooks.world import World, world_on


@pytest.fixture(scope="session")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Foreign]:
    with foreign_webhook(tmp_path_factory.mktemp("foreign")) as found:
        yield found


@pytest.fixture
def world(api_server: Home, foreign: Foreign) -> Iterator[World]:
    foreign.forget()
    with api_server.api() as api, world_on(api, foreign, api_server.name) as found:
        yield found
