"""Long work that no request waits for, such as deleting the objects of a deleted definition.

It takes its turns in the queue like the requests of one client, and each slice is durable before the next begins: the
commit of all of them at once would keep others waiting.
"""

import asyncio
import logging
from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Final

from mooring.apiserver.group_commit import GroupCommit
from mooring.kube.status import ApiError
from mooring.net.fairqueue import FairQueue

__all__ = ["BackgroundWork"]

_FLOW: Final = b"background work"
_RETRY_SECONDS: Final = 5.0

_log = logging.getLogger(__name__)


class BackgroundWork:
    """Call `begin` on the event loop."""

    def __init__(self, group_commit: GroupCommit, queue: FairQueue) -> None:
        self._group_commit = group_commit
        self._queue = queue
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, make: Callable[[], Generator[None, None, None]]) -> None:
        """`make` begins the work, and is called again where that failed."""
        task = asyncio.get_running_loop().create_task(self._run(make))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def stop(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def _run(self, make: Callable[[], Generator[None, None, None]]) -> None:
        while not await self._is_done(make()):
            await asyncio.sleep(_RETRY_SECONDS)

    async def _is_done(self, slices: Generator[None, None, None]) -> bool:
        try:
            while True:
                await self._queue.turn(_FLOW)
                await self._group_commit.wait_for_room()
                with suppress(StopIteration):
                    next(slices)
                    await self._group_commit.wait()
                    continue
                await self._group_commit.wait()
                return True
        except ApiError:
            # The storage has said itself that it cannot take it now, and ends the server where it never will again.
            return False
        except Exception as error:
            # No caller awaits this task, so its errors would be lost.
            _log.error("work in the background failed: %s: %s", type(error).__name__, error)
            return False
