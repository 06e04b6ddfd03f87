"""Every decision made twice: on one view a controller decides the same again, and neither time changes what it read.

Reading is all that a reconcile does. A controller that keeps something in a fold, in a module or in the view itself
decides otherwise when it is asked again, which a restart does to it sooner or later.
"""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Final

import msgspec
import numpy as np

from mooring.runtime.decision import Decision
from mooring.runtime.dispatcher.dispatcher import decide
from mooring.runtime.dispatcher.task import ReconcileRequest
from mooring.runtime.folds import Fold
from mooring.runtime.view import Unavailable, View

# What cannot change, or is never changed: views are frozen.
_UNCHANGING: Final = (msgspec.Struct, str, int, float, types.NoneType, bytes, frozenset)

Observer = Callable[[ReconcileRequest, View, Decision], None]
# Told of every decision that is made twice, in the order in which they came.
OBSERVERS: list[Observer] = []


class DecidingTwice:
    """The decider of a simulation; `decided` counts the decisions of each controller with a write or an effect."""

    every: ClassVar[int] = 1

    def __init__(self) -> None:
        self.decided: Counter[str] = Counter()
        self._made = 0

    def __call__(self, request: ReconcileRequest, view: View) -> Decision:
        self._made += 1
        first = self._twice(request, view) if self._made % self.every == 0 else decide(request, view)
        self.decided[request.controller.name] += not first.empty or bool(first.effects)
        for observe in OBSERVERS:
            observe(request, view, first)
        return first

    @classmethod
    @contextmanager
    def one_in(cls, every: int) -> Iterator[None]:
        """Meanwhile only one decision of so many is made twice: for those who make very many."""
        before, cls.every = cls.every, every
        try:
            yield
        finally:
            cls.every = before

    @staticmethod
    def _twice(request: ReconcileRequest, view: View) -> Decision:
        facts = _facts(request, view)
        first = decide(request, view)
        _compare(request, facts, _facts(request, view))
        asked = _asked(view)
        again = decide(request, view)
        assert again == first, f"{request} decides otherwise when asked again:\n{first}\nbecame\n{again}"
        assert _asked(view) == asked, f"{request} reads something else when it is asked again"
        return first


def _asked(view: View) -> tuple[object, ...]:
    return frozenset(view.questions), frozenset(view.timers), frozenset(view.polls), view.asks_for_problems


def _facts(request: ReconcileRequest, view: View) -> dict[str, object]:
    found = {}
    for fold in request.controller.folds:
        try:
            found[fold.name] = facts_of(fold, view.peek(fold))
        except Unavailable:
            continue
    return found


def _compare(request: ReconcileRequest, before: dict[str, object], after: dict[str, object]) -> None:
    for name, facts in before.items():
        assert facts == after[name], (
            f"{request} changes fold {name} while it decides; what it assumes goes into a Decision"
        )


def facts_of(fold: Fold[Any], state: Any) -> object:
    """The state of a fold as a value that later changes of the state leave alone."""
    return _value(state, {}) if fold.facts is None else fold.facts(state)


def _value(part: Any, seen: dict[int, int]) -> object:
    # Called for every part of every fold, before and after every decision: one look for what is most frequent.
    if isinstance(part, _UNCHANGING):
        return part
    match part:
        case tuple() | list():
            return tuple([each if isinstance(each, _UNCHANGING) else _value(each, seen) for each in part])
        case dict():
            values = [each if isinstance(each, _UNCHANGING) else _value(each, seen) for each in part.values()]
            return tuple(part), tuple(values)
        case set():
            return frozenset([each if isinstance(each, _UNCHANGING) else _value(each, seen) for each in part])
        case np.ndarray():
            return part.tobytes()
    if id(part) in seen or callable(part):
        return seen.get(id(part), part)
    fields = [*getattr(part, "__slots__", ()), *getattr(part, "__dict__", {})]
    if not fields:
        return part
    seen[id(part)] = len(seen)
    return tuple((name, _value(getattr(part, name, None), seen)) for name in fields)
