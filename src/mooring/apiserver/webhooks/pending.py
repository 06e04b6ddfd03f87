"""How the synchronous registry waits for the network: its call is interrupted, and repeated.

Code inside a write or a read that needs the response of a webhook raises `Pending`; nothing has been written by then.
The handler awaits `settle` and repeats the call, which then finds the response.
"""

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from mooring.kube.status import InternalError

__all__ = ["Pending", "settled"]

T = TypeVar("T")

# More than any write needs; an end for a write whose object keeps changing.
_MAX_ATTEMPTS: Final = 64


class Pending(Exception):
    """A webhook call that is still to be made. `settle` makes it, and raises an ApiError when the webhook refuses.

    With `whole` all objects of the kind are converted in one call, for a list or a watch.
    """

    def __init__(self, settle: Callable[[bool], Awaitable[None]]) -> None:
        super().__init__("an answer from outside is needed first")
        self.settle = settle


async def settled(attempt: Callable[[], T], first: Pending | None = None, *, whole: bool = False) -> T:
    """What `attempt` returns once all webhooks have responded; `first` is a call that is known to be open."""
    if first is not None:
        await first.settle(whole)
    for _ in range(_MAX_ATTEMPTS):
        try:
            return attempt()
        except Pending as pending:
            # Awaited outside of the handler, so that its exceptions are not chained to this one.
            question = pending
        await question.settle(whole)
    raise InternalError.of(f"webhooks were asked {_MAX_ATTEMPTS} times and what they were asked about kept changing")
