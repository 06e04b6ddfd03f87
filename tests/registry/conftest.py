"""Every test gets a registry whose stored objects are checked for mutation when the test is over."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.registry.world import World


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.storage.verify()
