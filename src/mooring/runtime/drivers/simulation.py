"""The simulated driver: controllers over a registry in memory, in virtual time, reproducible from a seed.

Time stands still while anything can run and jumps to the next timer when nothing can. A crash throws the dispatcher
away and starts another one on the same registry.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from mooring.api.kinds import Kind
from mooring.client.inprocess import InProcess
from mooring.client.transport import Request, Stream, Transport
from mooring.kube.errors import MooringError
from mooring.kube.status import AlreadyExistsError, ApiError, ExpiredError, NotFoundError
from mooring.registry import Registry
from mooring.runtime.controller import Controller
from mooring.runtime.dispatcher.dispatcher import Decider, Dispatcher, decide
from mooring.runtime.dispatcher.outcome import Outcome
from mooring.runtime.dispatcher.task import ReconcileRequest, Task
from mooring.runtime.dispatcher.unreadstatus import is_unread_status
from mooring.runtime.drivers.epilogue import Epilogue
from mooring.runtime.drivers.execution import execute
from mooring.runtime.drivers.faults import Crash, Faults, FaultyTransport, calm
from mooring.runtime.drivers.modelexecutor import ModelExecutor
from mooring.runtime.events.recorder import repeated
from mooring.runtime.metrics import RuntimeMetrics
from mooring.runtime.minted import bytes_from
from mooring.runtime.reads import scope_of
from mooring.runtime.settings import DEFAULTS, Configuration

START = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
# Runs at one instant beyond this are a bug in a controller, not work.
MAX_STEPS = 2_000_000


class HotLoopError(MooringError):
    """A controller is in a hot loop."""


class Settled(NamedTuple):
    """How a simulation ended: at what moment, and what still moves if it was cut off."""

    now: datetime
    steps: int
    moving: tuple[str, ...] = ()


class Simulation:
    """`decider` makes every decision, and `at_rest` looks at the dispatcher at the end of every run: both for tests.

    With `status_at_rest`, status that no key reads is written when nothing else moves: for those who want the end only.
    """

    def __init__(
        self,
        controllers: Iterable[Controller],
        *,
        registry: Registry | None = None,
        seed: int = 0,
        faults: Faults | None = None,
        events: bool = True,
        configuration: Configuration = DEFAULTS,
        now: datetime = START,
        decider: Decider = decide,
        at_rest: Callable[[Dispatcher], None] | None = None,
        status_at_rest: bool = False,
    ) -> None:
        self.controllers = tuple(controllers)
        self.now = now
        self.seed = seed
        self.registry = registry if registry is not None else Registry(now=now, seed=seed)
        self.metrics = RuntimeMetrics(self.controllers)
        self.steps = 0
        self.crashes = 0
        # A plan shows no events, and they are a fifth of its writes.
        self._tells = events
        self._configuration = configuration
        self._decider = decider
        self._at_rest = at_rest
        self._status_at_rest = status_at_rest
        # Whether such status waits now, and the keys that wait to write it.
        self._postpones = False
        self._postponed: dict[ReconcileRequest, None] = {}
        # It outlives the controllers' process, as an executor outside does, and has a connection of its own.
        self.executor = ModelExecutor(InProcess(self.registry, lambda: self.now), lambda: self.now)
        self._draw = random.Random(seed)
        self._mint = bytes_from(seed)
        self.transport: Transport = InProcess(self.registry, lambda: self.now)
        if faults is not None:
            self.transport = FaultyTransport(self.transport, faults, self._draw)
        self._streams: dict[Kind[Any], Stream] = {}
        self._boot()

    def _boot(self) -> None:
        """Start with an empty memory, as a process does."""
        self.dispatcher = Dispatcher(self.controllers, self._draw, self._configuration, self._decider)
        self._postponed.clear()
        for stream in self._streams.values():
            stream.close()
        self._streams.clear()
        # Kinds that are not served, until a definition changes.
        self._unserved: set[Kind[Any]] = set()
        self._redefined = 0
        record = self._record if self._tells else None
        executors = {effect.executor: self.executor for c in self.controllers for effect in c.effects}
        self._epilogue = Epilogue(self.dispatcher, self.metrics, executors=executors, record=record)
        self._follow_wanted()

    def _follow_wanted(self) -> None:
        """Follow the kinds that the dispatcher wants, and no others; what is listed may define more."""
        while True:
            if self.dispatcher.redefined != self._redefined:
                self._redefined = self.dispatcher.redefined
                self._unserved.clear()
            for kind in [kind for kind in self._streams if kind not in self.dispatcher.wanted]:
                self._streams.pop(kind).close()
            missing = [k for k in self.dispatcher.wanted if k not in self._streams and k not in self._unserved]
            if not missing:
                return
            for kind in missing:
                self._relist(kind)

    def _relist(self, kind: Kind[Any]) -> None:
        self.metrics.relists.add(kind.described)
        try:
            listed = self.transport.list(kind.api_version, kind.kind, scope_of(kind))
        except NotFoundError:
            self._unserved.add(kind)
            self.dispatcher.lose(kind, "is not served here")
            if kind in self._streams:
                self._streams.pop(kind).close()
            return
        self.dispatcher.resync(kind, listed.items, listed.resource_version)
        if kind in self._streams:
            self._streams[kind].close()
        self._streams[kind] = self.transport.watch(kind.api_version, kind.kind, listed.resource_version, scope_of(kind))

    # Running

    def run(self, horizon: timedelta = HOUR, until: Callable[[], bool] | None = None) -> Settled:
        """Until nothing moves, the horizon is reached, or `until` says so."""
        end = self.now + horizon
        self._postpones = self._status_at_rest and until is None
        settled = self._run(end, until)
        if self._postponed:
            self._postpones = False
            self.dispatcher.wake(self._postponed)
            self._postponed.clear()
            settled = self._run(end, until)
        if self._at_rest is not None:
            self._at_rest(self.dispatcher)
        return settled

    def _run(self, end: datetime, until: Callable[[], bool] | None) -> Settled:
        while True:
            self._work(until)
            if until is not None and until():
                return Settled(self.now, self.steps)
            timers, end_of_effect = self.dispatcher.timers, self.executor.next_end()
            moment = min(filter(None, (timers.next(), end_of_effect)), default=None)
            if moment is None or (until is None and end_of_effect is None and timers.only_polls()):
                return Settled(self.now, self.steps)
            if moment > end:
                self.now = end
                return Settled(self.now, self.steps, self._moving())
            self.now = max(self.now, moment)

    @property
    def terminal(self) -> dict[str, str]:
        """The keys whose writes are refused for good, with the reasons."""
        return {str(request): why for request, why in self._epilogue.refusals.items()}

    def quiet(self) -> None:
        """No more faults from now on."""
        calm(self.transport)

    def _moving(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(str(request) for _, request in self.dispatcher.timers.all()))[:10]

    def _work(self, until: Callable[[], bool] | None) -> None:
        """Everything that can happen at this instant."""
        self.executor.report()
        budget = self.steps + MAX_STEPS
        while self.steps < budget:
            self._deliver()
            self.dispatcher.flush(self.now)
            task = self.dispatcher.next(self.now)
            if task is None:
                if self._lagging():
                    continue
                if self.dispatcher.idle:
                    return
                self._relist_expected()
                continue
            self.steps += 1
            if task.unavailable:
                self._follow_wanted()
            try:
                self._execute(task)
            except Crash:
                self.crashes += 1
                self._boot()
            if self.dispatcher.hot_loops.found:
                request, what = next(iter(self.dispatcher.hot_loops.found.items()))
                raise HotLoopError(f"{request} is in a hot loop: {what} (seed {self.seed})")
            if until is not None and until():
                return
        raise HotLoopError(f"more than {MAX_STEPS} runs at one instant (seed {self.seed})")

    def _deliver(self) -> None:
        for kind, stream in [each for each in self._streams.items() if each[1].news]:
            if kind not in self.dispatcher.wanted:
                # A single object that nobody asks for any more has no store to be told to.
                self._streams.pop(kind).close()
                continue
            try:
                for change in stream.poll():
                    self.dispatcher.observe(kind, change.type, change.object)
            except ExpiredError:
                self._relist(kind)
        if self.dispatcher.redefined != self._redefined:
            self._follow_wanted()

    def _lagging(self) -> bool:
        """Whether a watch holds something back that it will deliver."""
        return any(getattr(stream, "lagging", False) for stream in self._streams.values())

    def _relist_expected(self) -> None:
        """List the kinds that keys have expectations about, since no watch delivers their writes."""
        for kind in self.dispatcher.expectations.kinds():
            self._relist(kind)

    def _execute(self, task: Task) -> None:
        if self._postpones and is_unread_status(self.dispatcher, task):
            self._postponed[task.request] = None
            task = self.dispatcher.postpone(task)
        outcome = execute(task.stages, self.transport, self.dispatcher.names, self._mint) if task.stages else Outcome()
        suspect = {str(kind) for kind, _ in outcome.suspect}
        for kind in tuple(self.dispatcher.wanted) if suspect else ():
            if str(kind) in suspect:
                self._relist(kind)
        self._epilogue.finish(task, outcome, self.now)

    def _record(self, requests: Sequence[Request]) -> None:
        for request in requests:
            self._tell(request)

    def _tell(self, request: Request) -> None:
        try:
            try:
                self.transport.write(request)
            except AlreadyExistsError:
                self.transport.write(repeated(request))
        except (ApiError, MooringError):
            # An event that is lost is lost.
            return
