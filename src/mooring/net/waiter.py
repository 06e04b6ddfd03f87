"""What a request may wait for without becoming a task: a future that resumes the request by a plain call."""

import asyncio
from collections.abc import Callable

__all__ = ["Waiter"]


class Waiter(asyncio.Future[None]):
    """`then` is called the moment the wait is over, instead of when the event loop comes round."""

    def __init__(self) -> None:
        super().__init__(loop=asyncio.get_running_loop())
        self.then: Callable[[], None] | None = None

    def open(self, refusal: Exception | None = None) -> None:
        """End the wait, with an error if there is one."""
        if self.done():
            return
        if refusal is None:
            self.set_result(None)
        else:
            self.set_exception(refusal)
        if self.then is not None:
            self.then()
