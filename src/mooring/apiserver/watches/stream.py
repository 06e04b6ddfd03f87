"""One client's watch: a task that sleeps until there are events to send, and sends them.

The broadcaster polls the watch before it wakes the task (`deliver`), so that a thousand watches of one pod each cost
next to nothing when another pod changes. Events are pushed to the socket at once if the client keeps up. While the
client is slow to read, the task waits for it with one slice of events at most; afterwards it polls again, and a client
that has fallen behind what the history keeps gets 410.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from mooring.apiserver.group_commit import GroupCommit
from mooring.apiserver.messages.encodings import PROTOBUF_STREAM
from mooring.apiserver.messages.negotiation import Representation
from mooring.apiserver.messages.request import HttpRequest
from mooring.apiserver.messages.responses import JSON
from mooring.apiserver.watches.event_encoder import WatchEventEncoder, WatchEventFormat, error_line
from mooring.apiserver.webhooks.pending import Pending
from mooring.kube.status import ApiError, InternalError
from mooring.net.asgi import Push, Send
from mooring.registry import Watch, WatchEvent

__all__ = ["WatchStream", "begin", "end_with"]


_UNCACHED: Final = (b"cache-control", b"no-cache, private")
# Changes that are polled together, and bytes that are sent between two chances for other requests. A client that reads
# nothing leaves so much in memory, and one event more.
_SLICE_EVENTS: Final = 200
_SLICE_BYTES: Final = 64 * 1024

_log = logging.getLogger(__name__)


class WatchStream:
    """The stream of one watch request.

    `opened` is the server's revision when the watch began; it may not be durable yet. `bookmark_every` is None for a
    client that asked for no bookmarks. `over` says whether the stream must end before its `life` is over.
    """

    def __init__(
        self,
        watch: Watch,
        event_format: WatchEventFormat,
        encoder: WatchEventEncoder,
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
        self._encoder = encoder
        self._group_commit = group_commit
        self._over = over
        self._loop = asyncio.get_running_loop()
        self._bookmark_every = bookmark_every
        self._deadline = self._loop.time() + life
        self._next_bookmark = self._loop.time() + bookmark_every if bookmark_every is not None else self._deadline
        self._ready: list[WatchEvent] = []
        self._waiter: asyncio.Future[None] | None = None
        self._gone = False
        # The initial events go to this client alone, so they are not cached.
        self._encode = encoder.encode_once
        self._push: Push | None = None

    def wake(self) -> None:
        """Let the task poll, and look at its deadlines."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def deliver(self) -> None:
        """Send the new events, or wake the task to send them."""
        if self._waiter is None or self._waiter.done():
            # The task is busy, and polls before it sleeps again.
            return
        try:
            self._ready = self._poll()
        except (ApiError, Pending):
            # The task will meet the same exception, and can report the error or wait for the webhook.
            self.wake()
            return
        if not self._pushed() or self._watch.behind:
            self.wake()

    def _pushed(self) -> bool:
        """Whether the ready events were all sent without the task."""
        try:
            while self._ready:
                if self._push is None or not self._push(self._encode_slice):
                    return False
        except Exception:
            # It will fail in the task too, which reports it.
            return False
        return True

    async def run(self, request: HttpRequest, send: Send) -> None:
        self._push = request.push
        client_gone = self._loop.create_task(self._wait_for_client(request))
        timer = self._loop.call_at(self._next_deadline(), self.wake)
        try:
            await begin(send, self._event_format.representation)
            while not self._gone:
                if not self._ready:
                    if self._group_commit.durable < self._opened:
                        # Writes from before this stream was registered are not broadcast to it.
                        self._group_commit.call_when_durable(self.deliver)
                    try:
                        self._ready = self._poll()
                    except Pending as pending:
                        # A conversion webhook has to be called; events that arrive meanwhile are polled afterwards.
                        await pending.settle(True)
                        continue
                any_ready = bool(self._ready)
                await self._send_ready(request, send)
                if self._loop.time() >= self._next_deadline():
                    timer.cancel()
                    if await self._send_due_bookmark(send):
                        break
                    timer = self._loop.call_at(self._next_deadline(), self.wake)
                    continue
                if any_ready:
                    continue
                if self._over():
                    break
                await self._sleep()
            if not self._gone:
                await send({"type": "http.response.body", "body": b""})
        except ApiError as error:
            # The response has begun, so the error goes into the stream.
            await end_with(send, error, self._event_format.representation)
        except Exception as error:
            _log.error("the watch of %s failed: %s: %s", self.resource, type(error).__name__, error)
            told = InternalError.of("the server failed at this watch; its log says more")
            await end_with(send, told, self._event_format.representation)
        finally:
            timer.cancel()
            client_gone.cancel()
            self._group_commit.cancel(self.deliver)
            self._watch.close()

    async def _sleep(self) -> None:
        self._waiter = self._loop.create_future()
        # A disconnect or a deadline that came while the task was busy did not wake it.
        if not self._gone and self._loop.time() < self._next_deadline():
            await self._waiter
        self._waiter = None

    def _poll(self) -> list[WatchEvent]:
        """The next durable events that were not polled before."""
        durable = self._group_commit.durable
        events = self._watch.poll(durable, _SLICE_EVENTS)
        while not events and self._watch.behind:
            # None of those changes was of interest.
            events = self._watch.poll(durable, _SLICE_EVENTS)
        if self._bookmark_every is None:
            return [event for event in events if event.type != "BOOKMARK"]
        return events

    async def _send_ready(self, request: HttpRequest, send: Send) -> None:
        while self._ready and not self._gone:
            await send({"type": "http.response.body", "body": self._encode_slice(), "more_body": True})
            if self._ready:
                await request.turn()
        self._encode = self._encoder.encode_shared

    def _encode_slice(self) -> bytes:
        """The lines of the first ready events, which are then no longer ready."""
        if len(self._ready) == 1:
            line = self._encode(self._event_format, self._ready[0])
            self._event_format.headless = True
            self._ready = []
            return line
        lines, size = [], 0
        for event in self._ready:
            line = self._encode(self._event_format, event)
            self._event_format.headless = True
            lines.append(line)
            size += len(line)
            if size >= _SLICE_BYTES:
                break
        del self._ready[: len(lines)]
        return b"".join(lines)

    def _next_deadline(self) -> float:
        return min(self._deadline, self._next_bookmark)

    async def _send_due_bookmark(self, send: Send) -> bool:
        """Send the bookmark that is due; returns whether the life of the watch is over."""
        now = self._loop.time()
        if self._bookmark_every is not None:
            self._next_bookmark = now + self._bookmark_every
            # A revision that a crash could undo must not be told.
            if self._group_commit.durable >= self._opened:
                line = self._encoder.encode_once(self._event_format, self._watch.bookmark(self._group_commit.durable))
                await send({"type": "http.response.body", "body": line, "more_body": True})
        return now >= self._deadline

    async def _wait_for_client(self, request: HttpRequest) -> None:
        with suppress(asyncio.CancelledError):
            await request.gone()
            self._gone = True
            self.wake()


async def begin(send: Send, representation: Representation) -> None:
    """Send the head of a stream."""
    content_type = PROTOBUF_STREAM if representation.encoding == "protobuf" else JSON
    headers = [(b"content-type", content_type), _UNCACHED]
    await send({"type": "http.response.start", "status": 200, "headers": headers})


async def end_with(send: Send, error: ApiError, representation: Representation) -> None:
    """Send the error as the last event of the stream."""
    await send({"type": "http.response.body", "body": error_line(error, representation)})
