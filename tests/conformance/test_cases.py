"""Every case gets from both API servers the answer that the real one gave when it was recorded."""

from __future__ import annotations

import pytest

from mooring.testing.homes import EMBEDDED, Home
from tests.conformance import access_table
from tests.conformance.cases import Case, load, read_answers
from tests.conformance.differences import accepted
from tests.conformance.playing import play
from tests.conformance.users import Clients

CASES = load()
ACCEPTED = accepted()


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_the_answer_is_the_real_one(
    case: Case, api_server: Home, clients: Clients, request: pytest.FixtureRequest
) -> None:
    if api_server.name == EMBEDDED and case.id in ACCEPTED:
        # Strict: a difference that went away must leave the list too.
        request.applymarker(pytest.mark.xfail(reason=ACCEPTED[case.id], strict=True, raises=AssertionError))
    assert case.answers is not None, "There is no recorded answer: python -m tests.conformance.record"
    assert play(clients, case) == case.answers


def test_no_answer_is_without_its_case() -> None:
    names = {(case.file, case.name) for case in CASES}
    recorded = {(file, name) for file in {case.file for case in CASES} for name in read_answers(file)}
    assert recorded - names == set()


def test_every_accepted_difference_is_of_a_case_that_exists() -> None:
    assert ACCEPTED.keys() - {case.id for case in CASES} == set()


def test_the_page_shows_who_may_do_what() -> None:
    page = access_table.PAGE.read_text(encoding="utf-8")
    assert page == access_table.text(), "It is not: python -m tests.conformance.access_table"
