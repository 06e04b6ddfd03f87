"""Which keys asked which questions: an answer that changes wakes the keys that asked, in the order in which they asked.

The order is kept because the keys that run first must not depend on where objects lie in memory.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Generic, TypeVar

from mooring.api.kinds import Kind
from mooring.runtime.view import ListQuestion, Question

K = TypeVar("K", bound=Hashable)


class Subscriptions(Generic[K]):
    def __init__(self) -> None:
        self._questions: dict[K, set[Question]] = {}
        # Questions are tuples and may be looked up as plain ones, which spares making one for every value that a change
        # touches and no key asked about.
        self.keys: dict[tuple[Any, ...], dict[K, None]] = {}
        # The indexes of a kind by which a key ever asked for a list or a count; the others are not looked up.
        self.listed: dict[Kind[Any], set[str]] = {}

    def of(self, key: K) -> set[Question]:
        return self._questions.get(key, set())

    def about(self, kind: Kind[Any]) -> list[tuple[Any, ...]]:
        """Every question about a kind."""
        return [question for question in self.keys if getattr(question, "kind", None) is kind]

    def replace(self, key: K, questions: set[Question]) -> Mapping[Question, int]:
        """The questions of a key's last run, in place of earlier ones; 1 for each that is new, -1 for each dropped."""
        old = self._questions.get(key, set())
        if old == questions:
            return {}
        changes: dict[Question, int] = {}
        for question in questions - old:
            changes[question] = 1
            self.keys.setdefault(question, {})[key] = None
            if isinstance(question, ListQuestion):
                self.listed.setdefault(question.kind, set()).add(question.by)
        changes.update(self._drop(key, old - questions))
        self._questions[key] = questions
        return changes

    def forget(self, key: K) -> Mapping[Question, int]:
        return self._drop(key, self._questions.pop(key, set()))

    def validate(self) -> None:
        """Raise AssertionError unless the keys of each question are those that asked it."""
        asked: dict[tuple[Any, ...], set[K]] = {}
        for key, questions in self._questions.items():
            for question in questions:
                asked.setdefault(question, set()).add(key)
        assert asked == {question: set(keys) for question, keys in self.keys.items()}, "a question has other keys"

    def _drop(self, key: K, questions: Iterable[Question]) -> dict[Question, int]:
        for question in questions:
            keys = self.keys[question]
            del keys[key]
            if not keys:
                del self.keys[question]
        return dict.fromkeys(questions, -1)
