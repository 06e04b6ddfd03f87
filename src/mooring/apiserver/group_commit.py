"""Group commit: an answer or a watch event leaves the server only when the writes that it rests on are on disk.

The writes of one iteration of the event loop share one commit, because the disk costs the same for one write as for
fifty; while requests are queued, a commit waits up to two milliseconds for their writes. The event loop waits for a
fast disk itself and leaves a slow one to a thread; what is written during a commit goes into the next one. A read that
saw an uncommitted write waits like the write. When a commit fails, memory is ahead of the disk and cannot be rolled
back, so nothing is answered from then on and the process has to end.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from time import perf_counter
from typing import Final

from mooring.kube.status import InternalError
from mooring.net.waiter import Waiter
from mooring.registry.storage import MAX_PENDING_BYTES, Storage

__all__ = ["CommitWaiter", "GroupCommit"]

_log = logging.getLogger(__name__)

# The longest that a write waits for others that may share its commit.
_MAX_DELAY_SECONDS: Final = 0.002
# A disk is fast while the moving average of its commits, over about so many, stays below this. A slow disk counts as
# slow for so long; the next commit after that is measured again.
_FAST_COMMIT_SECONDS: Final = 0.005
_AVERAGED_COMMITS: Final = 8
_SLOW_DISK_SECONDS: Final = 1.0

Callback = Callable[[], None]


class CommitWaiter(Waiter):
    """Waits for a revision to be durable."""

    def __init__(self, revision: int) -> None:
        super().__init__()
        self.revision = revision


class GroupCommit:
    """Commits at the end of the event loop's iteration in which durability was first asked for.

    `on_failure` is called when a commit fails. `more_requests` says whether requests are queued: their writes may share
    the commit, so it is put off for a moment.
    """

    def __init__(
        self,
        storage: Storage,
        on_failure: Callable[[], None] | None = None,
        more_requests: Callable[[], bool] | None = None,
    ) -> None:
        self.commits = 0
        self.failure = ""
        self._storage = storage
        self._on_failure = on_failure
        self._more_requests = more_requests
        self._waiters: list[CommitWaiter] = []
        # Each callback with the revision that it waits for. The order counts: watches are served in it.
        self._callbacks: dict[Callback, int] = {}
        # Whether a commit is about to begin or under way, and when it was first asked for.
        self._scheduled = False
        self._requested_at = 0.0
        self._committer = _Committer()

    @property
    def durable(self) -> int:
        """The revision of the last write that a crash cannot undo."""
        return self._storage.durable

    @property
    def settled(self) -> bool:
        """Whether everything that was written is durable."""
        return self._storage.durable >= self._storage.revision and not self.failure

    async def wait(self, revision: int | None = None) -> None:
        """Return when everything written so far, or up to a revision, is durable; 500 when it cannot be."""
        if self.failure:
            raise self._refusal()
        if revision is None:
            revision = self._storage.revision
        if self._storage.durable >= revision:
            return
        # One waiter per request: a shared future would be cancelled for all requests when one of them is.
        waiter = CommitWaiter(revision)
        self._waiters.append(waiter)
        self._schedule()
        await waiter

    async def wait_for_room(self) -> None:
        """Return when so little waits for the disk that one more write may: what waits must fit on a disk that is full
        by the time it is written."""
        while self._storage.pending_bytes > MAX_PENDING_BYTES:
            await self.wait()

    def call_when_durable(self, callback: Callback) -> None:
        """Call `callback` once when everything written so far is durable, however often it is asked for."""
        self._callbacks.setdefault(callback, self._storage.revision)
        self._schedule()

    def cancel(self, callback: Callback) -> None:
        self._callbacks.pop(callback, None)

    def close(self) -> None:
        """Wait for a commit that is under way. No method may be called afterwards."""
        self._committer.close()

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            self._requested_at = perf_counter()
            asyncio.get_running_loop().call_soon(self._commit)

    def _commit(self) -> None:
        if self.failure:
            return
        may_wait = perf_counter() < self._requested_at + _MAX_DELAY_SECONDS
        if may_wait and self._more_requests is not None and self._more_requests():
            asyncio.get_running_loop().call_soon(self._commit)
            return
        if self._storage.durable >= self._storage.revision:
            self._scheduled = False
            self._release()
            return
        try:
            finish = self._storage.stage()
        except Exception as error:
            self._fail(error)
            return
        self._committer.run(finish, asyncio.get_running_loop(), self._committed)

    def _committed(self, error: Exception | None) -> None:
        self._scheduled = False
        if error is not None:
            self._fail(error)
            return
        self.commits += 1
        self._release()
        if self._waiters or self._callbacks:
            self._schedule()

    def _release(self) -> None:
        """Resume the requests and call the callbacks whose revision is durable."""
        durable = self._storage.durable
        waiting, self._waiters = self._waiters, []
        for waiter in waiting:
            if waiter.revision > durable:
                self._waiters.append(waiter)
            else:
                waiter.open()
        callbacks, self._callbacks = self._callbacks, {}
        for callback, revision in callbacks.items():
            if revision > durable:
                self._callbacks.setdefault(callback, revision)
            else:
                callback()

    def _fail(self, error: Exception) -> None:
        self.failure = f"the last writes could not be stored: {error}"
        _log.critical("%s. The server stops; what was answered before is safe.", self.failure)
        waiting, self._waiters = self._waiters, []
        for waiter in waiting:
            waiter.open(self._refusal())
        self._callbacks.clear()
        if self._on_failure is not None:
            self._on_failure()

    def _refusal(self) -> InternalError:
        return InternalError.of(self.failure)


class _Committer:
    """Waits for the disk: on the event loop while the disk is fast, and on a thread while it is slow.

    Handing a commit to a thread and its result back to a busy loop takes several times as long as a fast disk does
    (docs/decisions/group-commit.md). The thread is started when it is first needed.
    """

    def __init__(self) -> None:
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        # The moving average of a commit's duration, and until when the disk counts as slow.
        self._average_seconds = 0.0
        self._slow_until = 0.0

    def run(
        self,
        finish: Callable[[], None],
        loop: asyncio.AbstractEventLoop,
        then: Callable[[Exception | None], None],
    ) -> None:
        """Call `finish`, and then, on the loop, `then` with the error if there was one."""
        started = perf_counter()
        if started >= self._slow_until:
            failed = _error_of(finish)
            self._record(started, perf_counter())
            then(failed)
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="commits", daemon=True)
            self._thread.start()

        def work() -> None:
            failed = _error_of(finish)
            # A loop that was closed meanwhile has no waiters left.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(then, failed)

        self._work.put(work)

    def close(self) -> None:
        if self._thread is not None:
            self._work.put(None)
            self._thread.join()
            self._thread = None

    def _record(self, started: float, ended: float) -> None:
        self._average_seconds += (ended - started - self._average_seconds) / _AVERAGED_COMMITS
        if self._average_seconds > _FAST_COMMIT_SECONDS:
            self._slow_until = ended + _SLOW_DISK_SECONDS
            # So the next measured commit decides: a fast one brings the average down, a slow one does not.
            self._average_seconds = _FAST_COMMIT_SECONDS

    def _serve(self) -> None:
        while (work := self._work.get()) is not None:
            work()


def _error_of(finish: Callable[[], None]) -> Exception | None:
    try:
        finish()
    except Exception as error:
        return error
    return None
