"""A small part of `make fuzz`: an API server has an answer to whatever comes, and lives through it."""

from __future__ import annotations

from pathlib import Path

from tests.apiserver.fuzz.__main__ import Findings, fuzz
from tests.apiserver.fuzz.requests import RequestFuzz

REQUESTS = 2_500


def test_no_request_makes_the_server_fail(tmp_path: Path) -> None:
    findings = Findings()
    fuzz(tmp_path / "fuzzed", 1, REQUESTS, findings)
    assert findings.wrong == [], findings.text()
    assert findings.count == REQUESTS
    # It gets further than to be refused at the door.
    assert {200, 201, 400, 401, 403, 404, 405, 406, 409, 415, 422} <= findings.statuses.keys()


def test_a_seed_draws_the_same_requests() -> None:
    first, second = (RequestFuzz(3, "Bearer x") for _ in range(2))
    drawn = [first.next() for _ in range(50)]
    assert [second.next() for _ in range(50)] == drawn
    assert [first.next() for _ in range(50)] != drawn
