"""Writes the end of a run into its record, unless another run is on record by then."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from datetime import datetime

from mooring.client.backoff import Backoff
from mooring.client.transport import AsyncTransport, UnknownOutcome, Unreachable
from mooring.kube.status import ApiError, ConflictError, NotFoundError
from mooring.runtime.effects import Report, Run, finished

_log = logging.getLogger("mooring.agents")


class EffectReporter:
    def __init__(self, transport: AsyncTransport, clock: Callable[[], datetime]) -> None:
        self._transport = transport
        self._clock = clock

    async def report(self, run: Run, report: Report) -> None:
        """Retry until the report is written, or the object or the record is gone."""
        delay = Backoff(random.Random())
        while True:
            try:
                found = await self._transport.get(run.kind.api_version, run.kind.kind, *run.key)
                request = finished(run, report, found, self._clock())
                if request is not None:
                    await self._transport.write(request)
                return
            except NotFoundError:
                return
            except ConflictError:
                continue
            except (ApiError, UnknownOutcome, Unreachable) as error:
                _log.warning("the end of %s %s cannot be reported: %s", run.effect.name, run.identity, error)
                await asyncio.sleep(delay.next())
