"""The state of a running set of controllers, without I/O: what was seen, who asked what, who runs next.

A driver feeds it what a watch delivers (`observe`, `resync`), asks for the next task, carries its requests out, and
reports (`settle`). Nothing here waits, reads a clock or talks to anyone, so the same dispatcher runs in virtual time and
against a cluster.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from mooring.api.kinds import DynamicKinds, Key, Kind, by_name
from mooring.client.transport import Item, Request
from mooring.kube.errors import MooringError
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Event, Run
from mooring.runtime.dynamickinds import Definitions, Redefined
from mooring.runtime.expectations import Expectations
from mooring.runtime.folds import Fold
from mooring.runtime.outcome import Outcome
from mooring.runtime.queue import WorkQueue
from mooring.runtime.reading import ObservedObject, version_of
from mooring.runtime.requests import Intents, requests_for
from mooring.runtime.store import Changed, Store
from mooring.runtime.view import FoldQuestion, GetQuestion, ListQuestion, Question, SyncQuestion, Unavailable, View

# A key that its own writes have woken this often in a row, and that wrote each time, is going in circles.
LOOP_LIMIT = 25

# Why a kind cannot be read whose definition is gone.
NOT_DEFINED = "is not defined any more"

ALL = Key("", "all")
_NOBODY = (None, -1, False)


class ReconcileRequest(NamedTuple):
    """One key of one controller."""

    controller: Controller
    key: Key

    def __str__(self) -> str:
        return self.controller.name if self.key == ALL else f"{self.controller.name} {self.key}"


class Task(NamedTuple):
    """A run that has decided: what to carry out, stage by stage."""

    request: ReconcileRequest
    stages: Sequence[Sequence[Request]]
    events: tuple[Event, ...] = ()
    effects: tuple[Run, ...] = ()
    # Why nothing could be decided.
    unavailable: str = ""
    # Whether its key has no use for seeing what it wrote.
    final: bool = False


class Dispatcher:
    def __init__(self, controllers: Iterable[Controller], jitter: random.Random) -> None:
        self.controllers = tuple(controllers)
        self.kinds = tuple(dict.fromkeys(kind for c in self.controllers for kind in c.kinds))
        self.stores: dict[Kind[Any], Store[Any]] = {kind: Store(kind) for kind in self.kinds}
        # The kinds that must be followed; more are added when somebody asks for them.
        self.wanted = dict.fromkeys(kind for kind in self.kinds if not kind.on_demand)
        # Grows whenever a definition makes other kinds wanted.
        self.redefined = 0
        # All kinds by what the API calls them, those that are only written too.
        self.names = by_name(kind for c in self.controllers for kind in (*c.kinds, *c.writes))
        self._wider = _wider_views(self.kinds)
        self.queue: WorkQueue[ReconcileRequest] = WorkQueue(jitter)
        # Keys that run in circles, by what they were about to do.
        self.loops: dict[ReconcileRequest, str] = {}
        self._readable = {controller: frozenset(controller.kinds) for controller in self.controllers}
        every = [each for c in self.controllers for each in (c.defined, *(fold.defined for fold in c.folds))]
        self._definitions = Definitions([each for each in every if each is not None], self.kinds)
        self._folds = {fold: fold.start() for fold in dict.fromkeys(f for c in self.controllers for f in c.folds)}
        self._folds_of = {kind: [f for f in self._folds if kind in f.kinds] for kind in self.kinds}
        self._keyed_by = {kind: [c for c in self.controllers if c.of is kind] for kind in self.kinds}
        self._questions: dict[ReconcileRequest, set[Question]] = {}
        # Those who asked a question, in order: whoever runs first must not depend on where objects lie in memory.
        self._askers: dict[tuple[Any, ...], dict[ReconcileRequest, None]] = {}
        # The indexes of a kind by which anybody ever asked for a list or a count; by the others nobody is looked up.
        self._listed: dict[Kind[Any], set[str]] = {}
        self._dirty: dict[ReconcileRequest, bool] = {}
        self._memory: dict[ReconcileRequest, Any] = {}
        # Why a key's writes were refused, and the keys that want to know.
        self._problems: dict[ReconcileRequest, str] = {}
        self._troubled: set[ReconcileRequest] = set()
        self._intents: dict[ReconcileRequest, Intents] = {}
        self._expectations: Expectations[ReconcileRequest] = Expectations(self.stores)
        self._waiting: set[ReconcileRequest] = set()
        # Who wrote an object last, which version that was, and whether the writer has no use for seeing it.
        self._own: dict[tuple[Kind[Any], Key], tuple[ReconcileRequest, int, bool]] = {}
        # What a key wrote last, and how often in a row it wrote some of that again for its own sake.
        self._circles: dict[ReconcileRequest, tuple[set[tuple[str, str, str, str]], int]] = {}
        self._timers: dict[ReconcileRequest, set[datetime]] = {}
        # Those of the timers that only look again: they do not keep a simulation from settling.
        self._polls: dict[ReconcileRequest, set[datetime]] = {}
        self._alarms: list[tuple[datetime, int, ReconcileRequest]] = []
        self._alarm_count = 0
        self._folded: dict[Fold[Any], None] = {}
        self._rested: dict[Fold[Any], datetime] = {}
        for controller in self.controllers:
            if controller.of is None:
                self._wake(ReconcileRequest(controller, ALL), foreign=True)

    # What is seen

    def observe(self, kind: Kind[Any], event: str, item: Item) -> None:
        """One event of a watch. Raises Unreadable for an object that its kind's view cannot hold."""
        store = self.stores[kind]
        if event == "BOOKMARK":
            store.seen = max(store.seen, version_of(item))
            return
        seen = store.read(item)
        store.seen = max(store.seen, seen.version)
        change = store.remove(seen.key, seen.version) if event == "DELETED" else store.take(seen)
        if change is not None:
            self._changed(kind, change)

    def resync(self, kind: Kind[Any], items: Iterable[Item], version: str) -> None:
        """A whole list; the kind can be read from now on."""
        read = self.stores[kind].read
        self.take_list(kind, [read(item) for item in items], int(version))

    def take_list(self, kind: Kind[Any], items: Iterable[ObservedObject], version: int) -> None:
        """The same for a list that has been read."""
        store = self.stores[kind]
        first = not store.synced
        if version < store.seen:
            self._release(kind)
        for change in store.resync(items, version):
            self._changed(kind, change)
        if first:
            self._wake_all(SyncQuestion(kind), foreign=True)

    def observe_object(self, kind: Kind[Any], key: Key, item: Item | None) -> None:
        """One object as a live read found it, None if it is not there. It says nothing about other objects."""
        store = self.stores[kind]
        change = store.remove(key, store.version(key) or 0) if item is None else store.put(item)
        if change is not None:
            self._changed(kind, change)

    def _release(self, kind: Kind[Any]) -> None:
        """The server counts its versions anew: nobody will see the ones that keys wait for."""
        for request in self._expectations.release(kind):
            self._waiting.discard(request)
            self._wake(request, foreign=True)

    def lose(self, kind: Kind[Any], why: str) -> None:
        """A kind that cannot be read any more: forbidden, or not installed."""
        self.stores[kind].synced = False
        self.stores[kind].problem = why
        for question in [q for q in self._askers if getattr(q, "kind", None) is kind]:
            self._wake_all(question, foreign=True)

    def _changed(self, kind: Kind[Any], change: Changed) -> None:
        store = self.stores[kind]
        last = self._own.pop if change.new is None else self._own.get
        writer, version, final = last((kind, change.key), _NOBODY)
        if store.version(change.key) != version:
            writer = None
        spared = writer if final else None
        requests = self._askers
        # Questions are tuples; spelling them out as such spares making one for every place that nobody asked about.
        for request in requests.get((kind, change.key), ()):
            if request != spared:
                self._wake(request, foreign=request != writer)
        if kind in self._listed:
            for index, value, counter in store.lookups(change, self._listed[kind]):
                for request in requests.get((kind, index, value, counter), ()):
                    if request != spared:
                        self._wake(request, foreign=request != writer)
        for fold in self._folds_of[kind]:
            if fold.apply(self._folds[fold], kind, change):
                self._folded[fold] = None
        if kind in self._definitions.by:
            for news in self._definitions.take(kind, change):
                self._redefine(news)
        if change.old is None:
            for controller in self._keyed_by[kind]:
                self._wake(ReconcileRequest(controller, change.key), foreign=True)
        self._expectations.changed(kind, change.key)

    # What is defined

    def _redefine(self, news: Redefined) -> None:
        """Follow the kind that a definition now stands for, and no longer the one that it stood for."""
        self.redefined += 1
        defined, old, new = news
        if new is not None and new not in self.stores:
            self.stores[new] = Store(new)
            self._folds_of[new], self._keyed_by[new] = [], []
            self.names[new.api_version, new.kind] = new
        if old is not None and new is not None:
            self._carry_over(defined, old, new)
        elif old is not None:
            self._drop_kind(defined, old)
        elif new is not None:
            self._add_folds(defined, new)
        if new is not None:
            self.wanted.setdefault(new)
        for controller in self.controllers:
            if controller.defined is not None:
                kinds = self._definitions.now[controller.defined]
                self._readable[controller] = frozenset((*controller.kinds, *kinds))

    def _add_folds(self, defined: DynamicKinds, kind: Kind[Any]) -> None:
        """Those who follow what is defined take in what was seen of a kind before."""
        for fold in self._folds:
            if fold.defined is defined and fold not in self._folds_of[kind]:
                self._folds_of[kind].append(fold)
                for seen in self.stores[kind].observed():
                    self._fold(fold, kind, Changed(seen.key, None, seen.view))

    def _carry_over(self, defined: DynamicKinds, old: Kind[Any], new: Kind[Any]) -> None:
        """Another version of one kind: its objects are the same, and the next list tells which of them are gone."""
        before = self._unfollow(defined, old)
        store = self.stores[new]
        for seen in before.observed():
            store.take(seen)
        self._add_folds(defined, new)

    def _drop_kind(self, defined: DynamicKinds, kind: Kind[Any]) -> None:
        """A kind goes with its objects, whether or not anybody told of each of them."""
        folds = [fold for fold in self._folds_of[kind] if fold.defined is defined]
        before = self._unfollow(defined, kind)
        for seen in before.observed():
            for fold in folds:
                self._fold(fold, kind, Changed(seen.key, seen.view, None))

    def _unfollow(self, defined: DynamicKinds, kind: Kind[Any]) -> Store[Any]:
        """Stop following a kind, unless a controller declares it; gives what was seen of it."""
        before = self.stores[kind]
        self._folds_of[kind] = [fold for fold in self._folds_of[kind] if fold.defined is not defined]
        if kind not in self.kinds:
            self.wanted.pop(kind, None)
            self._release(kind)
            self.stores[kind] = Store(kind)
            self.lose(kind, NOT_DEFINED)
            for seen in before.observed():
                self._expectations.changed(kind, seen.key)
        return before

    def _fold(self, fold: Fold[Any], kind: Kind[Any], change: Changed) -> None:
        if fold.apply(self._folds[fold], kind, change):
            self._folded[fold] = None

    def _wake_all(self, question: tuple[Any, ...], *, foreign: bool) -> None:
        for request in self._askers.get(question, ()):
            self._wake(request, foreign=foreign)

    def _wake(self, request: ReconcileRequest, *, foreign: bool) -> None:
        self._dirty[request] = self._dirty.get(request, False) or foreign

    # Who runs

    def flush(self, now: datetime) -> None:
        """Line up every key that something has changed for; changes at one instant count as one."""
        for request in self._expectations.over():
            if request in self._waiting:
                self._waiting.discard(request)
                self._dirty.setdefault(request, False)
        while self._alarms and self._alarms[0][0] <= now:
            moment, _, request = heapq.heappop(self._alarms)
            timers = self._timers.get(request, set())
            if moment in timers:
                timers.discard(moment)
                if not timers:
                    del self._timers[request]
                self._wake(request, foreign=True)
        dirty, self._dirty = self._dirty, {}
        if self._folded:
            # Those who decide for many go first, so that the others see what came of it in the same run.
            self._wake_for_folds(now)
            for request, foreign in dirty.items():
                self._wake(request, foreign=foreign)
            dirty, self._dirty = self._dirty, {}
        for request, foreign in dirty.items():
            if foreign:
                self._circles.pop(request, None)
            if request in self._expectations:
                self._waiting.add(request)
            else:
                self.queue.add(request)

    def _wake_for_folds(self, now: datetime) -> None:
        """Askers of a fold share one answer and are woken at most once per interval."""
        for fold in list(self._folded):
            ready = self._rested.get(fold, now)
            if ready <= now:
                del self._folded[fold]
                self._rested[fold] = now + fold.min_interval
                self._wake_all(FoldQuestion(fold), foreign=True)
            else:
                for request in self._askers.get(FoldQuestion(fold), ()):
                    if ready not in self._timers.get(request, ()):
                        self._alarm(ready, request)

    def rewind(self) -> None:
        """The clock was set back: a moment that is far off now may have been near, so whoever waits asks again."""
        self._rested.clear()
        for request in list(self._timers):
            self._wake(request, foreign=True)

    def next_alarm(self) -> datetime | None:
        """When the next key wants to run, if nothing happens before."""
        while self._alarms and self._alarms[0][0] not in self._timers.get(self._alarms[0][2], ()):
            heapq.heappop(self._alarms)
        return self._alarms[0][0] if self._alarms else None

    def only_polls(self) -> bool:
        """Whether every alarm is somebody looking again at what may never change."""
        return all(moments <= self._polls.get(request, set()) for request, moments in self._timers.items())

    def alarms(self) -> list[tuple[datetime, ReconcileRequest]]:
        """Every key that waits for a moment, for those who ask what keeps moving."""
        return sorted(((m, a) for a, moments in self._timers.items() for m in moments), key=lambda pair: pair[0])

    def next(self, now: datetime) -> Task | None:
        """Run the next key in line. Its requests must be carried out and reported before it runs again."""
        request = self.queue.take()
        return None if request is None else self.decide(request, now)

    def decide(self, request: ReconcileRequest, now: datetime) -> Task:
        """Run a key that was taken from the queue. Whatever its function raises comes through."""
        controller = request.controller
        problem = self._problems.get(request, "")
        memory, defined = self._memory.get(request), self._definitions.now
        view = View(self.stores, self._folds, self._readable[controller], now, memory, problem, defined)
        try:
            decision = controller.reconcile(request.key, view, now)
        except Unavailable as missing:
            self.wanted.setdefault(missing.kind)
            return Task(request, (), unavailable=str(missing))
        finally:
            self._subscribe(request, view)
        if decision.memory is not None:
            self._memory[request] = decision.memory
        else:
            self._memory.pop(request, None)
        stages: Sequence[Sequence[Request]] = ()
        if not decision.empty:
            intents = self._intents.setdefault(request, Intents())
            also = () if controller.defined is None else self._definitions.now[controller.defined]
            stages = requests_for(controller, decision, self.stores, intents, also)
        self._watch_for_circles(request, stages)
        for run in decision.effects:
            if not run.recorded:
                raise MooringError(f"{request} starts effect {run.id} before its id is in the status of {run.key}")
        return Task(request, stages, decision.events, decision.effects, final=decision.final)

    def _subscribe(self, request: ReconcileRequest, view: View) -> None:
        old = self._questions.get(request, set())
        if old != view.questions:
            self._drop(request, old - view.questions)
            for question in view.questions - old:
                self._askers.setdefault(question, {})[request] = None
                if isinstance(question, ListQuestion):
                    self._listed.setdefault(question.kind, set()).add(question.by)
            self._questions[request] = view.questions
        (self._troubled.add if view.asks_for_problems else self._troubled.discard)(request)
        # Most keys wait for no moment, and must not be looked through by those who ask for the next one.
        self._timers.pop(request, None)
        self._polls.pop(request, None)
        if view.polls:
            self._polls[request] = view.polls - view.timers
        for moment in view.timers | view.polls:
            self._alarm(moment, request)

    def _drop(self, request: ReconcileRequest, questions: Iterable[Question]) -> None:
        for question in questions:
            requests = self._askers[question]
            del requests[request]
            if not requests:
                del self._askers[question]

    def _alarm(self, moment: datetime, request: ReconcileRequest) -> None:
        self._alarm_count += 1
        self._timers.setdefault(request, set()).add(moment)
        heapq.heappush(self._alarms, (moment, self._alarm_count, request))

    def _watch_for_circles(self, request: ReconcileRequest, stages: Sequence[Sequence[Request]]) -> None:
        if not stages:
            self._circles.pop(request, None)
            return
        written: set[tuple[str, str, str, str]] = {
            (r.verb, r.kind, r.namespace, r.name) for stage in stages for r in stage
        }
        before, times = self._circles.get(request, (set(), 0))
        if not written & before:
            # Nothing, or other objects than before: that is progress.
            times = 0
        self._circles[request] = written, times + 1
        if times >= LOOP_LIMIT:
            first = next(request for stage in stages for request in stage)
            self.loops[request] = f"{first.verb} {first.kind} {Key(first.namespace, first.name)} again and again"

    # What came of it

    def settle(self, task: Task, outcome: Outcome, now: datetime) -> None:
        """A task's requests have been carried out, or as many as went well."""
        request = task.request
        for (kind, key), version in outcome.versions.items():
            self._own[kind, key] = (request, version, task.final)
        if outcome.versions or outcome.gone:
            newest: dict[Kind[Any], int] = {}
            for (kind, _), version in outcome.versions.items():
                # What nobody reads is never seen.
                if kind in self.stores:
                    newest[kind] = max(newest.get(kind, 0), version)
                if kind in self._wider and self.stores[self._wider[kind]].synced:
                    newest[self._wider[kind]] = newest[kind]
            self._expectations.expect(request, newest, [gone for gone in outcome.gone if gone[0] in self.stores])
        if outcome.stopped:
            # What was not carried out must not count as sent.
            self._intents.pop(request, None)
        if outcome.retry_after is not None:
            self._retry(request, now + outcome.retry_after)
        elif outcome.failed:
            self._retry(request, now + self.queue.backoff(request))
        elif request in self.loops:
            # What is in a hot loop is slowed down rather than stopped: the cluster may be to blame.
            self._retry(request, now + self.queue.backoff(request))
        else:
            self.queue.forget(request)
        held = request in self._expectations
        if self.queue.done(request, held=held) and held:
            self._waiting.add(request)
        self._note_problem(request, outcome)
        primary = request.controller.of
        if primary is not None and self.stores[primary].get(request.key) is None and not self._timers.get(request):
            self._forget(request)

    def _retry(self, request: ReconcileRequest, moment: datetime) -> None:
        # If it falls on a moment at which the key would only have looked again, it is more than that now.
        self._polls.get(request, set()).discard(moment)
        self._alarm(moment, request)

    def _note_problem(self, request: ReconcileRequest, outcome: Outcome) -> None:
        problem = outcome.terminal or ("" if outcome.stale else outcome.failed)
        if problem == self._problems.get(request, ""):
            return
        if problem:
            self._problems[request] = problem
        else:
            del self._problems[request]
        if request in self._troubled:
            self._wake(request, foreign=True)

    def _forget(self, request: ReconcileRequest) -> None:
        """An object that is gone leaves nothing behind but what its key still asks about others."""
        self._memory.pop(request, None)
        self._intents.pop(request, None)
        self._circles.pop(request, None)
        self._problems.pop(request, None)
        self._troubled.discard(request)
        primary = request.controller.of
        if primary is not None and self._questions.get(request) == {GetQuestion(primary, request.key)}:
            # An object that comes back wakes its key whether or not that was asked for.
            self._drop(request, self._questions.pop(request))

    @property
    def restless(self) -> bool:
        """Whether there are keys to line up."""
        return bool(self._dirty)

    @property
    def idle(self) -> bool:
        """Whether nothing is in line and nobody waits to see its own writes."""
        return not (self._dirty or len(self.queue) or self.queue.running or self._expectations)

    def pending_sight(self) -> list[Kind[Any]]:
        """Kinds whose watch still has to deliver writes of ours."""
        return self._expectations.kinds()


def _wider_views(kinds: Iterable[Kind[Any]]) -> dict[Kind[Any], Kind[Any]]:
    """The kinds of which there is a second view on demand: what was written must be seen in both."""
    names = by_name(kinds)
    pairs = [(names[kind.api_version, kind.kind], kind) for kind in kinds if kind.on_demand]
    return {narrow: wide for narrow, wide in pairs if narrow is not wide}
