"""A watch: the changes of a kind since a revision, as one reader wants to see them.

Delivery is pulled and synchronous, so that a driver with virtual time and an asynchronous server can both sit on it: a
server passes `wake` and polls when it is called. A reader that falls behind what the history keeps gets 410 from `poll`
and lists anew.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from mooring.kube.objects import Object
from mooring.registry.history import History, HistoryEntry

__all__ = ["EventType", "Watch", "WatchEvent"]

EventType = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]

_INITIAL_EVENTS_END = "k8s.io/initial-events-end"


class WatchEvent(NamedTuple):
    """One line of a watch. The object is shared with the store and must not be mutated."""

    type: EventType
    object: Object


def at_revision(obj: Object, revision: int) -> Object:
    """The object with another resourceVersion; the rest is shared."""
    return {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(revision)}}


class Watch:
    """Made by `Registry.watch`. `revision` is that of the last change seen, whether or not it was of interest; `behind`
    says whether the last poll left changes for the next."""

    def __init__(
        self,
        history: History,
        position: int,
        revision: int,
        *,
        namespace: str | None,
        matches: Callable[[Object], bool] | None,
        convert: Callable[[Object], Object] | None,
        current: Callable[[], int],
        api_version: str,
        kind: str,
    ) -> None:
        self.revision = revision
        self.behind = False
        self._history = history
        self._position = position
        self._namespace = namespace
        self._matches = matches
        self._convert = convert
        self._current = current
        self._type = {"kind": kind, "apiVersion": api_version}
        self._initial: list[WatchEvent] = []
        self._stop: Callable[[], None] | None = None

    def begin_with(self, items: list[Object], *, marked: bool) -> None:
        """Send what exists first; `marked` ends it with the bookmark that says so."""
        self._initial = [WatchEvent("ADDED", item) for item in items]
        if marked:
            self._initial.append(self._bookmark(annotations={_INITIAL_EVENTS_END: "true"}))

    def on_change(self, wake: Callable[[], None]) -> None:
        """Call `wake` after every change of the store until the watch is closed."""
        self._stop = self._history.listen(wake)

    def close(self) -> None:
        if self._stop is not None:
            self._stop()
            self._stop = None

    def poll(self, until: int | None = None, most: int | None = None) -> list[WatchEvent]:
        """What happened since the last call; `until` leaves later revisions for another time, and `most` what is more
        than so many changes."""
        if self._initial and until is not None and until < self.revision:
            return []
        changes = self._changes(until)
        self.behind = most is not None and len(changes) > most
        if self.behind:
            changes = changes[:most]
        if not changes:
            events, self._initial = self._initial, []
            return events
        events = list(self._initial)
        for change in changes:
            if self._namespace is not None and change.namespace != self._namespace:
                continue
            event = self._event(change)
            if event is not None:
                events.append(event if self._convert is None else WatchEvent(event.type, self._convert(event.object)))
        # Last: when a conversion fails, the same changes are there to be polled again.
        self._initial = []
        self._position += len(changes)
        self.revision = max(self.revision, changes[-1].revision)
        return events

    def _changes(self, until: int | None) -> Sequence[HistoryEntry]:
        if self._position == self._history.end:
            return ()
        changes = self._history.since(self._position, self.revision)
        if until is not None and changes[-1].revision > until:
            return changes[: bisect_right(changes, until, key=lambda change: change.revision)]
        return changes

    def _event(self, change: HistoryEntry) -> WatchEvent | None:
        """An object that enters the selection is added and one that leaves it is deleted, whatever the write was."""
        matches, new, old = self._matches, change.object, change.previous
        if matches is not None:
            new = new if new is not None and matches(new) else None
            old = old if old is not None and matches(old) else None
        if new is None:
            return None if old is None else WatchEvent("DELETED", at_revision(old, change.revision))
        return WatchEvent("ADDED" if old is None else "MODIFIED", new)

    def bookmark(self, until: int | None = None) -> WatchEvent:
        """Says how far the watch has come; poll first. A server sends one now and then on watches that ask for it."""
        if self._position == self._history.end:
            # Nothing of this kind is pending, so the reader is up to date with the whole store.
            self.revision = max(self.revision, self._current() if until is None else until)
        return self._bookmark()

    def _bookmark(self, **metadata: Any) -> WatchEvent:
        return WatchEvent("BOOKMARK", {**self._type, "metadata": {"resourceVersion": str(self.revision), **metadata}})
