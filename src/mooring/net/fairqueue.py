"""Fair queuing of requests: one of every client's, then one of every client's again.

Controllers write in bursts of hundreds, and a person who asks for one pod must not wait behind them. So requests that
have arrived wait in a queue for each token, and the queues are served round robin. After a third of a millisecond the
event loop sees to its sockets, so a request that arrives meanwhile is noticed before the burst is over. Long work,
such as a list of everything, is done in slices, and queues again for each.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from time import perf_counter
from typing import Final

from mooring.net.waiter import Waiter

__all__ = ["FairQueue"]

Begin = Callable[[], None]

# Looking at the sockets after every request would cost a tenth of what a request does.
_SLICE_SECONDS: Final = 0.0003


class FairQueue:
    """The queues of one server. `slice_seconds` is how long requests are begun before the loop sees to its sockets."""

    def __init__(self, slice_seconds: float = _SLICE_SECONDS) -> None:
        self._slice_seconds = slice_seconds
        self._queues: dict[bytes, deque[Begin]] = {}
        self._scheduled = False
        # Whether a task was woken, which runs only when the loop comes round.
        self._woke = False

    def enqueue(self, flow: bytes, begin: Begin) -> None:
        """Call `begin` when it is the turn of this flow; requests of one flow keep their order."""
        queue = self._queues.get(flow)
        if queue is None:
            self._queues[flow] = deque((begin,))
        else:
            queue.append(begin)
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._serve)

    def turn(self, flow: bytes) -> Waiter:
        """What a request awaits between two slices of its work: every other flow begins one before it goes on."""
        waiter = Waiter()

        def begin() -> None:
            self._woke = self._woke or waiter.then is None
            waiter.open()

        self.enqueue(flow, begin)
        return waiter

    def waiting(self) -> bool:
        """Whether a request is queued."""
        return bool(self._queues)

    def _serve(self) -> None:
        end = perf_counter() + self._slice_seconds
        self._woke = False
        try:
            while self._queues:
                self._round()
                # The slices of tasks come after this: waking more of them now would be two slices for one turn.
                if self._woke or perf_counter() >= end:
                    break
        finally:
            self._scheduled = bool(self._queues)
            if self._scheduled:
                asyncio.get_running_loop().call_soon(self._serve)

    def _round(self) -> None:
        for flow, queue in tuple(self._queues.items()):
            begin = queue.popleft()
            if not queue:
                del self._queues[flow]
            begin()
