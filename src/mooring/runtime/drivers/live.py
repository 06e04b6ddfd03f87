"""The live driver: controllers over an API server, in real time, on one event loop.

Each kind is followed by a task of its own that feeds the dispatcher. Keys run one after the other, since deciding takes
microseconds; what they decided is carried out concurrently, each key for itself. Nothing that a controller, an object
or the server does ends the loop: it is told, counted, and tried again.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from mooring.api.kinds import Key, Kind
from mooring.client.backoff import Backoff
from mooring.client.reflector import Reflector
from mooring.client.transport import AsyncTransport, UnknownOutcome, Unreachable
from mooring.kube.objects import Object
from mooring.kube.prometheus import Metric, exposition
from mooring.kube.status import ApiError, NotFoundError
from mooring.runtime.controller import Controller
from mooring.runtime.dispatcher.dispatcher import Dispatcher
from mooring.runtime.dispatcher.outcome import Outcome
from mooring.runtime.dispatcher.store import NOT_LISTED
from mooring.runtime.dispatcher.task import ReconcileRequest, Task
from mooring.runtime.drivers.epilogue import Epilogue
from mooring.runtime.drivers.execution import execute_async
from mooring.runtime.drivers.informerhandler import DispatcherHandler, ReflectorMetrics
from mooring.runtime.effects import Executor
from mooring.runtime.events.broadcaster import EventBroadcaster
from mooring.runtime.logs import say
from mooring.runtime.metrics import RuntimeMetrics
from mooring.runtime.reads import scope_of
from mooring.runtime.settings import DEFAULTS, Configuration

# How long keys run before the loop may see to its sockets.
SLICE_SECONDS = 0.01
# Rounds begin no more often than this, because a round for each of a thousand events costs more than the events do.
MIN_ROUND_SECONDS = 0.005
# Alarms are looked at this often even if none is due, because a clock may be set.
MAX_SLEEP_SECONDS = 5.0
_CLOCK_JUMP = timedelta(seconds=2)


def wall_clock() -> datetime:
    return datetime.now(UTC)


class Live:
    """`in_flight` is how many keys may be writing at a time, `grace` how long they may take to finish at the end.

    `executors` carry out the effects that decisions ask for, by the names that effects call them.
    `configuration` has the feature gates and settings that differ from their defaults.
    A watch that has been silent for `silence` seconds counts as dead.
    """

    def __init__(
        self,
        controllers: Iterable[Controller],
        transport: AsyncTransport,
        *,
        clock: Callable[[], datetime] = wall_clock,
        monotonic: Callable[[], float] = time.monotonic,
        draw: random.Random | None = None,
        in_flight: int = 64,
        grace: float = 10.0,
        silence: float = 180.0,
        events: bool = True,
        executors: Mapping[str, Executor] | None = None,
        configuration: Configuration = DEFAULTS,
    ) -> None:
        self.controllers = tuple(controllers)
        self._transport = transport
        self._clock, self._monotonic = clock, monotonic
        self._in_flight, self._grace, self._silence = in_flight, grace, silence
        draw = draw or random.Random()
        self._draw = draw
        self.dispatcher = Dispatcher(self.controllers, draw, configuration)
        self.metrics = RuntimeMetrics(self.controllers)
        self.reflector_metrics = ReflectorMetrics(self.dispatcher.kinds)
        self._broadcaster = EventBroadcaster(transport)
        record = self._broadcaster.add if events else None
        self._epilogue = Epilogue(self.dispatcher, self.metrics, executors=executors or {}, record=record)
        self._reflectors: dict[Kind[Any], Reflector] = {}
        self._following: dict[Kind[Any], asyncio.Task[None]] = {}
        self._redefined = 0
        self._writing: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._trouble: dict[Kind[Any], str] = {}
        self._told_hot_loops: set[ReconcileRequest] = set()
        self._last = clock(), monotonic()

    # How it is

    @property
    def missing(self) -> list[str]:
        """Why it is not ready: the kinds that cannot be read, with the reasons."""
        stores = self.dispatcher.stores
        needed = [kind for kind in self.dispatcher.wanted if not kind.optional]
        return [f"{kind.described} {stores[kind].problem}" for kind in needed if not stores[kind].synced]

    @property
    def silent(self) -> list[str]:
        """Why it is not alive: the kinds that nothing has been heard of for too long."""
        now = self._monotonic()
        quiet = {kind.described: now - reflector.heard for kind, reflector in self._reflectors.items()}
        return [f"{kind} has been silent for {gap:.0f} s" for kind, gap in quiet.items() if gap > self._silence]

    @property
    def all_metrics(self) -> tuple[Metric, ...]:
        self.metrics.depth.set(value=len(self.dispatcher.queue))
        return (*self.metrics.all, *self.reflector_metrics.all, self._broadcaster.lost)

    def metrics_text(self) -> str:
        return exposition(self.all_metrics)

    # Running

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop` is set. Writes that are under way are finished, up to the grace; watches are closed."""
        self._follow_wanted()
        tasks = [asyncio.create_task(self._broadcaster.run()), asyncio.create_task(self._heed(stop))]
        try:
            await self._reconcile(stop)
        finally:
            await self._wind_up([*tasks, *self._following.values()])

    async def _heed(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._wake.set()

    async def _wind_up(self, tasks: list[asyncio.Task[None]]) -> None:
        if self._writing:
            await asyncio.wait(self._writing, timeout=self._grace)
        # Events that are lost are lost.
        with suppress(TimeoutError):
            async with asyncio.timeout(min(self._grace, 1.0)):
                await self._broadcaster.finish()
        unfinished = [*self._writing, *tasks]
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)

    def _follow_wanted(self) -> None:
        """Follow the kinds that the dispatcher wants, and no others."""
        self._redefined = self.dispatcher.redefined
        for kind in self.dispatcher.wanted:
            if kind not in self._following:
                self._following[kind] = asyncio.create_task(self._follow(kind))
        for kind in [kind for kind in self._following if kind not in self.dispatcher.wanted]:
            self._following.pop(kind).cancel()
            self._reflectors.pop(kind, None)
            self._note_trouble(kind, "")

    async def _follow(self, kind: Kind[Any]) -> None:
        handler = DispatcherHandler(
            kind,
            self.dispatcher,
            self.reflector_metrics,
            wake=self._wake.set,
            tell=self._note_trouble,
            relisted=lambda kind: self.metrics.relists.add(kind.described),
        )
        while True:
            reflector = Reflector(
                self._transport,
                kind.api_version,
                kind.kind,
                handler,
                scope=scope_of(kind),
                poll_seconds=kind.polled_seconds,
                draw=self._draw,
                clock=self._monotonic,
            )
            self._reflectors[kind] = reflector
            try:
                await reflector.run()
            except Exception as error:
                say(logging.ERROR, f"following {kind} failed: {error!r}", kind=str(kind))
                await asyncio.sleep(1)

    def _note_trouble(self, kind: Kind[Any], why: str) -> None:
        """A server that is gone is gone for every kind, and is told once."""
        if not why:
            if self._trouble.pop(kind, None) is not None and not self._trouble:
                say(logging.INFO, "the API server can be followed again")
            return
        if not self._trouble:
            say(logging.WARNING, f"the API server cannot be followed: {why}", kind=str(kind))
        self._trouble[kind] = why

    async def _reconcile(self, stop: asyncio.Event) -> None:
        while not (stop.is_set() or self._all_tried()):
            self._wake.clear()
            await self._nap()
        while not stop.is_set():
            self._wake.clear()
            now, began = self._now(), time.perf_counter()
            if self.dispatcher.redefined != self._redefined:
                self._follow_wanted()
            self.dispatcher.flush(now)
            if self._run_keys(now) or self.dispatcher.restless:
                # There is more to run, but sockets want to be seen to as well.
                await asyncio.sleep(0)
            else:
                await self._nap()
                # What comes within an instant counts as one, however many answers and events it takes to hear of it.
                await asyncio.sleep(max(0.0, began + MIN_ROUND_SECONDS - time.perf_counter()))

    def _all_tried(self) -> bool:
        """Whether every kind has been listed, or was found not to be there: before that, keys would run for nothing."""
        # What is defined meanwhile is not waited for: it comes in when it comes in.
        stores = [self.dispatcher.stores[kind] for kind in self.dispatcher.kinds if kind in self.dispatcher.wanted]
        return all(store.synced or store.problem != NOT_LISTED for store in stores)

    def _now(self) -> datetime:
        """The time; if the clock was set back, keys that wait for a moment run again."""
        now, steady = self._clock(), self._monotonic()
        before, mark = self._last
        self._last = now, steady
        if now - before < timedelta(seconds=steady - mark) - _CLOCK_JUMP:
            say(logging.WARNING, f"the clock was set back from {before} to {now}")
            self.dispatcher.rewind()
        return now

    async def _nap(self) -> None:
        """Until something happens or the next timer is due."""
        moment = self.dispatcher.timers.next()
        seconds = MAX_SLEEP_SECONDS
        if moment is not None:
            seconds = max(0.0, min((moment - self._clock()).total_seconds(), MAX_SLEEP_SECONDS))
        timer = asyncio.get_running_loop().call_later(seconds, self._wake.set)
        try:
            await self._wake.wait()
        finally:
            timer.cancel()

    def _run_keys(self, now: datetime) -> bool:
        """Run keys for a while; returns whether there are more."""
        queue, end = self.dispatcher.queue, time.perf_counter() + SLICE_SECONDS
        while len(self._writing) < self._in_flight:
            request = queue.take()
            if request is None:
                return False
            started = time.perf_counter()
            self._run_key(request, now)
            ended = time.perf_counter()
            self.metrics.seconds.observe(request.controller.name, value=ended - started)
            if ended > end:
                return len(queue) > 0
        return False

    def _run_key(self, request: ReconcileRequest, now: datetime) -> None:
        try:
            task = self.dispatcher.decide(request, now)
        except Exception as error:
            # One line: the controller is at fault, and its author finds the place in the debug log.
            say(logging.DEBUG, "".join(traceback.format_exception(error)), controller=request.controller.name)
            self._finish(Task(request, ()), Outcome(failed=f"{request} failed: {error!r}"))
            return
        if task.unavailable:
            self._follow_wanted()
        if any(task.stages):
            writing = asyncio.create_task(self._execute(task))
            self._writing.add(writing)
            writing.add_done_callback(self._written)
        else:
            self._finish(task, Outcome())

    # Acting

    async def _execute(self, task: Task) -> None:
        try:
            outcome = await execute_async(task.stages, self._transport, self.dispatcher.names)
            for kind, key in sorted(outcome.suspect, key=lambda each: each[1]):
                await self._observe_live(kind, key)
        except Exception as error:
            outcome = Outcome(failed=f"{task.request} could not be carried out: {error!r}")
        self._finish(task, outcome)

    def _written(self, writing: asyncio.Task[None]) -> None:
        self._writing.discard(writing)
        self._wake.set()

    async def _observe_live(self, kind: Kind[Any], key: Key) -> None:
        """See how an object is whose write was not answered, before its key runs again."""
        views = self.dispatcher.stores.views_of(kind)
        if not views:
            return
        metadata_only = all(view.metadata_only for view in views)
        delay = Backoff(self._draw)
        while True:
            try:
                found: Object | None = await self._transport.get(
                    kind.api_version, kind.kind, *key, metadata_only=metadata_only
                )
            except NotFoundError:
                found = None
            except ApiError as error:
                if error.code < 500 and error.code not in (401, 429):
                    return
                await asyncio.sleep(max(delay.next(), error.retry_after or 0))
                continue
            except (Unreachable, UnknownOutcome):
                await asyncio.sleep(delay.next())
                continue
            self.dispatcher.observe_object(kind, key, found)
            return

    def _finish(self, task: Task, outcome: Outcome) -> None:
        self._epilogue.finish(task, outcome, self._clock())
        for request in self.dispatcher.hot_loops.found.keys() - self._told_hot_loops:
            self._told_hot_loops.add(request)
            say(
                logging.WARNING,
                f"{request} is in a hot loop: {self.dispatcher.hot_loops.found[request]}",
                key=str(request.key),
            )
