"""Maintenance of the server's data: expiry of events, compaction of the history, and full garbage collections.

Watches and pages of lists are served from the history. It keeps five to ten minutes, as a real cluster's does; a client
that was away for longer lists again.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime
from typing import Final

from mooring.apiserver.group_commit import GroupCommit
from mooring.apiserver.python_gc import collect_all
from mooring.kube.status import InsufficientStorageError
from mooring.registry import Registry

__all__ = ["Maintenance"]

_INTERVAL_SECONDS: Final = 60.0
_ROUNDS_PER_COMPACTION: Final = 5
# Takes a quarter of a second for every ten thousand pods.
_ROUNDS_PER_FULL_COLLECTION: Final = 60

_log = logging.getLogger(__name__)


class Maintenance:
    """Call `round` about once a minute, or let `run` do it."""

    def __init__(self, registry: Registry, group_commit: GroupCommit, clock: Callable[[], datetime]) -> None:
        self._registry = registry
        self._group_commit = group_commit
        self._clock = clock
        self._round = 0
        self._last_seen = 0

    def round(self) -> None:
        self._registry.expire_events(self._clock())
        self._round += 1
        if self._round % _ROUNDS_PER_COMPACTION == 0:
            # The revision of the last compaction is five minutes old by now.
            self._registry.compact(self._last_seen)
            self._last_seen = self._registry.revision
        if self._round % _ROUNDS_PER_FULL_COLLECTION == 0:
            collect_all()

    async def run(self) -> None:
        while True:
            await asyncio.sleep(_INTERVAL_SECONDS)
            try:
                self.round()
                await self._group_commit.wait()
            except InsufficientStorageError:
                # The storage has said so itself. Events that are older than they should be do no harm.
                continue
            except Exception as error:
                # No caller awaits this task, so its errors would be lost.
                _log.error("maintenance failed: %s: %s", type(error).__name__, error)
