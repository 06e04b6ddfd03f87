"""Every story of this package in which controllers are at work has every decision made twice."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mooring.testing.decisions import deciding_twice


@pytest.fixture(autouse=True)
def _decisions_are_made_twice() -> Iterator[None]:
    with deciding_twice():
        yield
