"""Where expressions are evaluated: at once as a rule, and by a thread of their own where that would take long.

All requests wait while one is worked on. An expression that has cost more than `PATIENCE` is given up and evaluated
again in a thread. There is one thread for all of them, so that however many there are, the server's own thread has half
of the time, and at least every few milliseconds a turn (Python's switch interval). The costs that are allowed are
Kubernetes'; what an expression may do at most takes a thread about a second, and all rules on one object about ten.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, TypeVar

from mooring.kube.cel.errors import CelPatienceError

__all__ = ["PATIENCE", "OffLoop", "on_this_loop"]

A = TypeVar("A")
T = TypeVar("T")

# Takes about 10 ms.
PATIENCE: Final = 10_000


class OffLoop:
    """Runs functions that evaluate expressions. They are given what they may cost at once, or None."""

    def __init__(self) -> None:
        self._thread: ThreadPoolExecutor | None = None

    async def run(self, function: Callable[[int | None], T]) -> T:
        """What the function returns; it raises CelPatienceError where it would take long."""
        try:
            return function(PATIENCE)
        except CelPatienceError:
            pass
        return await self.run_apart(lambda: function(None))

    async def run_apart(self, function: Callable[[], T]) -> T:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "expressions")
        return await asyncio.get_running_loop().run_in_executor(self._thread, function)

    def close(self) -> None:
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)


def on_this_loop(function: Callable[[A], T]) -> Callable[[A], T]:
    """The function, always called on the loop that runs now, whichever thread wants its answer."""
    loop, home = asyncio.get_running_loop(), threading.get_ident()

    def call(argument: A) -> T:
        if threading.get_ident() == home:
            return function(argument)
        answer: Future[T] = Future()

        def settle() -> None:
            try:
                answer.set_result(function(argument))
            except BaseException as error:
                # Whatever it was, a cancellation too: the thread waits for it.
                answer.set_exception(error)
                if isinstance(error, (KeyboardInterrupt, SystemExit)):
                    raise

        loop.call_soon_threadsafe(settle)
        return answer.result()

    return call
