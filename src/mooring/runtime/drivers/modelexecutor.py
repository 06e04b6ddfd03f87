"""Carries effects out in a simulation: each takes as long and ends as its model says, in virtual time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from mooring.client.transport import Transport, UnknownOutcome
from mooring.kube.status import ApiError, NotFoundError
from mooring.runtime.effects import Report, Run, finished

# How long to wait before a report is written again that was not taken.
_RETRY = timedelta(seconds=1)


class _End(NamedTuple):
    moment: datetime
    run: Run
    report: Report


class ModelExecutor:
    def __init__(self, transport: Transport, clock: Callable[[], datetime]) -> None:
        self._transport, self._clock = transport, clock
        self._ends: dict[str, _End] = {}
        # Every run that was started, for tests that count them.
        self.started: list[Run] = []

    def start(self, run: Run) -> None:
        if run.identity in self._ends:
            return
        self.started.append(run)
        duration, report = run.effect.model(run.arguments)
        if duration > run.effect.timeout:
            duration, report = run.effect.timeout, Report("TimedOut", message=_too_long(run))
        self._ends[run.identity] = _End(self._clock() + duration, run, report)

    def cancel(self, run: Run) -> None:
        if run.identity in self._ends:
            report = Report("Cancelled", message="it is not wanted any more")
            self._ends[run.identity] = _End(self._clock(), run, report)

    def next_end(self) -> datetime | None:
        return min((end.moment for end in self._ends.values()), default=None)

    def report(self) -> None:
        """Write down what has ended by now."""
        now = self._clock()
        for identity, end in [each for each in self._ends.items() if each[1].moment <= now]:
            run = end.run
            try:
                found = self._transport.get(run.kind.api_version, run.kind.kind, *run.key)
                request = finished(run, end.report, found, now)
                if request is not None:
                    self._transport.write(request)
            except NotFoundError:
                pass
            except (ApiError, UnknownOutcome):
                self._ends[identity] = end._replace(moment=now + _RETRY)
                continue
            del self._ends[identity]


def _too_long(run: Run) -> str:
    return f"it took longer than {run.effect.timeout.total_seconds():.0f} s"
