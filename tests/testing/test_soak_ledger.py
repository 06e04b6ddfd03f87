"""The ledger of `make soak`: what counts as a lost write."""

from __future__ import annotations

from bench.soak.ledger import ABSENT, Ledger


def test_an_answered_write_must_be_there() -> None:
    ledger = Ledger()
    ledger.stored("a", "1")
    ledger.stored("a", "2")
    assert ledger.lost({"a": "2"}) == []
    assert ledger.lost({"a": "1"}) == ["a is 1, and must be 2"]
    assert ledger.lost({}) == ["a is None, and must be 2"]


def test_a_write_without_an_answer_may_be_there_or_not() -> None:
    ledger = Ledger()
    ledger.stored("a", "1")
    ledger.unknown("a", "2")
    ledger.unknown("b", "1")
    assert ledger.lost({"a": "1"}) == []
    assert ledger.lost({"a": "2", "b": "1"}) == []
    assert len(ledger.lost({"a": "0"})) == 1
    ledger.stored("a", "3")
    assert len(ledger.lost({"a": "2"})) == 1


def test_what_was_deleted_must_stay_away() -> None:
    ledger = Ledger()
    ledger.stored("a", "1")
    ledger.stored("a", ABSENT)
    assert ledger.lost({}) == []
    assert ledger.lost({"a": "1"}) == ["a is 1, and must be None"]


def test_what_nobody_wrote_is_told() -> None:
    assert Ledger().lost({"a": "1"}) == ["a is there, and nobody wrote it"]
