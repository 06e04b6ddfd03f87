"""One client's watch: a task that sleeps until there is something to send, and sends it.

Whoever delivers changes looks for this stream first (`deliver`), so that a thousand watches of one pod each cost next
to nothing when another pod changes. What there is goes out at once if the client keeps up. While it is slow to read,
the stream waits for it and nothing is kept for it; afterwards it looks for itself.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from mooring.apiserver.group_commit import GroupCommit
from mooring.apiserver.lines import WatchEventEncoder, WatchEventFormat, error_line
from mooring.apiserver.request import Request
from mooring.apiserver.responses import JSON
from mooring.apiserver.webhooks.pending import Pending
from mooring.kube.status import ApiError, InternalError
from mooring.net.asgi import Push, Send
from mooring.registry import Watch, WatchEvent

__all__ = ["STREAM_HEADERS", "Stream", "end_with"]


STREAM_HEADERS: Final = [(b"content-type", JSON), (b"cache-control", b"no-cache, private")]
# Lines that are encoded and sent without a break.
_SLICE: Final = 200

_log = logging.getLogger(__name__)


class Stream:
    """`opened` is the revision that the server had when the watch began, and may not be durable yet.

    `bookmark_every` is None for a client that wants none. `over` says whether the stream has to end for another
    reason than its age."""

    def __init__(
        self,
        watch: Watch,
        event_format: WatchEventFormat,
        lines: WatchEventEncoder,
        group_commit: GroupCommit,
        *,
        opened: int,
        life: float,
        bookmark_every: float | None,
        over: Callable[[], bool],
    ) -> None:
        self.resource = event_format.resource
        self._opened = opened
        self._watch = watch
        self._event_format = event_format
        self._lines = lines
        self._group_commit = group_commit
        self._over = over
        self._loop = asyncio.get_running_loop()
        self._bookmark_every = bookmark_every
        self._deadline = self._loop.time() + life
        self._next_bookmark = self._loop.time() + bookmark_every if bookmark_every is not None else self._deadline
        self._ready: list[WatchEvent] = []
        self._waiter: asyncio.Future[None] | None = None
        self._gone = False
        # What exists when the watch begins is this client's alone to hear.
        self._encode = lines.encoded
        self._push: Push | None = None

    def wake(self) -> None:
        """Have another look at everything."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def deliver(self) -> None:
        """Wake the stream if there is something for it."""
        if self._waiter is None or self._waiter.done():
            # It is busy, and looks for itself before it sleeps again.
            return
        try:
            self._ready = self._poll()
        except (ApiError, Pending):
            # It will meet the same error, and can tell its client; or the same question, and can wait for the answer.
            self.wake()
            return
        if self._ready and not self._pushed():
            self.wake()

    def _pushed(self) -> bool:
        """Whether what is ready went out without the task."""
        if self._push is None or len(self._ready) > _SLICE:
            return False
        try:
            pushed = self._push(lambda: self._encoded(self._ready))
        except Exception:
            # It will fail in the task too, which can say so.
            return False
        if pushed:
            self._ready = []
        return pushed

    async def run(self, request: Request, send: Send) -> None:
        self._push = request.push
        leaving = self._loop.create_task(self._wait_for_end(request))
        timer = self._loop.call_at(self._due(), self.wake)
        try:
            await send({"type": "http.response.start", "status": 200, "headers": STREAM_HEADERS})
            while not self._gone:
                if not self._ready:
                    if self._group_commit.durable < self._opened:
                        # Of what was written before this stream was there nobody else tells it.
                        self._group_commit.call_when_durable(self.deliver)
                    try:
                        self._ready = self._poll()
                    except Pending as pending:
                        # A conversion that takes a webhook; what happens meanwhile is polled with the rest.
                        await pending.settle(True)
                        continue
                events, self._ready = self._ready, []
                await self._send(send, events)
                if self._loop.time() >= self._due():
                    timer.cancel()
                    if await self._on_time(send):
                        break
                    timer = self._loop.call_at(self._due(), self.wake)
                    continue
                if events:
                    continue
                if self._over():
                    break
                await self._sleep()
            if not self._gone:
                await send({"type": "http.response.body", "body": b""})
        except ApiError as error:
            # The answer has begun, so the reason goes into the stream.
            await end_with(send, error)
        except Exception as error:
            _log.error("the watch of %s failed: %s: %s", self.resource, type(error).__name__, error)
            await end_with(send, InternalError.of("the server failed at this watch; its log says more"))
        finally:
            timer.cancel()
            leaving.cancel()
            self._group_commit.cancel(self.deliver)
            self._watch.close()

    async def _sleep(self) -> None:
        self._waiter = self._loop.create_future()
        # A client that left, or a moment that came, while the stream was busy woke nobody.
        if not self._gone and self._loop.time() < self._due():
            await self._waiter
        self._waiter = None

    def _poll(self) -> list[WatchEvent]:
        """What is durable and was not polled before."""
        events = self._watch.poll(self._group_commit.durable)
        if self._bookmark_every is None:
            return [event for event in events if event.type != "BOOKMARK"]
        return events

    async def _send(self, send: Send, events: Sequence[WatchEvent]) -> None:
        for start in range(0, len(events), _SLICE):
            if start:
                await asyncio.sleep(0)
            body = self._encoded(events[start : start + _SLICE])
            await send({"type": "http.response.body", "body": body, "more_body": True})
        self._encode = self._lines.shared

    def _encoded(self, events: Sequence[WatchEvent]) -> bytes:
        lines = []
        for event in events:
            lines.append(self._encode(self._event_format, event))
            self._event_format.headless = True
        return b"".join(lines)

    def _due(self) -> float:
        return min(self._deadline, self._next_bookmark)

    async def _on_time(self, send: Send) -> bool:
        """Send the bookmark that is due; whether the watch has lived long enough."""
        now = self._loop.time()
        if self._bookmark_every is not None:
            self._next_bookmark = now + self._bookmark_every
            # Nobody may hear of a revision that a crash could undo.
            if self._group_commit.durable >= self._opened:
                line = self._lines.encoded(self._event_format, self._watch.bookmark(self._group_commit.durable))
                await send({"type": "http.response.body", "body": line, "more_body": True})
        return now >= self._deadline

    async def _wait_for_end(self, request: Request) -> None:
        with suppress(asyncio.CancelledError):
            await request.gone()
            self._gone = True
            self.wake()


async def end_with(send: Send, error: ApiError) -> None:
    """Tell in the stream why it ends."""
    await send({"type": "http.response.body", "body": error_line(error)})
