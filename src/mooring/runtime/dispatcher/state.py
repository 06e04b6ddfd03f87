"""The state of the dispatcher: one line per attribute with its invariant, and `validate_state`, which checks them.

Invariants hold between two calls of the dispatcher's methods. Tests check them at the end of every simulated run; a run
of a plan or of a live cluster does not pay for that.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from mooring.api.kinds import Key, Kind, by_name
from mooring.runtime.controller import Controller
from mooring.runtime.dispatcher.assumptions import Assumptions
from mooring.runtime.dispatcher.dynamickinds import Definitions
from mooring.runtime.dispatcher.expectations import Expectations
from mooring.runtime.dispatcher.hotloop import HotLoops
from mooring.runtime.dispatcher.memories import Memories
from mooring.runtime.dispatcher.problems import Problems
from mooring.runtime.dispatcher.queue import WorkQueue
from mooring.runtime.dispatcher.requests import Intents
from mooring.runtime.dispatcher.stores import Stores
from mooring.runtime.dispatcher.subscriptions import Subscriptions
from mooring.runtime.dispatcher.task import ReconcileRequest
from mooring.runtime.dispatcher.timers import Timers
from mooring.runtime.folds import Fold
from mooring.runtime.settings import DEFAULTS, Configuration


class DispatcherState:
    def __init__(
        self, controllers: Iterable[Controller], jitter: random.Random, configuration: Configuration = DEFAULTS
    ) -> None:
        # Fixed for the life of the dispatcher, and so is the order: it decides which key runs first.
        self.controllers = tuple(controllers)
        # One entry per controller, with the gates and the settings that it declares and no others.
        self._gates = {c: configuration.gates_of(c.gates) for c in self.controllers}
        self._settings = {c: configuration.settings_of(c.settings) for c in self.controllers}
        self._running = frozenset(configuration.running)
        # When a key may run next. Only keys of controllers with a `min_interval` are here.
        self._rests_until: dict[ReconcileRequest, datetime] = {}
        # The kinds that controllers declare; dynamic kinds are not among them.
        self.kinds = tuple(dict.fromkeys(kind for c in self.controllers for kind in c.kinds))
        indexers = [each for c in self.controllers for each in c.indexers]
        # Every kind that is followed has a store; a kind with a store may not be followed any more.
        self.stores = Stores(self.kinds, indexers)
        # The kinds that the driver must follow, all of which have a store. Reading an on-demand kind adds it.
        self.wanted = dict.fromkeys(kind for kind in self.kinds if not (kind.on_demand or kind.by_name))
        # Grows whenever `wanted` loses or gains a kind by a definition; a driver compares it with what it saw last.
        self.redefined = 0
        # All kinds by apiVersion and kind, also those that are only written.
        self.names = by_name(kind for c in self.controllers for kind in (*c.kinds, *c.writes))
        # A key is ready at most once, and never ready while it runs or has expectations.
        self.queue: WorkQueue[ReconcileRequest] = WorkQueue(jitter)
        # Counts the writes of a key in a row that nothing but the key itself caused.
        self.hot_loops: HotLoops[ReconcileRequest] = HotLoops()
        # The kinds that a controller may read: those it declares, and the dynamic ones as they are defined now.
        self._readable = {controller: frozenset(controller.kinds) for controller in self.controllers}
        every = [each for c in self.controllers for each in (c.defined, *(fold.defined for fold in c.folds))]
        # The kinds that observed definitions stand for.
        self._definitions = Definitions([each for each in every if each is not None], self.kinds)
        # The state of every fold that a controller declares, started once.
        self._folds = {fold: fold.start() for fold in dict.fromkeys(f for c in self.controllers for f in c.folds)}
        # The folds that take in changes of a kind. Every one of them is in `_folds`.
        self._folds_of = {kind: [f for f in self._folds if kind in f.kinds] for kind in self.kinds}
        # The controllers whose keys are the objects of a kind.
        self._keyed_by = {kind: [c for c in self.controllers if c.of is kind] for kind in self.kinds}
        # The questions of each key's last pass, and the keys of each question: the one is the inverse of the other.
        self._subscriptions: Subscriptions[ReconcileRequest] = Subscriptions()
        # Keys to enqueue at the next flush, and whether something other than their own write changed.
        self._dirty: dict[ReconcileRequest, bool] = {}
        # What a decision gave its key to remember. A process that restarts has none of it.
        self._memories: Memories[ReconcileRequest] = Memories()
        # Why the last writes of a key were refused. A key that asked for it is woken when it changes.
        self._problems: Problems[ReconcileRequest] = Problems()
        # The writes that a key has sent, so that an unchanged decision sends nothing.
        self._intents: dict[ReconcileRequest, Intents] = {}
        # Keys that must observe their own writes before they run again.
        self.expectations: Expectations[ReconcileRequest] = Expectations(self.stores)
        # Keys that changed while they had expectations. They are enqueued as soon as those are met.
        self._waiting: set[ReconcileRequest] = set()
        # The key that wrote an object last, the version of that write, and whether observing it needs no further pass.
        self._own: dict[tuple[Kind[Any], Key], tuple[ReconcileRequest, int, bool]] = {}
        # What the last decision of each key assumed, until its next pass.
        self._assumptions: Assumptions[ReconcileRequest] = Assumptions(self._folds)
        # The moments at which keys want to run, if nothing happens before.
        self.timers: Timers[ReconcileRequest] = Timers()
        # Folds that changed since their readers were woken, and when the readers of a fold may be woken next.
        self._folded: dict[Fold[Any], None] = {}
        self._rested: dict[Fold[Any], datetime] = {}

    def validate_state(self) -> None:
        """Raise AssertionError for the first invariant that does not hold."""
        self.queue.validate()
        self._subscriptions.validate()
        self.timers.validate()
        for kind in self.wanted:
            assert kind in self.stores, f"{kind} is wanted and has no store"
        for kind, folds in self._folds_of.items():
            assert set(folds) <= set(self._folds), f"a fold over {kind} was never started"
        assert {*self._folded, *self._rested} <= set(self._folds), "a fold that was never started has changed"
        for request in self.queue.ready:
            assert request not in self.expectations, f"{request} is ready before it has observed its own writes"
        for request in self._waiting:
            assert self.expectations.holds(request), f"{request} waits for writes that it does not expect to observe"
        for request in self._rests_until:
            assert request.controller.min_interval, f"{request} rests without a minimum interval"
