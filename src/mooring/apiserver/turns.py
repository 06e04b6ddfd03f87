"""Whose request is seen to next: one of everybody's, then one of everybody's again.

Controllers write in bursts of hundreds, and a person who asks for one pod must not wait behind them. So requests that
have come wait in a line for each token, and the lines take turns. After a third of a millisecond the loop sees to
its sockets, so whoever comes next is noticed before the burst is over.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from time import perf_counter
from typing import Final

__all__ = ["Turns"]

Begin = Callable[[], None]

# Looking at the sockets after every request would cost a tenth of what a request does.
_LENGTH: Final = 0.0003


class Turns:
    """The lines of one server. `length` is how many seconds they take turns before the loop sees to its sockets."""

    def __init__(self, length: float = _LENGTH) -> None:
        self._length = length
        self._lines: dict[bytes, deque[Begin]] = {}
        self._coming = False

    def line_up(self, who: bytes, begin: Begin) -> None:
        """Call `begin` when it is this one's turn."""
        line = self._lines.get(who)
        if line is None:
            self._lines[who] = deque((begin,))
        else:
            line.append(begin)
        if not self._coming:
            self._coming = True
            asyncio.get_running_loop().call_soon(self._take_turns)

    def waiting(self) -> bool:
        """Whether somebody is in line."""
        return bool(self._lines)

    def _take_turns(self) -> None:
        end = perf_counter() + self._length
        try:
            while self._lines:
                self._turn()
                if perf_counter() >= end:
                    break
        finally:
            self._coming = bool(self._lines)
            if self._coming:
                asyncio.get_running_loop().call_soon(self._take_turns)

    def _turn(self) -> None:
        for who, line in tuple(self._lines.items()):
            begin = line.popleft()
            if not line:
                del self._lines[who]
            begin()
