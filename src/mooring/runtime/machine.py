"""The state of a running set of controllers, without I/O: what was seen, who asked what, who runs next.

A driver feeds it what a watch delivers (`observe`, `resync`), asks for the next task, carries its requests out, and
reports (`settle`). Nothing here waits, reads a clock or talks to anyone, so the same machine runs in virtual time and
against a cluster.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from mooring.client.transport import Item, Object, Request
from mooring.kube.errors import MooringError
from mooring.kube.patches import merge_patch
from mooring.runtime.controller import Controller
from mooring.runtime.controllermetrics import Sample
from mooring.runtime.decision import Event, Patch
from mooring.runtime.defining import Definitions, Redefined
from mooring.runtime.effects import Run, record_of, started
from mooring.runtime.folds import Fold
from mooring.runtime.gates import FeatureGates, all_gates
from mooring.runtime.holds import Holds
from mooring.runtime.kinds import Defined, Key, Kind, by_name
from mooring.runtime.outcome import Outcome
from mooring.runtime.queue import WorkQueue
from mooring.runtime.reading import Sighting, version_of
from mooring.runtime.reads import has_labels
from mooring.runtime.requests import Intents, requests_for
from mooring.runtime.store import Changed, Store
from mooring.runtime.view import FoldQuestion, GetQuestion, ListQuestion, Question, SyncQuestion, Unavailable, View

# A key that its own writes have woken this often in a row, and that wrote each time, is going in circles.
LOOP_LIMIT = 25

# Why a kind cannot be read whose definition is gone.
NOT_DEFINED = "is not defined any more"

ALL = Key("", "all")
_NOBODY = (None, -1, False)


class Asker(NamedTuple):
    """One key of one controller."""

    controller: Controller
    key: Key

    def __str__(self) -> str:
        return self.controller.name if self.key == ALL else f"{self.controller.name} {self.key}"


class Task(NamedTuple):
    """A run that has decided: what to carry out, stage by stage."""

    asker: Asker
    stages: Sequence[Sequence[Request]]
    events: tuple[Event, ...] = ()
    # The effects that are wanted from now on; None where nothing was decided.
    effects: tuple[Run, ...] | None = None
    # Why nothing could be decided.
    unavailable: str = ""
    # Whether its key has no use for seeing what it wrote.
    final: bool = False
    # Numbers to publish.
    metrics: tuple[Sample, ...] = ()


class Machine:
    def __init__(
        self, controllers: Iterable[Controller], jitter: random.Random, gates: Mapping[str, bool] | None = None
    ) -> None:
        self.controllers = tuple(controllers)
        states = all_gates((controller.gates for controller in self.controllers), gates)
        self._gates = {c: FeatureGates({name: states[name] for name in c.gates}) for c in self.controllers}
        # When a key of a controller with a minimum interval may run next.
        self._rests_until: dict[Asker, datetime] = {}
        self.kinds = tuple(dict.fromkeys(kind for c in self.controllers for kind in c.kinds))
        self.stores: dict[Kind[Any], Store[Any]] = {kind: Store(kind) for kind in self.kinds}
        # The kinds that must be followed; more are added when somebody asks for them.
        self.wanted = dict.fromkeys(kind for kind in self.kinds if not (kind.on_demand or kind.by_name))
        # Grows whenever a definition makes other kinds wanted.
        self.redefined = 0
        # All kinds by what the API calls them, those that are only written too.
        self.names = by_name(kind for c in self.controllers for kind in (*c.kinds, *c.writes))
        # The views that show one kind of the API, where there are several: what was written must be seen in each.
        self._views = _several_views(self.kinds)
        # How many questions are open about each object that is followed by its name.
        self._single: dict[Kind[Any], int] = {}
        self.queue: WorkQueue[Asker] = WorkQueue(jitter)
        # Keys that run in circles, by what they were about to do.
        self.loops: dict[Asker, str] = {}
        self._readable = {controller: frozenset(controller.kinds) for controller in self.controllers}
        every = [each for c in self.controllers for each in (c.defined, *(fold.defined for fold in c.folds))]
        self._definitions = Definitions([each for each in every if each is not None], self.kinds)
        self._folds = {fold: fold.start() for fold in dict.fromkeys(f for c in self.controllers for f in c.folds)}
        self._folds_of = {kind: [f for f in self._folds if kind in f.kinds] for kind in self.kinds}
        self._keyed_by = {kind: [c for c in self.controllers if c.of is kind] for kind in self.kinds}
        self._questions: dict[Asker, set[Question]] = {}
        # Those who asked a question, in order: whoever runs first must not depend on where objects lie in memory.
        self._askers: dict[tuple[Any, ...], dict[Asker, None]] = {}
        # The indexes of a kind by which anybody ever asked for a list or a count; by the others nobody is looked up.
        self._listed: dict[Kind[Any], set[str]] = {}
        self._dirty: dict[Asker, bool] = {}
        self._memory: dict[Asker, Any] = {}
        # Why a key's writes were refused, and the keys that want to know.
        self._problems: dict[Asker, str] = {}
        self._troubled: set[Asker] = set()
        self._intents: dict[Asker, Intents] = {}
        self._holds: Holds[Asker] = Holds(self.stores)
        self._held_back: set[Asker] = set()
        # Who wrote an object last, which version that was, and whether the writer has no use for seeing it.
        self._own: dict[tuple[Kind[Any], Key], tuple[Asker, int, bool]] = {}
        # What a key wrote last, and how often in a row it wrote some of that again for its own sake.
        self._circles: dict[Asker, tuple[set[tuple[str, str, str, str]], int]] = {}
        self._timers: dict[Asker, set[datetime]] = {}
        # Those of the timers that only look again: they do not keep a simulation from settling.
        self._polls: dict[Asker, set[datetime]] = {}
        self._alarms: list[tuple[datetime, int, Asker]] = []
        self._alarm_count = 0
        self._folded: dict[Fold[Any], None] = {}
        self._rested: dict[Fold[Any], datetime] = {}
        for controller in self.controllers:
            if controller.of is None:
                self._wake(Asker(controller, ALL), foreign=True)

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

    def take_list(self, kind: Kind[Any], items: Iterable[Sighting], version: int) -> None:
        """The same for a list that has been read."""
        store = self.stores[kind]
        first = not store.synced
        if version < store.seen:
            self._release(kind)
        for change in store.resync(items, version):
            self._changed(kind, change)
        if first:
            self._wake_all(SyncQuestion(kind), foreign=True)

    def look(self, kind: Kind[Any], key: Key, item: Object | None) -> None:
        """One object as a live read found it, None if it is not there. It says nothing about other objects."""
        for view in self.views_of(kind):
            if view.only is not None and view.only != key:
                continue
            store = self.stores[view]
            found = item if item is not None and has_labels(view, item["metadata"].get("labels") or {}) else None
            change = store.remove(key, store.version(key) or 0) if found is None else store.put(found)
            if change is not None:
                self._changed(view, change)

    def _release(self, kind: Kind[Any]) -> None:
        """The server counts its versions anew: nobody will see the ones that keys wait for."""
        for asker in self._holds.release(kind):
            self._held_back.discard(asker)
            self._wake(asker, foreign=True)

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
        askers = self._askers
        # Questions are tuples; spelling them out as such spares making one for every place that nobody asked about.
        for asker in askers.get((kind, change.key), ()):
            if asker != spared:
                self._wake(asker, foreign=asker != writer)
        if kind in self._listed:
            for index, value, counter in store.lookups(change, self._listed[kind]):
                for asker in askers.get((kind, index, value, counter), ()):
                    if asker != spared:
                        self._wake(asker, foreign=asker != writer)
        for fold in self._folds_of[kind]:
            if fold.apply(self._folds[fold], kind, change):
                self._folded[fold] = None
        if kind in self._definitions.by:
            for news in self._definitions.take(kind, change):
                self._redefine(news)
        if change.old is None:
            for controller in self._keyed_by[kind]:
                self._wake(Asker(controller, change.key), foreign=True)
        self._holds.changed(kind, change.key)

    # What is defined

    def _redefine(self, news: Redefined) -> None:
        """Follow the kind that a definition now stands for, and no longer the one that it stood for."""
        self.redefined += 1
        defined, old, new = news
        if new is not None and new not in self.stores:
            self._open(new)
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

    def _open(self, kind: Kind[Any]) -> None:
        """Make room for a kind that was not declared as such."""
        self.stores[kind] = Store(kind)
        self._folds_of[kind], self._keyed_by[kind] = [], []

    def _count_single(self, kind: Kind[Any], by: int) -> None:
        """Count the questions about an object that is followed by its name, and follow it no longer than they last."""
        self._single[kind] = left = self._single.get(kind, 0) + by
        siblings = self._views.setdefault((kind.api_version, kind.kind), [])
        if kind not in siblings:
            siblings.append(kind)
        if not left:
            del self._single[kind]
            siblings.remove(kind)
            self.wanted.pop(kind, None)
            self._release(kind)
            del self.stores[kind], self._folds_of[kind], self._keyed_by[kind]
            self.redefined += 1

    def _add_folds(self, defined: Defined, kind: Kind[Any]) -> None:
        """Those who follow what is defined take in what was seen of a kind before."""
        for fold in self._folds:
            if fold.defined is defined and fold not in self._folds_of[kind]:
                self._folds_of[kind].append(fold)
                for seen in self.stores[kind].sightings():
                    self._fold(fold, kind, Changed(seen.key, None, seen.view))

    def _carry_over(self, defined: Defined, old: Kind[Any], new: Kind[Any]) -> None:
        """Another version of one kind: its objects are the same, and the next list tells which of them are gone."""
        before = self._unfollow(defined, old)
        store = self.stores[new]
        for seen in before.sightings():
            store.take(seen)
        self._add_folds(defined, new)

    def _drop_kind(self, defined: Defined, kind: Kind[Any]) -> None:
        """A kind goes with its objects, whether or not anybody told of each of them."""
        folds = [fold for fold in self._folds_of[kind] if fold.defined is defined]
        before = self._unfollow(defined, kind)
        for seen in before.sightings():
            for fold in folds:
                self._fold(fold, kind, Changed(seen.key, seen.view, None))

    def _unfollow(self, defined: Defined, kind: Kind[Any]) -> Store[Any]:
        """Stop following a kind, unless a controller declares it; gives what was seen of it."""
        before = self.stores[kind]
        self._folds_of[kind] = [fold for fold in self._folds_of[kind] if fold.defined is not defined]
        if kind not in self.kinds:
            self.wanted.pop(kind, None)
            self._release(kind)
            self.stores[kind] = Store(kind)
            self.lose(kind, NOT_DEFINED)
            for seen in before.sightings():
                self._holds.changed(kind, seen.key)
        return before

    def _fold(self, fold: Fold[Any], kind: Kind[Any], change: Changed) -> None:
        if fold.apply(self._folds[fold], kind, change):
            self._folded[fold] = None

    def _wake_all(self, question: tuple[Any, ...], *, foreign: bool) -> None:
        for asker in self._askers.get(question, ()):
            self._wake(asker, foreign=foreign)

    def _wake(self, asker: Asker, *, foreign: bool) -> None:
        self._dirty[asker] = self._dirty.get(asker, False) or foreign

    # Who runs

    def flush(self, now: datetime) -> None:
        """Line up every key that something has changed for; changes at one instant count as one."""
        for asker in self._holds.over():
            if asker in self._held_back:
                self._held_back.discard(asker)
                self._dirty.setdefault(asker, False)
        while self._alarms and self._alarms[0][0] <= now:
            moment, _, asker = heapq.heappop(self._alarms)
            timers = self._timers.get(asker, set())
            if moment in timers:
                timers.discard(moment)
                if not timers:
                    del self._timers[asker]
                self._wake(asker, foreign=True)
        dirty, self._dirty = self._dirty, {}
        if self._folded:
            # Those who decide for many go first, so that the others see what came of it in the same run.
            self._wake_for_folds(now)
            for asker, foreign in dirty.items():
                self._wake(asker, foreign=foreign)
            dirty, self._dirty = self._dirty, {}
        for asker, foreign in dirty.items():
            if foreign:
                self._circles.pop(asker, None)
            if asker in self._holds:
                self._held_back.add(asker)
            elif self._rests_until and self._rests_until.get(asker, now) > now:
                self._alarm(self._rests_until[asker], asker)
            else:
                self.queue.add(asker)

    def _wake_for_folds(self, now: datetime) -> None:
        """Askers of a fold share one answer and are woken at most once per interval."""
        for fold in list(self._folded):
            ready = self._rested.get(fold, now)
            if ready <= now:
                del self._folded[fold]
                self._rested[fold] = now + fold.interval
                self._wake_all(FoldQuestion(fold), foreign=True)
            else:
                for asker in self._askers.get(FoldQuestion(fold), ()):
                    if ready not in self._timers.get(asker, ()):
                        self._alarm(ready, asker)

    def rewind(self) -> None:
        """The clock was set back: a moment that is far off now may have been near, so whoever waits asks again."""
        self._rested.clear()
        for asker in list(self._timers):
            self._wake(asker, foreign=True)

    def next_alarm(self) -> datetime | None:
        """When the next key wants to run, if nothing happens before."""
        while self._alarms and self._alarms[0][0] not in self._timers.get(self._alarms[0][2], ()):
            heapq.heappop(self._alarms)
        return self._alarms[0][0] if self._alarms else None

    def only_polls(self) -> bool:
        """Whether every alarm is somebody looking again at what may never change."""
        return all(moments <= self._polls.get(asker, set()) for asker, moments in self._timers.items())

    def alarms(self) -> list[tuple[datetime, Asker]]:
        """Every key that waits for a moment, for those who ask what keeps moving."""
        return sorted(((m, a) for a, moments in self._timers.items() for m in moments), key=lambda pair: pair[0])

    def next(self, now: datetime) -> Task | None:
        """Run the next key in line. Its requests must be carried out and reported before it runs again."""
        asker = self.queue.take()
        return None if asker is None else self.decide(asker, now)

    def decide(self, asker: Asker, now: datetime) -> Task:
        """Run a key that was taken from the queue. Whatever its function raises comes through."""
        controller = asker.controller
        if controller.min_interval:
            self._rests_until[asker] = now + controller.min_interval
        problem = self._problems.get(asker, "")
        memory, defined = self._memory.get(asker), self._definitions.now
        view = View(
            self.stores,
            self._folds,
            self._readable[controller],
            now,
            memory,
            problem,
            defined,
            self._gates[controller],
        )
        try:
            decision = controller.reconcile(asker.key, view, now)
        except Unavailable as missing:
            if missing.kind not in self.stores:
                self._open(missing.kind)
            self.wanted.setdefault(missing.kind)
            return Task(asker, (), unavailable=str(missing))
        finally:
            self._subscribe(asker, view)
        if decision.memory is not None:
            self._remember(asker, decision.memory)
        else:
            self._memory.pop(asker, None)
        stages: Sequence[Sequence[Request]] = ()
        runs = self._wanted_runs(asker, decision.effects) if decision.effects else ()
        if runs:
            decision = decision._replace(records=self._records(runs, now))
        if not decision.empty:
            intents = self._intents.setdefault(asker, Intents())
            also = () if controller.defined is None else self._definitions.now[controller.defined]
            stages = requests_for(controller, decision, self._store_of, intents, also)
        self._watch_for_circles(asker, stages)
        for sample in decision.metrics:
            if sample.metric not in controller.metrics:
                raise MooringError(f"{controller.name} counts {sample.metric.name}, which it does not declare")
        return Task(asker, stages, decision.events, runs, final=decision.final, metrics=decision.metrics)

    def _remember(self, asker: Asker, memory: Any) -> None:
        declared = asker.controller.memory
        if declared is None or not isinstance(memory, declared):
            wanted = "nothing" if declared is None else declared.__name__
            raise MooringError(
                f"{asker.controller.name} declares to remember {wanted}, and remembers {type(memory).__name__}"
            )
        self._memory[asker] = memory

    def _wanted_runs(self, asker: Asker, runs: tuple[Run, ...]) -> tuple[Run, ...]:
        """The runs of a decision that have not ended."""
        found = []
        for run in runs:
            if run.effect not in asker.controller.effects:
                raise MooringError(f"{asker.controller.name} runs effect {run.effect.name}, which it does not declare")
            obj = self._seen(run)
            record = None if obj is None else record_of(run, obj)
            if obj is not None and not (record is not None and record.id == run.id and record.is_finished):
                found.append(run._replace(uid=obj.metadata.uid))
        return tuple(found)

    def _records(self, runs: Iterable[Run], now: datetime) -> tuple[Patch, ...]:
        """What puts the runs on record that are not, one write for each object."""
        found: dict[tuple[Kind[Any], Key], Object] = {}
        for run in runs:
            record = record_of(run, self._seen(run))
            if record is None or record.id != run.id:
                target = run.kind, run.key
                found[target] = merge_patch(found.get(target, {}), started(run, now))
        return tuple(Patch(kind, key, body, "status") for (kind, key), body in found.items())

    def _seen(self, run: Run) -> Any:
        store = self._store_of(run.kind, run.key)
        return None if store is None else store.get(run.key)

    def _subscribe(self, asker: Asker, view: View) -> None:
        old = self._questions.get(asker, set())
        if old != view.questions:
            for question in view.questions - old:
                self._askers.setdefault(question, {})[asker] = None
                if isinstance(question, ListQuestion):
                    self._listed.setdefault(question.kind, set()).add(question.by)
                elif not isinstance(question, FoldQuestion) and question.kind.only is not None:
                    self._count_single(question.kind, 1)
            self._drop(asker, old - view.questions)
            self._questions[asker] = view.questions
        (self._troubled.add if view.asks_for_problems else self._troubled.discard)(asker)
        # Most keys wait for no moment, and must not be looked through by those who ask for the next one.
        self._timers.pop(asker, None)
        self._polls.pop(asker, None)
        if view.polls:
            self._polls[asker] = view.polls - view.timers
        for moment in view.timers | view.polls:
            self._alarm(moment, asker)

    def _drop(self, asker: Asker, questions: Iterable[Question]) -> None:
        for question in questions:
            askers = self._askers[question]
            del askers[asker]
            if not askers:
                del self._askers[question]
            if isinstance(question, GetQuestion | SyncQuestion) and question.kind.only is not None:
                self._count_single(question.kind, -1)

    def _alarm(self, moment: datetime, asker: Asker) -> None:
        self._alarm_count += 1
        self._timers.setdefault(asker, set()).add(moment)
        heapq.heappush(self._alarms, (moment, self._alarm_count, asker))

    def _watch_for_circles(self, asker: Asker, stages: Sequence[Sequence[Request]]) -> None:
        if not stages:
            self._circles.pop(asker, None)
            return
        written: set[tuple[str, str, str, str]] = {
            (r.verb, r.kind, r.namespace, r.name) for stage in stages for r in stage
        }
        before, times = self._circles.get(asker, (set(), 0))
        if not written & before:
            # Nothing, or other objects than before: that is progress.
            times = 0
        self._circles[asker] = written, times + 1
        if times >= LOOP_LIMIT:
            first = next(request for stage in stages for request in stage)
            self.loops[asker] = f"{first.verb} {first.kind} {Key(first.namespace, first.name)} again and again"

    # What came of it

    def settle(self, task: Task, outcome: Outcome, now: datetime) -> None:
        """A task's requests have been carried out, or as many as went well."""
        asker = task.asker
        for (kind, key), version in outcome.versions.items():
            self._own[kind, key] = (asker, version, task.final)
        if outcome.versions or outcome.gone:
            newest: dict[Kind[Any], int] = {}
            for (kind, key), version in outcome.versions.items():
                for view in self._showing(task, kind, key, outcome.labels.get((kind, key))):
                    newest[view] = max(newest.get(view, 0), version)
                    if view.is_partial:
                        self._own[view, key] = (asker, version, task.final)
            gone = [(view, key, uid) for kind, key, uid in outcome.gone for view in self.views_of(kind)]
            self._holds.hold(asker, newest, gone)
        if outcome.stopped:
            # What was not carried out must not count as sent.
            self._intents.pop(asker, None)
        elif asker in self._intents:
            self._intents[asker].left(outcome.versions)
        if outcome.failed:
            self._retry(asker, now + (outcome.retry_after or self.queue.backoff(asker)))
        elif outcome.terminal or outcome.postponed:
            # What refuses a write may lie outside of what is seen (a quota, access rules, a webhook), so it is tried
            # again; a simulation that waits for nothing else has settled.
            moment = now + (outcome.retry_after or self.queue.backoff(asker))
            self._polls.setdefault(asker, set()).add(moment)
            self._alarm(moment, asker)
        elif asker in self.loops:
            # What goes in circles is slowed down rather than stopped: the cluster may be to blame.
            self._retry(asker, now + self.queue.backoff(asker))
        else:
            self.queue.forget(asker)
        held, rests = asker in self._holds, asker in self._rests_until
        if self.queue.done(asker, held=held or rests):
            if held:
                self._held_back.add(asker)
            elif rests:
                self._wake(asker, foreign=True)
        self._note_problem(asker, outcome)
        primary = asker.controller.of
        if primary is not None and self.stores[primary].get(asker.key) is None and not self._timers.get(asker):
            self._forget(asker)

    def views_of(self, kind: Kind[Any]) -> Sequence[Kind[Any]]:
        """The views that are followed of what the API calls one kind; none of what nobody reads."""
        return self._views.get((kind.api_version, kind.kind)) or ((kind,) if kind in self.stores else ())

    def _showing(self, task: Task, kind: Kind[Any], key: Key, labels: Mapping[str, str] | None) -> Iterator[Kind[Any]]:
        """The views in which a write of an object will be seen."""
        for view in self.views_of(kind):
            if view is kind and not view.is_partial:
                yield view
            elif view.only is not None:
                if view.only == key and self.stores[view].synced:
                    yield view
            elif view.is_partial:
                # A watch by labels tells of an object that has them, or has had them.
                store = self.stores[view]
                if store.synced and (store.get(key) is not None or has_labels(view, labels or {})):
                    yield view
            elif self.stores[view].synced and (view.on_demand or view in self._readable[task.asker.controller]):
                yield view

    def _store_of(self, kind: Kind[Any], key: Key) -> Store[Any] | None:
        """Where an object was seen that is written as one of a kind."""
        if kind in self.stores and not kind.by_name:
            return self.stores[kind]
        stores = (self.stores[view] for view in self.views_of(kind))
        return next((store for store in stores if store.get(key) is not None), None)

    def _retry(self, asker: Asker, moment: datetime) -> None:
        # If it falls on a moment at which the key would only have looked again, it is more than that now.
        self._polls.get(asker, set()).discard(moment)
        self._alarm(moment, asker)

    def _note_problem(self, asker: Asker, outcome: Outcome) -> None:
        problem = outcome.terminal or ("" if outcome.stale else outcome.failed) or outcome.postponed
        if problem == self._problems.get(asker, ""):
            return
        if problem:
            self._problems[asker] = problem
        else:
            del self._problems[asker]
        if asker in self._troubled:
            self._wake(asker, foreign=True)

    def _forget(self, asker: Asker) -> None:
        """An object that is gone leaves nothing behind but what its key still asks about others."""
        self._memory.pop(asker, None)
        self._rests_until.pop(asker, None)
        self._intents.pop(asker, None)
        self._circles.pop(asker, None)
        self._problems.pop(asker, None)
        self._troubled.discard(asker)
        primary = asker.controller.of
        if primary is not None and self._questions.get(asker) == {GetQuestion(primary, asker.key)}:
            # An object that comes back wakes its key whether or not that was asked for.
            self._drop(asker, self._questions.pop(asker))

    @property
    def restless(self) -> bool:
        """Whether there are keys to line up."""
        return bool(self._dirty)

    @property
    def idle(self) -> bool:
        """Whether nothing is in line and nobody waits to see its own writes."""
        return not (self._dirty or len(self.queue) or self.queue.running or self._holds)

    def pending_sight(self) -> list[Kind[Any]]:
        """Kinds whose watch still has to deliver writes of ours."""
        return self._holds.kinds()


def _several_views(kinds: Iterable[Kind[Any]]) -> dict[tuple[str, str], list[Kind[Any]]]:
    """The kinds that are one to the API, for those of which there are several."""
    found: dict[tuple[str, str], list[Kind[Any]]] = {}
    for kind in kinds:
        if not kind.by_name:
            found.setdefault((kind.api_version, kind.kind), []).append(kind)
    return {name: views for name, views in found.items() if len(views) > 1 or views[0].is_partial}
