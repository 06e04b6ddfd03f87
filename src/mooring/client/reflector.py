"""The reflector of one kind: a list, a watch from there, and a list again when the watch cannot go on.

What cannot be watched is listed at an interval; a list that fails is lost then, since nothing else tells how old it is.

No change is lost. A watch that ends or breaks is resumed from the last resourceVersion that it delivered; only when the
server no longer has that version everything is listed again, and the informer handler finds the changes in the list.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import NoReturn, Protocol

from mooring.client.backoff import Backoff
from mooring.client.transport import EVERYTHING, Change, Item, ListerWatcher, Scope, Unreachable
from mooring.kube.errors import MooringError
from mooring.kube.status import (
    ApiError,
    ExpiredError,
    ForbiddenError,
    MethodNotAllowedError,
    NotFoundError,
    TooLargeVersionError,
)

# A watch that ended sooner and brought nothing is not asked for again at once.
_SHORT_SECONDS = 1.0


class InformerHandler(Protocol):
    """Takes the lists and events of a reflector."""

    def begin(self) -> None:
        """A list begins; what was found of an earlier one is void."""

    def page(self, items: Sequence[Item]) -> None:
        """A part of the list."""

    def listed(self, resource_version: str) -> None:
        """The list is whole."""

    def changed(self, changes: Sequence[Change]) -> None:
        """What a watch brought."""

    def lost(self, why: str) -> None:
        """The kind cannot be read: `why` goes on after "it"."""

    def troubled(self, why: str) -> None:
        """The server cannot be followed at the moment, or with an empty text, can be again."""


class Reflector:
    """`heard` is when the server last said anything about the kind, on the clock that was given."""

    def __init__(
        self,
        transport: ListerWatcher,
        api_version: str,
        kind: str,
        handler: InformerHandler,
        *,
        scope: Scope = EVERYTHING,
        poll_seconds: float = 0.0,
        draw: random.Random,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._transport = transport
        self._api_version, self._kind = api_version, kind
        self._handler, self._scope = handler, scope
        # Zero is watched.
        self._poll_seconds = poll_seconds
        self._clock, self._sleep = clock, sleep
        self._delay = Backoff(draw)
        # Empty when a list is needed before anything can be watched.
        self._version = ""
        # Whether a watch was forbidden after a list that was not. The watch is tried first then: a list would make the
        # kind readable for a moment, again and again.
        self._watch_forbidden = False
        self.heard = clock()
        self.lists = 0
        self.watches = 0
        self.changes = 0

    async def run(self) -> NoReturn:
        while True:
            wait = await (self._poll() if self._poll_seconds else self._round())
            if wait:
                await self._sleep(wait)

    async def _round(self) -> float:
        """List if there is need to, watch until that ends; returns how long to wait before the next round."""
        try:
            if not self._version:
                await self._list()
            return await self._watch()
        except (ExpiredError, TooLargeVersionError):
            # The history was cut, or is not the one we knew.
            self._version = ""
            return self._delay.next()
        except (ForbiddenError, NotFoundError, MethodNotAllowedError) as error:
            self._watch_forbidden = bool(self._version) and isinstance(error, ForbiddenError)
            if not self._watch_forbidden:
                self._version = ""
            self.heard = self._clock()
            self._handler.lost(_sentence(error))
            return self._delay.next()
        except ApiError as error:
            self.heard = self._clock()
            self._handler.troubled(str(error))
            return max(self._delay.next(), float(error.retry_after or 0))
        except (Unreachable, MooringError) as error:
            self._handler.troubled(str(error))
            return self._delay.next()

    async def _poll(self) -> float:
        try:
            await self._list()
            self._handler.troubled("")
        except (ApiError, Unreachable, MooringError) as error:
            self.heard = self._clock()
            self._handler.lost(_sentence(error) if isinstance(error, ApiError) else str(error))
        return self._poll_seconds

    async def _list(self) -> None:
        self.lists += 1
        self._handler.begin()
        version = ""
        async with aclosing(self._transport.list(self._api_version, self._kind, self._scope)) as pages:
            async for page in pages:
                self.heard = self._clock()
                self._handler.page(page.items)
                version = page.resource_version
        self._handler.listed(version or "0")
        self._version = version

    async def _watch(self) -> float:
        self.watches += 1
        began = self._clock()
        brought = 0
        watch = self._transport.watch(self._api_version, self._kind, self._version, self._scope)
        try:
            async with aclosing(watch) as batches:
                async for batch in batches:
                    self.heard = self._clock()
                    if self._watch_forbidden:
                        self._watch_forbidden, self._version = False, ""
                        return 0.0
                    if not brought:
                        self._handler.troubled("")
                    if batch.changes:
                        self._handler.changed(batch.changes)
                        brought += len(batch.changes)
                        self.changes += len(batch.changes)
                    self._version = batch.resource_version
        finally:
            if brought or self._clock() - began > _SHORT_SECONDS:
                self._delay.reset()
        return 0.0 if brought or self._clock() - began > _SHORT_SECONDS else self._delay.next()


def _sentence(error: ApiError) -> str:
    """Why a kind cannot be read, to go on after "it"."""
    if isinstance(error, ForbiddenError):
        return f"may not be listed and watched: {error}"
    if isinstance(error, NotFoundError):
        return "is not served by this cluster; is its CustomResourceDefinition installed?"
    return f"cannot be listed and watched: {error}"
