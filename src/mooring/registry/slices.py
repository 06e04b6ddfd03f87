"""Long work in slices: a generator that yields wherever others may be served, and returns what it made.

So the registry stays free of I/O and of event loops: a simulation finishes the work at once, a server takes turns.
"""

from collections.abc import Generator
from typing import TypeVar

__all__ = ["finish"]

T = TypeVar("T")


def finish(slices: Generator[None, None, T]) -> T:
    """What the work makes, without serving anybody in between."""
    while True:
        try:
            next(slices)
        except StopIteration as end:
            made: T = end.value
            return made
