"""An event loop in virtual time: nothing waits, and the clock jumps to what comes next."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
# A story that goes on for longer than this hangs.
MOST_SECONDS = 100_000.0


class _Jumping(selectors.SelectSelector):
    """Waits in virtual time only."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise RuntimeError("nothing will ever happen again")
        self.now += max(timeout, 0.0)
        if self.now > MOST_SECONDS:
            raise RuntimeError("the story does not end")
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def in_virtual_time(story: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end; `asyncio.get_running_loop().time()` is its clock."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(story)


def clock() -> float:
    """Seconds since the beginning, within a story."""
    return asyncio.get_running_loop().time()
