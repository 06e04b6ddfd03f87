"""What happens after a task was carried out, the same in every driver: numbers, words, events, effects, the next run.

A driver differs from another in how it writes and how it waits, never in what a result means.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from mooring.client.transport import Request
from mooring.runtime.decision import Event
from mooring.runtime.dispatcher.dispatcher import Dispatcher
from mooring.runtime.dispatcher.outcome import Outcome
from mooring.runtime.dispatcher.task import ReconcileRequest, Task
from mooring.runtime.effects import Executor, Run
from mooring.runtime.events.recorder import EventRecorder
from mooring.runtime.logs import say
from mooring.runtime.metrics import RuntimeMetrics


class Epilogue:
    """`record` takes the writes of events and may not wait; `executors` carry effects out, by name."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        metrics: RuntimeMetrics,
        *,
        executors: Mapping[str, Executor],
        record: Callable[[Sequence[Request]], None] | None,
    ) -> None:
        self._dispatcher = dispatcher
        self._metrics = metrics
        self._executors = executors
        # The runs that were started for each key and that it still wants.
        self._running: dict[ReconcileRequest, dict[str, Run]] = {}
        self._record = record
        self._recorders = {c: EventRecorder(c.reporter or c.name) for c in dispatcher.controllers} if record else {}
        # Events of decisions whose writes were refused: the retry of a refused write tells nothing new.
        self._recorded: dict[ReconcileRequest, tuple[Event, ...]] = {}
        # Why the writes of a key were refused for good, for as long as they are.
        self.refusals: dict[ReconcileRequest, str] = {}

    def finish(self, task: Task, outcome: Outcome, now: datetime) -> None:
        self._count(task, outcome, now)
        if outcome.terminal:
            self.refusals[task.request] = outcome.terminal
        elif self.refusals:
            self.refusals.pop(task.request, None)
        self._dispatcher.settle(task, outcome, now)
        if not outcome.stopped:
            for line in task.log:
                say(logging.INFO, line, controller=task.request.controller.name)
        if task.effects is not None:
            self._run(task.request, task.effects, start=not outcome.stopped)
        self._record_events(task, outcome, now)

    def _run(self, request: ReconcileRequest, wanted: tuple[Run, ...], *, start: bool) -> None:
        """Start what is wanted and on record; cancel what is no longer wanted."""
        before = self._running.get(request)
        if not (before or wanted):
            return
        running = {run.identity: run for run in wanted if start or (before and run.identity in before)}
        for identity, run in (before or {}).items():
            if identity not in running:
                self._cancel(run)
        for identity, run in running.items():
            if not (before and identity in before):
                self._start(run)
        if running:
            self._running[request] = running
        else:
            self._running.pop(request, None)

    def _start(self, run: Run) -> None:
        executor = self._executors.get(run.effect.executor)
        if executor is None:
            say(logging.ERROR, f"no executor {run.effect.executor} here for {run.effect.name} of {run.kind} {run.key}")
            return
        try:
            executor.start(run)
        except Exception as error:
            say(logging.ERROR, f"effect {run.effect.name} {run.id} could not be started: {error!r}")

    def _cancel(self, run: Run) -> None:
        executor = self._executors.get(run.effect.executor)
        if executor is not None:
            executor.cancel(run)

    def _count(self, task: Task, outcome: Outcome, now: datetime) -> None:
        name = task.request.controller.name
        result = "unavailable" if task.unavailable else outcome.result
        self._metrics.reconciles.add(name, result)
        for stage in task.stages:
            for write in stage:
                self._metrics.writes.add(name, write.verb)
        if task.metrics:
            self._metrics.take(task.metrics, done=not outcome.stopped)
        if result not in ("done", "conflict"):
            why = task.unavailable or outcome.terminal or outcome.failed or outcome.postponed
            if outcome.missing_right:
                why = f"controller {name} may not {outcome.missing_right}; config/rbac grants it: {why}"
            # A kind that cannot be read concerns every key that asks for it, and its reflector says so once.
            level = logging.DEBUG if result in ("unavailable", "postponed") else logging.WARNING
            say(level, why, controller=name, key=str(task.request.key), result=result, time=now)

    def _record_events(self, task: Task, outcome: Outcome, now: datetime) -> None:
        if self._record is None or not (task.events or self._recorded):
            return
        told = self._recorded.pop(task.request, ())
        events = outcome.true(task.events)
        if outcome.stopped and events:
            self._recorded[task.request] = events
        fresh = [event for event in events if event not in told]
        if not fresh:
            return
        try:
            requests = self._recorders[task.request.controller].requests(fresh, self._dispatcher.stores, now)
        except Exception as error:
            say(logging.ERROR, f"events of {task.request} could not be recorded: {error!r}")
            return
        self._record(requests)
