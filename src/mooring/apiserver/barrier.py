"""Nothing that a crash could undo leaves the server: answers and watch events wait here until their write is on disk.

Writes of one turn of the event loop share one commit, because the disk costs the same for one write as for fifty, and
while requests are waiting in line a commit waits two milliseconds for theirs. A quick disk is waited for on the spot, a
slow one on a thread; what is written meanwhile goes into the next commit. A read that saw a write which is not
committed yet waits like the write. When a commit fails, memory is ahead of the disk and cannot be taken back, so from
then on nothing is answered any more and the process has to go.
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
from mooring.registry.storage import Storage

__all__ = ["Barrier", "Passage"]

_log = logging.getLogger(__name__)

# A write waits so many seconds at most for others that may share its commit.
_LONGEST_TURN: Final = 0.002
# A disk is quick if its last commits, so many of them, took no longer on average; a slow one is looked at again later.
_QUICK: Final = 0.005
_COMMITS_OF_LATE: Final = 8
_LOOK_AGAIN: Final = 1.0

Wake = Callable[[], None]


class Passage(Waiter):
    """One who waits for a revision to be durable."""

    def __init__(self, revision: int) -> None:
        super().__init__()
        self.revision = revision


class Barrier:
    """Commits at the end of the turn in which somebody first asked. `on_failure` is called when a commit fails.

    `more` says whether requests wait to be seen to: their writes may share the commit, so it comes a moment later.
    """

    def __init__(
        self,
        storage: Storage,
        on_failure: Callable[[], None] | None = None,
        more: Callable[[], bool] | None = None,
    ) -> None:
        self.commits = 0
        self.failure = ""
        self._storage = storage
        self._on_failure = on_failure
        self._more = more
        self._waiting: list[Passage] = []
        # From which revision on to call whom. Its order counts: watches are served in that in which they were touched.
        self._wakes: dict[Wake, int] = {}
        # A commit is about to begin, or under way; and when somebody first asked for it.
        self._scheduled = False
        self._asked = 0.0
        self._committer = _Committer()

    @property
    def durable(self) -> int:
        """The revision of the last write that a crash cannot undo."""
        return self._storage.durable

    @property
    def settled(self) -> bool:
        """Whether everything that was written is durable."""
        return self._storage.durable >= self._storage.revision and not self.failure

    async def passed(self, revision: int | None = None) -> None:
        """Return when everything written so far, or up to a revision, is durable; 500 when it cannot be."""
        if self.failure:
            raise self._refusal()
        if revision is None:
            revision = self._storage.revision
        if self._storage.durable >= revision:
            return
        # One for each: a shared one would be cancelled for all when one of them is.
        passage = Passage(revision)
        self._waiting.append(passage)
        self._schedule()
        await passage

    def wake_later(self, wake: Wake) -> None:
        """Call `wake` once when everything written so far is durable, however often it is asked for."""
        self._wakes.setdefault(wake, self._storage.revision)
        self._schedule()

    def forget(self, wake: Wake) -> None:
        self._wakes.pop(wake, None)

    def close(self) -> None:
        """Wait for a commit that is under way. Nothing may be asked afterwards."""
        self._committer.close()

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            self._asked = perf_counter()
            asyncio.get_running_loop().call_soon(self._commit)

    def _commit(self) -> None:
        if self.failure:
            return
        if self._more is not None and self._more() and perf_counter() < self._asked + _LONGEST_TURN:
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
        if self._waiting or self._wakes:
            self._schedule()

    def _release(self) -> None:
        """Let everybody go on whose writes are durable."""
        durable = self._storage.durable
        waiting, self._waiting = self._waiting, []
        for passage in waiting:
            if passage.revision > durable:
                self._waiting.append(passage)
            else:
                passage.open()
        wakes, self._wakes = self._wakes, {}
        for wake, revision in wakes.items():
            if revision > durable:
                self._wakes.setdefault(wake, revision)
            else:
                wake()

    def _fail(self, error: Exception) -> None:
        self.failure = f"the last writes could not be stored: {error}"
        _log.critical("%s. The server stops; what was answered before is safe.", self.failure)
        waiting, self._waiting = self._waiting, []
        for passage in waiting:
            passage.open(self._refusal())
        self._wakes.clear()
        if self._on_failure is not None:
            self._on_failure()

    def _refusal(self) -> InternalError:
        return InternalError.of(self.failure)


class _Committer:
    """Waits for the disk: on the spot while it is quick, and on a thread while it is not.

    A thread has to be let in and out by a loop that has other things to do, which takes several times as long as a
    quick disk does (docs/decisions/waiting-for-the-disk.md). The thread is there from the first time it is needed.
    """

    def __init__(self) -> None:
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        # How long a commit takes of late, and until when the disk counts as slow.
        self._pace = 0.0
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
            failed = _tried(finish)
            self._note(started, perf_counter())
            then(failed)
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="commits", daemon=True)
            self._thread.start()

        def work() -> None:
            failed = _tried(finish)
            # A loop that was closed meanwhile has nobody left who waits.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(then, failed)

        self._work.put(work)

    def close(self) -> None:
        if self._thread is not None:
            self._work.put(None)
            self._thread.join()
            self._thread = None

    def _note(self, started: float, ended: float) -> None:
        self._pace += (ended - started - self._pace) / _COMMITS_OF_LATE
        if self._pace > _QUICK:
            self._slow_until = ended + _LOOK_AGAIN
            # The next look decides: a commit that is quick again brings it down, another slow one does not.
            self._pace = _QUICK

    def _serve(self) -> None:
        while (work := self._work.get()) is not None:
            work()


def _tried(finish: Callable[[], None]) -> Exception | None:
    try:
        finish()
    except Exception as error:
        return error
    return None
