"""The dispatcher: events of watches in, tasks out, without I/O.

A driver feeds it what a watch delivers (`observe`, `resync`), asks for the next task, executes its requests, and
reports the outcome (`settle`). Nothing here waits, reads a clock or does I/O, so the same dispatcher runs in virtual
time and against a cluster. `dispatcher_state.py` has the attributes and their invariants.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from mooring.api.kinds import DynamicKinds, Key, Kind
from mooring.client.transport import Item, Request
from mooring.kube.objects import Object
from mooring.runtime.controller import Controller
from mooring.runtime.controllermetrics import check_samples
from mooring.runtime.decision import Decision
from mooring.runtime.dispatcher.dynamickinds import Redefined
from mooring.runtime.dispatcher.effectrecords import records_of, wanted_runs
from mooring.runtime.dispatcher.observedobject import ObservedObject
from mooring.runtime.dispatcher.outcome import Outcome
from mooring.runtime.dispatcher.requests import Intents, requests_for
from mooring.runtime.dispatcher.state import DispatcherState
from mooring.runtime.dispatcher.store import Changed, Store
from mooring.runtime.dispatcher.task import ALL, ReconcileRequest, Task
from mooring.runtime.folds import Fold
from mooring.runtime.settings import DEFAULTS, Configuration
from mooring.runtime.view import FoldQuestion, GetQuestion, ListQuestion, Question, SyncQuestion, Unavailable, View

# Why a kind cannot be read whose definition is gone.
NOT_DEFINED = "is not defined any more"

_NOBODY = (None, -1, False)


Decider = Callable[[ReconcileRequest, View], Decision]


def decide(request: ReconcileRequest, view: View) -> Decision:
    return request.controller.reconcile(request.key, view, view.now)


class Dispatcher(DispatcherState):
    """`decider` makes every decision; the test kit has one that makes it twice."""

    def __init__(
        self,
        controllers: Iterable[Controller],
        jitter: random.Random,
        configuration: Configuration = DEFAULTS,
        decider: Decider = decide,
    ) -> None:
        super().__init__(controllers, jitter, configuration)
        self._decider = decider
        for controller in self.controllers:
            if controller.of is None:
                self._wake(ReconcileRequest(controller, ALL), foreign=True)

    # Observed objects

    def observe(self, kind: Kind[Any], event: str, item: Item) -> None:
        """One event of a watch. Raises Unreadable for an object that its kind's view cannot hold."""
        change = self.stores[kind].observe(event, item)
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

    def observe_object(self, kind: Kind[Any], key: Key, item: Object | None) -> None:
        """One object as a live read found it, None if it is not there. It says nothing about other objects."""
        for view, change in self.stores.take(kind, key, item):
            self._changed(view, change)

    def _release(self, kind: Kind[Any]) -> None:
        """The server counts its versions anew, so the versions that keys wait for will never be observed."""
        for request in self.expectations.release(kind):
            self._waiting.discard(request)
            self._wake(request, foreign=True)

    def lose(self, kind: Kind[Any], why: str) -> None:
        """A kind that cannot be read any more: forbidden, or not installed."""
        self.stores[kind].synced = False
        self.stores[kind].problem = why
        for question in self._subscriptions.about(kind):
            self._wake_all(question, foreign=True)

    def _changed(self, kind: Kind[Any], change: Changed) -> None:
        store = self.stores[kind]
        last = self._own.pop if change.new is None else self._own.get
        writer, version, final = last((kind, change.key), _NOBODY)
        if store.version(change.key) != version:
            writer = None
        spared = writer if final else None
        requests = self._subscriptions.keys
        for request in requests.get((kind, change.key), ()):
            if request != spared:
                self._wake(request, foreign=request != writer)
        if kind in self._subscriptions.listed:
            for lookup in store.lookups(change, self._subscriptions.listed[kind]):
                for request in requests.get(lookup, ()):
                    if request != spared:
                        self._wake(request, foreign=request != writer)
        for fold in self._folds_of.get(kind, ()):
            self._fold(fold, kind, change)
        if kind in self._definitions.by:
            for news in self._definitions.take(kind, change):
                self._redefine(news)
        if change.old is None:
            for controller in self._keyed_by.get(kind, ()):
                self._wake(ReconcileRequest(controller, change.key), foreign=True)
        self.expectations.changed(kind, change.key)

    # Dynamic kinds

    def _redefine(self, news: Redefined) -> None:
        """Follow the kind that a definition now stands for, and no longer the one that it stood for."""
        self.redefined += 1
        defined, old, new = news
        if new is not None and new not in self.stores:
            self.stores.open(new)
            self._folds_of[new] = []
            name = new.api_version, new.kind
            self.names[name] = self.names.get(name, new) if new.on_demand else new
        if old is not None and new is not None:
            self._carry_over(defined, old, new)
        elif old is not None:
            self._drop_kind(defined, old)
        elif new is not None:
            self._add_folds(defined, new)
        if new is not None and not new.on_demand:
            self.wanted.setdefault(new)
        for controller in self.controllers:
            if controller.defined is not None:
                kinds = self._definitions.now[controller.defined]
                self._readable[controller] = frozenset((*controller.kinds, *kinds))

    def _add_folds(self, defined: DynamicKinds, kind: Kind[Any]) -> None:
        """The folds over dynamic kinds take in the objects of a kind that were observed before."""
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
        """A kind goes with its objects, also with those whose deletion no watch delivered."""
        folds = [fold for fold in self._folds_of[kind] if fold.defined is defined]
        before = self._unfollow(defined, kind)
        for seen in before.observed():
            for fold in folds:
                self._fold(fold, kind, Changed(seen.key, seen.view, None))

    def _unfollow(self, defined: DynamicKinds, kind: Kind[Any]) -> Store[Any]:
        """Stop following a kind, unless a controller declares it; returns the store of its observed objects."""
        before = self.stores[kind]
        self._folds_of[kind] = [fold for fold in self._folds_of[kind] if fold.defined is not defined]
        if kind not in self.kinds:
            self.wanted.pop(kind, None)
            self._release(kind)
            self.stores[kind] = Store(kind)
            self.lose(kind, NOT_DEFINED)
            for seen in before.observed():
                self.expectations.changed(kind, seen.key)
        return before

    def _fold(self, fold: Fold[Any], kind: Kind[Any], change: Changed) -> None:
        news = fold.apply(self._folds[fold], kind, change)
        if news is True:
            self._folded[fold] = None
        elif news:
            self.timers.add_all(news, self._subscriptions.keys.get(FoldQuestion(fold), ()))

    def _wake_all(self, question: tuple[Any, ...], *, foreign: bool) -> None:
        for request in self._subscriptions.keys.get(question, ()):
            self._wake(request, foreign=foreign)

    def postpone(self, task: Task) -> Task:
        """The task without its writes, which its key decides again when it is woken."""
        self._intents.pop(task.request, None)
        return task._replace(stages=())

    def wake(self, requests: Iterable[ReconcileRequest]) -> None:
        for request in requests:
            self._wake(request, foreign=True)

    def _wake(self, request: ReconcileRequest, *, foreign: bool) -> None:
        self._dirty[request] = self._dirty.get(request, False) or foreign

    # Keys that run

    def flush(self, now: datetime) -> None:
        """Enqueue every key that something has changed for; changes at one instant count as one."""
        for request in self.expectations.over():
            if request in self._waiting:
                self._waiting.discard(request)
                self._dirty.setdefault(request, False)
        for request in self.timers.due(now):
            self._wake(request, foreign=True)
        dirty, self._dirty = self._dirty, {}
        if self._folded:
            # Keys that read folds go first (the scheduler), so that the others see their outcome in the same run.
            self._wake_for_folds(now)
            for request, foreign in dirty.items():
                self._wake(request, foreign=foreign)
            dirty, self._dirty = self._dirty, {}
        for request, foreign in dirty.items():
            if foreign:
                self.hot_loops.forget(request)
            if request in self.expectations:
                self._waiting.add(request)
            elif self._rests_until and self._rests_until.get(request, now) > now:
                self.timers.add(self._rests_until[request], request)
            else:
                self.queue.add(request)

    def _wake_for_folds(self, now: datetime) -> None:
        """Keys that asked a fold share one answer and are woken at most once per interval."""
        for fold in list(self._folded):
            ready = self._rested.get(fold, now)
            if ready <= now:
                del self._folded[fold]
                self._rested[fold] = now + fold.min_interval
                self._wake_all(FoldQuestion(fold), foreign=True)
            else:
                self.timers.add_all(ready, self._subscriptions.keys.get(FoldQuestion(fold), ()))

    def rewind(self) -> None:
        """The clock was set back: a moment that is far off now may have been near, so keys that wait run again."""
        self._rested.clear()
        self._rests_until.clear()
        for request in self.timers.waiting():
            self._wake(request, foreign=True)

    def next(self, now: datetime) -> Task | None:
        """Run the next key in the queue. Its requests must be carried out and reported before it runs again."""
        request = self.queue.take()
        return None if request is None else self.decide(request, now)

    def decide(self, request: ReconcileRequest, now: datetime) -> Task:
        """Run a key that was taken from the queue. Whatever its function raises comes through."""
        controller = request.controller
        if request in self._assumptions:
            self._assumptions.replace(request, ())
        if controller.min_interval:
            self._rests_until[request] = now + controller.min_interval
        memory, problem = controller.memory and self._memories.get(request), self._problems.get(request)
        readable, known = self._readable[controller], self._definitions.now
        gates, settings = self._gates[controller], self._settings[controller]
        view = View(self.stores, self._folds, readable, now, memory, problem, known, gates, settings, self._running)
        try:
            decision = self._decider(request, view)
        except Unavailable as missing:
            if missing.kind not in self.stores:
                self.stores.open(missing.kind)
            self.wanted.setdefault(missing.kind)
            self._rests_until.pop(request, None)  # Nothing was decided, so the next run need not wait.
            return Task(request, (), unavailable=str(missing))
        finally:
            self._subscribe(request, view)
        if controller.memory is not None or decision.memory is not None:
            self._memories.put(request, controller.name, controller.memory, decision.memory)
        stages: Sequence[Sequence[Request]] = ()
        runs = wanted_runs(controller, decision.effects, self.stores.find) if decision.effects else ()
        if runs:
            decision = decision._replace(records=records_of(runs, self.stores.find, now))
        if not decision.empty:
            intents = self._intents.get(request)
            if intents is None:
                intents = self._intents[request] = Intents()
            also = () if controller.defined is None else self._definitions.now[controller.defined]
            stages = requests_for(controller, decision, self.stores.find, intents, also)
        self.hot_loops.wrote(request, stages)
        if decision.metrics:
            check_samples(controller.name, controller.metrics, decision.metrics)
        if decision.assumes:
            self._assumptions.replace(request, decision.assumes)
        return Task(
            request,
            stages,
            decision.events,
            runs,
            final=decision.final,
            metrics=decision.metrics,
            log=decision.log,
        )

    def _subscribe(self, request: ReconcileRequest, view: View) -> None:
        for question, by in self._subscriptions.replace(request, view.questions).items():
            self._count_question(question, by)
        self._problems.asked(request, view.asks_for_problems)
        if view.timers or view.polls or request in self.timers:
            self.timers.replace(request, view.timers, view.polls)

    def _count_question(self, question: Question, by: int) -> None:
        """A kind that is read by name is followed for as long as some key asks for it."""
        if isinstance(question, FoldQuestion | ListQuestion) or question.kind.only is None:
            return
        kind = question.kind
        if self.stores.count_questions(kind, by):
            self.wanted.pop(kind, None)
            self._release(kind)
            del self.stores[kind]
            self.redefined += 1

    # Outcomes

    def settle(self, task: Task, outcome: Outcome, now: datetime) -> None:
        """A task's requests have been executed, up to the first that failed."""
        request = task.request
        if outcome.versions or outcome.gone:
            self._expect(task, outcome)
        if outcome.stopped:
            # What was not carried out must not count as sent.
            self._intents.pop(request, None)
        elif outcome.versions and request in self._intents:
            self._intents[request].left(outcome.versions)
        if outcome.failed:
            self.timers.add(now + (outcome.retry_after or self.queue.backoff(request)), request)
        elif outcome.terminal or outcome.postponed:
            # What refuses a write may lie outside of what is seen (a quota, access rules, a webhook), so it is tried
            # again; a simulation that waits for nothing else has settled.
            self.timers.add_poll(now + (outcome.retry_after or self.queue.backoff(request)), request)
        elif request in self.hot_loops.found:
            # What is in a hot loop is slowed down rather than stopped: the cluster may be to blame.
            self.timers.add(now + self.queue.backoff(request), request)
        else:
            self.queue.forget(request)
        held, rests = request in self.expectations, bool(self._rests_until) and request in self._rests_until
        if self.queue.done(request, held=held or rests):
            if held:
                self._waiting.add(request)
            elif rests:
                self._wake(request, foreign=True)
        if self._problems.record(request, outcome):
            self._wake(request, foreign=True)
        primary = request.controller.of
        if primary is not None and self.stores[primary].get(request.key) is None and request not in self.timers:
            self._forget(request)

    def _expect(self, task: Task, outcome: Outcome) -> None:
        """Hold a key until it has seen what it wrote, wherever that will be shown to it."""
        request = task.request
        newest: dict[Kind[Any], int] = {}
        readable = self._readable[request.controller]
        for (kind, key), version in outcome.versions.items():
            own = request, version, task.final
            self._own[kind, key] = own
            for view in self.stores.showing(kind, key, outcome.labels.get((kind, key)), readable):
                newest[view] = max(newest.get(view, 0), version)
                if view.is_partial:
                    self._own[view, key] = own
        gone = [(view, key, uid) for kind, key, uid in outcome.gone for view in self.stores.views_of(kind)]
        self.expectations.expect(request, newest, gone)

    def _forget(self, request: ReconcileRequest) -> None:
        """An object that is gone leaves nothing behind but what its key still asks about others."""
        self._memories.forget(request)
        self._rests_until.pop(request, None)
        self._intents.pop(request, None)
        self.hot_loops.forget(request)
        self._problems.forget(request)
        primary = request.controller.of
        if primary is not None and self._subscriptions.of(request) == {GetQuestion(primary, request.key)}:
            # An object that comes back wakes its key whether or not that was asked for.
            self._subscriptions.forget(request)

    @property
    def restless(self) -> bool:
        """Whether there are keys to enqueue."""
        return bool(self._dirty)

    @property
    def idle(self) -> bool:
        """Whether the queue is empty and no key waits to see its own writes."""
        return not (self._dirty or len(self.queue) or self.queue.running or self.expectations)
