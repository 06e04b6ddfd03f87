"""The garbage collector looks at what is young, and at everything only when it is told to."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from mooring.apiserver.python_gc import collect_all, collect_young_only


class Circle:
    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = list(gc.callbacks)
    try:
        yield
    finally:
        gc.callbacks[:] = before
        gc.unfreeze()


def test_what_has_survived_for_a_while_is_not_looked_at_again() -> None:
    collect_young_only()
    kept = [[number] for number in range(1000)]
    gc.collect(1)
    looked_at = {id(each) for each in gc.get_objects()}
    assert not any(id(each) in looked_at for each in kept)


def test_young_garbage_goes() -> None:
    collect_young_only()
    circle = weakref.ref(Circle())
    gc.collect(0)
    assert circle() is None


def test_garbage_that_died_old_goes_when_everything_is_looked_at() -> None:
    collect_young_only()
    circle = Circle()
    gone = weakref.ref(circle)
    gc.collect(1)
    del circle
    gc.collect()
    assert gone() is not None
    collect_all()
    assert gone() is None
