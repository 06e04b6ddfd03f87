"""The mirror of one caller: the kinds it follows, the topics made of them, and the streams that read the topics.

Changes are gathered for a moment and then told together: a node that got ten pods at once is told once, and a stream
is written to once. Streams have no buffers of their own: each knows the number of the last change it has sent, and all
read the same histories, so that hundreds of them cost little more than one.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from itertools import chain
from typing import Any, Final

from mooring.client.transport import ListerWatcher
from mooring.kube.status import ApiError, NotFoundError
from mooring.runway.rest.mirror.follower import FollowedKind, Follower
from mooring.runway.rest.mirror.topic import Topic, TopicSource

__all__ = ["Mirror", "Told"]

FLUSH_SECONDS: Final = 0.05
# The position of a stream that has had nothing yet.
NOWHERE: Final = -1
# Frames that are joined for streams at the same place are kept until the next flush.
_MOST_JOINED: Final = 256

Told = Callable[[str, Any | None, Any | None], None]


class Mirror:
    """`tellers` has for each kind the function that takes its records in."""

    def __init__(
        self, transport: ListerWatcher, sources: Iterable[TopicSource], tellers: Callable[[FollowedKind], Told]
    ) -> None:
        self._transport = transport
        self._sources = {source.name: source for source in sources}
        self._tellers = tellers
        # Two topics may keep something else of the same kind: each then follows it by itself.
        self.followers: dict[FollowedKind, Follower] = {}
        self._topics: dict[str, Topic] = {}
        self._epoch = secrets.token_hex(6)
        self._number = 0
        self._flush_due: asyncio.TimerHandle | None = None
        self.heartbeats = 0
        # One event for each stream, set when there may be something to send.
        self.listeners: set[asyncio.Event] = set()
        self._joined: dict[tuple[frozenset[str], int], bytes] = {}
        # Why streams must end, once they must.
        self.ended: Exception | None = None

    # Topics

    async def topic(self, name: str) -> Topic:
        """The topic once it can be answered for; raises what the server answered where it cannot."""
        source = self._sources[name]
        # All are started before the first is waited for.
        required, custom, optional = (
            [self._follow(followed) for followed in kinds]
            for kinds in (source.required, source.custom, source.optional)
        )
        await asyncio.gather(*(each.ready() for each in required))
        await asyncio.gather(*(_ready_or_absent(each) for each in custom))
        # What a caller may not see, or what a cluster does not have, is left out.
        await asyncio.gather(*(each.ready() for each in optional), return_exceptions=True)
        found = self._topics.get(name)
        if found is None:
            # Changes up to now go to those who listen already.
            self._flush()
            found = self._topics[name] = Topic(source, self._number)
            found.start()
        elif self._flush_due is not None:
            self._flush()
        return found

    def kinds_of(self, names: Collection[str]) -> list[Follower]:
        """The followers that some topics need, as far as they are started."""
        sources = [self._sources[name] for name in names]
        wanted = {each for source in sources for each in source.kinds}
        return [follower for followed, follower in self.followers.items() if followed in wanted]

    def _follow(self, followed: FollowedKind) -> Follower:
        found = self.followers.get(followed)
        if found is None:
            tell = self._tellers(followed)

            def told(key: str, old: Any | None, new: Any | None) -> None:
                tell(key, old, new)
                self._expect_flush()

            found = self.followers[followed] = Follower(self._transport, followed, told)
        return found

    def _expect_flush(self) -> None:
        if self._flush_due is None and self._topics:
            self._flush_due = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self._flush)

    def _flush(self) -> None:
        if self._flush_due is not None:
            self._flush_due.cancel()
            self._flush_due = None
        before = self._number
        for topic in self._topics.values():
            topic.flush(self._next_id)
        if self._number != before:
            self._wake()

    def _next_id(self) -> tuple[int, str]:
        self._number += 1
        return self._number, self._id(self._number)

    def _id(self, number: int) -> str:
        return f"{self._epoch}-{number}"

    # Streams

    def position(self, last_id: str) -> int:
        """The number of the change with this id; before all of them for an id that is not of this mirror."""
        epoch, _, number = last_id.rpartition("-")
        if epoch != self._epoch or not (number.isascii() and number.isdigit()) or int(number) > self._number:
            return NOWHERE
        return int(number)

    def after(self, names: frozenset[str], position: int) -> tuple[bytes, int]:
        """The frames that a stream at a position is owed, and its position after them.

        Topics whose history does not reach that far are told whole. They come first, so that an id never promises
        what was not sent.
        """
        number = self._number
        if position == number:
            return b"", number
        if (found := self._joined.get((names, position))) is not None:
            return found, number
        topics = [self._topics[name] for name in sorted(names)]
        lost = [topic for topic in topics if not topic.history.reaches(position)]
        kept = [topic for topic in topics if topic not in lost]
        changes = sorted(chain.from_iterable(topic.history.after(position) for topic in kept))
        whole = [topic.snapshot("" if changes or topic is not lost[-1] else self._id(number)) for topic in lost]
        frames = b"".join([*whole, *(change.frame for change in changes)])
        if len(self._joined) < _MOST_JOINED:
            self._joined[names, position] = frames
        return frames, number

    def beat(self) -> None:
        """Have every stream send a heartbeat, so that its client knows a silent connection from a dead one."""
        self.heartbeats += 1
        self._wake()

    def _wake(self) -> None:
        self._joined.clear()
        for listener in self.listeners:
            listener.set()

    @property
    def names(self) -> frozenset[str]:
        """The topics that somebody has asked for."""
        return frozenset(self._topics)

    # The end

    def refuse(self, follower: Follower, error: ApiError) -> None:
        """The caller may not read a kind any more: what was read of it goes, and streams end, to be asked for anew."""
        follower.refuse(error)
        self.end(error)

    def end(self, why: Exception) -> None:
        self.ended = why
        self._wake()

    async def close(self) -> None:
        if self._flush_due is not None:
            self._flush_due.cancel()
        await asyncio.gather(*(follower.close() for follower in self.followers.values()))


async def _ready_or_absent(follower: Follower) -> None:
    # A cluster that does not serve the kind has no objects of it.
    with suppress(NotFoundError):
        await follower.ready()
