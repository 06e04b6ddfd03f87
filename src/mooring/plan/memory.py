"""Looking for cycles of garbage less often.

A plan holds hundreds of thousands of objects, makes more all the time, and leaves hardly any cycles behind: what it
drops is freed at once. Python looks for cycles after every few hundred new objects all the same, which takes a tenth of
a plan's time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_NEW_OBJECTS = 200_000


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Look for cycles only after very many new objects."""
    before = gc.get_threshold()
    gc.set_threshold(_NEW_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
