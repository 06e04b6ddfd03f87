"""What happens after a task was carried out, the same in every driver: numbers, words, events, effects, the next run.

A driver differs from another in how it writes and how it waits, never in what a result means.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime

from mooring.client.transport import Request
from mooring.runtime.decision import Event, Run
from mooring.runtime.eventrecorder import EventRecorder
from mooring.runtime.logs import say
from mooring.runtime.machine import Asker, Machine, Task
from mooring.runtime.metrics import RuntimeMetrics
from mooring.runtime.outcome import Outcome


class Epilogue:
    """`record` takes the writes of events, `start` an effect; neither may wait."""

    def __init__(
        self,
        machine: Machine,
        metrics: RuntimeMetrics,
        *,
        start: Callable[[Run], None],
        record: Callable[[Sequence[Request]], None] | None,
    ) -> None:
        self._machine = machine
        self._metrics = metrics
        self._start = start
        self._record = record
        self._recorders = {c: EventRecorder(c.reporter or c.name) for c in machine.controllers} if record else {}
        # Events of decisions whose writes were refused: the retry of a refused write tells nothing new.
        self._recorded: dict[Asker, tuple[Event, ...]] = {}
        # Why the writes of a key were refused for good, for as long as they are.
        self.refusals: dict[Asker, str] = {}

    def finish(self, task: Task, outcome: Outcome, now: datetime) -> None:
        self._count(task, outcome, now)
        if outcome.terminal:
            self.refusals[task.asker] = outcome.terminal
        elif self.refusals:
            self.refusals.pop(task.asker, None)
        self._machine.settle(task, outcome, now)
        if not outcome.stopped:
            for run in task.effects:
                self._start(run)
        self._tell(task, outcome, now)

    def _count(self, task: Task, outcome: Outcome, now: datetime) -> None:
        name = task.asker.controller.name
        result = "unavailable" if task.unavailable else outcome.result
        self._metrics.reconciles.add(name, result)
        for stage in task.stages:
            for request in stage:
                self._metrics.writes.add(name, request.verb)
        if result not in ("done", "conflict"):
            why = task.unavailable or outcome.terminal or outcome.failed or outcome.postponed
            # A kind that cannot be read concerns every key that asks for it, and its reflector says so once.
            level = logging.DEBUG if result in ("unavailable", "postponed") else logging.WARNING
            say(level, why, controller=name, key=str(task.asker.key), result=result, time=now)

    def _tell(self, task: Task, outcome: Outcome, now: datetime) -> None:
        if self._record is None or not (task.events or self._recorded):
            return
        told = self._recorded.pop(task.asker, ())
        events = outcome.true(task.events)
        if outcome.stopped and events:
            self._recorded[task.asker] = events
        fresh = [event for event in events if event not in told]
        if not fresh:
            return
        try:
            requests = self._recorders[task.asker.controller].requests(fresh, self._machine.stores, now)
        except Exception as error:
            say(logging.ERROR, f"events of {task.asker} could not be recorded: {error!r}")
            return
        self._record(requests)
