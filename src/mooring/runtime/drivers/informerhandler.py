"""What is followed of one kind, fed into the dispatcher as it comes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from mooring.api.kinds import Kind
from mooring.client.transport import Change, Item
from mooring.kube.prometheus import Metric
from mooring.runtime.dispatcher.dispatcher import Dispatcher
from mooring.runtime.dispatcher.observedobject import ObservedObject
from mooring.runtime.logs import say


class ReflectorMetrics:
    """What is counted of every kind that is followed."""

    def __init__(self, kinds: Sequence[Kind[Any]]) -> None:
        names = [kind.described for kind in kinds]
        self.events = Metric("mooring_watch_events_total", "counter", "Events of watches taken in.", ("kind",))
        self.unreadable = Metric(
            "mooring_unreadable_total", "counter", "Objects left out because they could not be read.", ("kind",)
        )
        self.synced = Metric("mooring_kind_synced", "gauge", "Whether a kind can be read.", ("kind",))
        self.troubles = Metric("mooring_watch_troubles_total", "counter", "Lists and watches that failed.", ("kind",))
        self.all = (self.events, self.unreadable, self.synced, self.troubles)
        for metric in self.all:
            metric.start(names)


class DispatcherHandler:
    """The sink of one kind. `wake` is called after anything that may let a key run."""

    def __init__(
        self,
        kind: Kind[Any],
        dispatcher: Dispatcher,
        metrics: ReflectorMetrics,
        *,
        wake: Callable[[], None],
        tell: Callable[[Kind[Any], str], None],
        relisted: Callable[[Kind[Any]], None],
    ) -> None:
        self._kind, self._name = kind, kind.described
        self._dispatcher = dispatcher
        self._metrics = metrics
        self._wake = wake
        self._tell = tell
        self._relisted = relisted
        self._read = dispatcher.stores[kind].read
        self._found: list[ObservedObject] = []
        self._why_lost = ""

    def begin(self) -> None:
        self._found = []
        self._relisted(self._kind)

    def page(self, items: Sequence[Item]) -> None:
        found, read = self._found, self._read
        for item in items:
            try:
                found.append(read(item))
            except Exception as error:
                self._leave_out(error)

    def listed(self, resource_version: str) -> None:
        found, self._found = self._found, []
        self._dispatcher.take_list(self._kind, found, int(resource_version))
        self._metrics.synced.set(self._name, value=1)
        if self._why_lost:
            self._why_lost = ""
            say(logging.INFO, f"{self._name} can be read now", kind=self._name)
        self._wake()

    def changed(self, changes: Sequence[Change]) -> None:
        observe, kind = self._dispatcher.observe, self._kind
        if kind not in self._dispatcher.stores:
            # The last key that asked for it by name no longer does; the watch ends in the next round.
            return
        for event, item in changes:
            try:
                observe(kind, event, item)
            except Exception as error:
                self._leave_out(error)
        self._metrics.events.add(self._name, amount=len(changes))
        self._wake()

    def _leave_out(self, error: Exception) -> None:
        """One object that cannot be read must not keep all others from being seen."""
        self._metrics.unreadable.add(self._name)
        say(logging.ERROR, str(error) or type(error).__name__, kind=self._name)

    def lost(self, why: str) -> None:
        self._metrics.troubles.add(self._name)
        self._tell(self._kind, "")
        if why == self._why_lost:
            return
        self._why_lost = why
        self._metrics.synced.set(self._name, value=0)
        level = logging.INFO if self._kind.optional else logging.WARNING
        readers = ", ".join(c.name for c in self._dispatcher.controllers if self._kind in c.kinds)
        needed = f" ({readers} cannot do without)" if readers and not self._kind.optional else ""
        say(level, f"{self._name} cannot be read: it {why}{needed}", kind=self._name)
        self._dispatcher.lose(self._kind, why)
        self._wake()

    def troubled(self, why: str) -> None:
        if why:
            self._metrics.troubles.add(self._name)
        self._tell(self._kind, why)
