"""What all requests share: who asks, what this process was started with, and the room for long computations."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

import msgspec

from mooring.client.http import HttpTransport
from mooring.runtime.settings import DEFAULTS, Configuration
from mooring.runway.rest.callers import Caller, Callers
from mooring.runway.rest.errors import RestError
from mooring.runway.settings import DEFAULT_SETTINGS, RunwaySettings
from mooring.runway.sources.live_source import PAGE, LiveSource

__all__ = ["RestService", "ServiceFacts"]

T = TypeVar("T")

# Explanations and plans that are computed at once; more wait for their turn.
COMPUTED_AT_ONCE: Final = 2
MOST_WAITING: Final = 16


class ServiceFacts(msgspec.Struct, frozen=True):
    """`server` is the URL of the API server, `embedded` whether that is the one of `mooring up`."""

    server: str
    version: str
    provider: str
    embedded: bool = False
    configuration: Configuration = DEFAULTS
    settings: RunwaySettings = DEFAULT_SETTINGS


class RestService:
    def __init__(self, callers: Callers, facts: ServiceFacts) -> None:
        self.callers = callers
        self.facts = facts
        self._computing = asyncio.Semaphore(COMPUTED_AT_ONCE)
        self._waiting = 0

    async def compute(self, work: Callable[[], T]) -> T:
        """Something that takes a while, in a thread: other requests are answered meanwhile."""
        if self._waiting >= MOST_WAITING:
            raise RestError(503, f"{MOST_WAITING} requests wait to be computed; try again later")
        self._waiting += 1
        try:
            async with self._computing:
                return await asyncio.to_thread(work)
        finally:
            self._waiting -= 1

    def source(self, caller: Caller) -> LiveSource:
        """The cluster as the caller may read it, for a thread; to be closed there."""
        return LiveSource(HttpTransport(caller.access, page=PAGE), caller.access.namespace)
