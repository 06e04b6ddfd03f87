"""How a synchronous registry waits for a network: it does not. It is interrupted, and tried again.

Whatever inside a write or a read needs an answer from outside raises `Pending`. Nothing has been written by then.
Whoever called the registry lets the question be settled and repeats the call, which finds the answer in its place.
"""

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from mooring.kube.status import InternalError

__all__ = ["Pending", "settled"]

T = TypeVar("T")

# More than any write needs, and an end for one whose object never stands still.
_MOST: Final = 64


class Pending(Exception):
    """A question that is open. `settle` asks it; it raises an ApiError where the answer is a refusal.

    With `whole` the answers for all objects of the kind are fetched together, for whoever is about to read them all.
    """

    def __init__(self, settle: Callable[[bool], Awaitable[None]]) -> None:
        super().__init__("an answer from outside is needed first")
        self.settle = settle


async def settled(attempt: Callable[[], T], first: Pending | None = None, *, whole: bool = False) -> T:
    """What `attempt` returns once all its questions have answers; `first` is one that is known to be open."""
    if first is not None:
        await first.settle(whole)
    for _ in range(_MOST):
        try:
            return attempt()
        except Pending as pending:
            # Awaited outside, so that what it raises has no other exception in its tail.
            question = pending
        await question.settle(whole)
    raise InternalError.of(f"webhooks were asked {_MOST} times and what they were asked about kept changing")
