"""What a server does unasked: events are forgotten after an hour, history after some minutes, and old garbage goes.

The history is what watches and pages of lists are served from. It keeps five to ten minutes, as that of a real cluster
does; whoever was away for longer lists anew.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime
from typing import Final

from mooring.apiserver.collecting import collect_all
from mooring.apiserver.group_commit import GroupCommit
from mooring.registry import Registry

__all__ = ["Housekeeping"]

_EVERY: Final = 60.0
_ROUNDS_KEPT: Final = 5
# Takes a quarter of a second for every ten thousand pods.
_ROUNDS_COLLECTED: Final = 60

_log = logging.getLogger(__name__)


class Housekeeping:
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
        if self._round % _ROUNDS_KEPT == 0:
            # What was there at the last look is five minutes old by now.
            self._registry.compact(self._last_seen)
            self._last_seen = self._registry.revision
        if self._round % _ROUNDS_COLLECTED == 0:
            collect_all()

    async def run(self) -> None:
        while True:
            await asyncio.sleep(_EVERY)
            try:
                self.round()
                await self._group_commit.wait()
            except Exception as error:
                # Nobody waits for this task, so nobody else would ever hear of it.
                _log.error("housekeeping failed: %s: %s", type(error).__name__, error)
