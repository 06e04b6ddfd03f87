"""The history of one store, for watches and for lists at an earlier revision.

A ring of changes, each with the object before and after, bounded in number and, with a `HistoryBudget`, in bytes. A
watch reads on from a position; a list at an earlier revision is the current list with the later changes undone. A
request for a revision that is no longer kept gets 410.
"""

from bisect import bisect_right, insort
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from mooring.kube.objects import Object
from mooring.kube.status import ExpiredError
from mooring.registry.history_budget import HistoryBudget, memory_bytes

__all__ = ["History", "HistoryEntry", "order"]


_STEP: Final = 256


class HistoryEntry(NamedTuple):
    """One write. `object` is None for a removal; `previous` is None for a creation."""

    revision: int
    namespace: str
    name: str
    object: Object | None
    previous: Object | None


def _place(obj: Object) -> tuple[str, str]:
    metadata = obj["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def order(obj: Object) -> str:
    """The key by which lists are ordered."""
    metadata = obj["metadata"]
    return f"{metadata.get('namespace', '')}/{metadata['name']}"


def _revision(change: HistoryEntry) -> int:
    return change.revision


class History:
    """The changes of one store, oldest first. Positions count all changes ever recorded and never shift."""

    def __init__(self, revision: int, limit: int, budget: HistoryBudget | None = None) -> None:
        self._changes: list[HistoryEntry] = []
        self._base = 0
        self._limit = limit
        self._budget = budget
        # With a budget: for each change the bytes of the object that nothing else holds any more, and their sum.
        self._sizes: list[int] = []
        self.held_bytes = 0
        if budget is not None:
            budget.join(self)
        self._listeners: list[Callable[[], None]] = []
        # Changes up to this revision are not kept.
        self.compacted = revision

    @property
    def end(self) -> int:
        return self._base + len(self._changes)

    def record(self, change: HistoryEntry) -> None:
        self._changes.append(change)
        if self._budget is not None:
            size = 0 if change.previous is None else memory_bytes(change.previous)
            self._sizes.append(size)
            self._hold(size)
            self._budget.enforce()
        # Some at a time: moving what stays costs little, freeing twenty thousand objects at once a tenth of a second.
        if len(self._changes) >= self._limit + min(self._limit, _STEP):
            self._drop(len(self._changes) - self._limit)
        # A copy, because a listener may remove itself when it is woken.
        for wake in tuple(self._listeners):
            wake()

    def compact(self, revision: int) -> None:
        """Forget changes up to a revision."""
        self._drop(bisect_right(self._changes, revision, key=_revision))
        self.compacted = max(self.compacted, revision)

    def _drop(self, count: int) -> None:
        if count:
            self.compacted = max(self.compacted, self._changes[count - 1].revision)
            del self._changes[:count]
            self._base += count
            if self._budget is not None:
                self._hold(-sum(self._sizes[:count]))
                del self._sizes[:count]

    def _hold(self, size: int) -> None:
        assert self._budget is not None
        self.held_bytes += size
        self._budget.held_bytes += size

    def forget_oldest(self) -> bool:
        """For the budget. The last change stays: who follows has seen the one before."""
        if len(self._changes) < 2:
            return False
        self._drop(1)
        return True

    def position(self, revision: int) -> int:
        """Where to read on after a revision; 410 when what follows it is no longer complete."""
        if revision < self.compacted:
            raise ExpiredError.too_old(revision, self.compacted)
        return self._base + bisect_right(self._changes, revision, key=_revision)

    def since(self, position: int, revision: int) -> Sequence[HistoryEntry]:
        """The changes from a position on; `revision` is the last one the reader has seen."""
        if position < self._base:
            raise ExpiredError.too_old(revision, self.compacted)
        return self._changes[position - self._base :]

    def touched(self, revision: int, namespace: str | None) -> dict[tuple[str, str], Object | None]:
        """What has changed since a revision, by namespace and name, as it was then; None for what was not there."""
        found: dict[tuple[str, str], Object | None] = {}
        for change in self._changes[self.position(revision) - self._base :]:
            if namespace is None or change.namespace == namespace:
                found.setdefault((change.namespace, change.name), change.previous)
        return found

    def undo(self, items: Iterable[Object], revision: int, namespace: str | None) -> list[Object]:
        """The items, which are those of now, as they were at a revision."""
        touched = self.touched(revision, namespace)
        if not touched:
            return list(items)
        kept = [item for item in items if _place(item) not in touched]
        for previous in touched.values():
            if previous is not None:
                insort(kept, previous, key=order)
        return kept

    def listen(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` after every change until the returned function is called."""
        self._listeners.append(wake)

        def stop() -> None:
            if wake in self._listeners:
                self._listeners.remove(wake)

        return stop
