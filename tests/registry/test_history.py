"""The history of a store: what can be read on from, and what is no longer complete."""

from __future__ import annotations

import pytest

from mooring.kube.status import ExpiredError
from mooring.registry.history import History, HistoryEntry


def changed(revision: int) -> HistoryEntry:
    return HistoryEntry(revision, "default", "a", {"metadata": {"name": "a"}}, None)


def filled(*revisions: int, began: int = 0) -> History:
    history = History(began, limit=1000)
    for revision in revisions:
        history.record(changed(revision))
    return history


def revisions_after(history: History, revision: int) -> list[int]:
    return [change.revision for change in history.since(history.position(revision), revision)]


def test_a_reader_of_the_last_revision_that_was_forgotten_has_missed_nothing() -> None:
    history = filled(3, 5, 8)
    history.compact(5)
    assert revisions_after(history, 5) == [8]
    with pytest.raises(ExpiredError, match="too old resource version: 4"):
        history.position(4)


def test_a_history_begins_with_the_revision_of_its_store() -> None:
    history = filled(8, 9, began=7)
    assert revisions_after(history, 7) == [8, 9]
    assert revisions_after(history, 8) == [9]
    assert revisions_after(history, 12) == []
    with pytest.raises(ExpiredError):
        history.position(6)


def test_a_reader_that_stands_where_changes_were_forgotten_begins_anew() -> None:
    history = filled(1, 2, 3)
    at_the_start, later = history.position(0), history.position(2)
    history.compact(2)
    with pytest.raises(ExpiredError):
        history.since(at_the_start, 0)
    assert [change.revision for change in history.since(later, 2)] == [3]
