"""One socket for all tests of a worker, and a server of its own for every test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.apiserver.world import Api, Running, running


@pytest.fixture(scope="session")
def server() -> Iterator[Running]:
    with running() as found:
        yield found


@pytest.fixture
def make_api(server: Running) -> Iterator[Callable[..., Api]]:
    """Makes servers that differ in something; the one made last answers."""
    made: list[Api] = []

    def make(**options: Any) -> Api:
        made.append(Api(server, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def api(make_api: Callable[..., Api]) -> Api:
    return make_api()
