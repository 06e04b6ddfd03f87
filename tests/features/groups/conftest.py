"""In every story of this package decisions are made twice, and every simulated run ends with a check of its state."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mooring.testing.decisions import deciding_twice
from mooring.testing.invariants import validated_runs


@pytest.fixture(autouse=True)
def _decisions_are_made_twice() -> Iterator[None]:
    with deciding_twice(), validated_runs():
        yield
