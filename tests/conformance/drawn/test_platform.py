"""Networking, storage, access and the like get the answers that a real server gave."""

from __future__ import annotations

import pytest

from tests.conformance.drawn.conftest import Check
from tests.conformance.drawn.stage import files


@pytest.mark.parametrize("name", files()["platform"])
def test_drawn_requests_are_answered_as_recorded(name: str, check: Check) -> None:
    check("platform", name)
