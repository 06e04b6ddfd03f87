"""The observed state of the cluster that one reconcile gets. It remembers every question that it was asked.

An answer is a subscription: the key runs again when, and only when, one of its answers changes. Asking for something
that is absent is a question like any other. A kind that cannot be read raises `Unavailable`, never an empty list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeVar

from mooring.api.kinds import DynamicKinds, HasMeta, Key, Kind
from mooring.kube.errors import MooringError
from mooring.runtime.dispatcher.store import NOT_LISTED, Store
from mooring.runtime.folds import Fold
from mooring.runtime.gates import FeatureGates
from mooring.runtime.reads import single
from mooring.runtime.settings import ToldSettings

T = TypeVar("T", bound=HasMeta)
S = TypeVar("S")
M = TypeVar("M")

_NO_GATES: Final = FeatureGates()
_NO_SETTINGS: Final = ToldSettings()


class Unavailable(MooringError):
    """A kind that was asked about is not synced, forbidden or not installed."""

    def __init__(self, kind: Kind[Any], why: str) -> None:
        super().__init__(f"{kind} cannot be read: it {why}")
        self.kind = kind
        # Whether that is so for longer than it takes to read it.
        self.lasts = why != NOT_LISTED


class GetQuestion(NamedTuple):
    kind: Kind[Any]
    key: Key


class ListQuestion(NamedTuple):
    """The members of an index value, or with a counter how many of them it counts."""

    kind: Kind[Any]
    by: str
    value: str
    counter: str = ""


class FoldQuestion(NamedTuple):
    fold: Fold[Any]


class SyncQuestion(NamedTuple):
    """Asked by meeting a kind that is not there yet."""

    kind: Kind[Any]


Question = GetQuestion | ListQuestion | FoldQuestion | SyncQuestion


class View:
    def __init__(
        self,
        stores: Mapping[Kind[Any], Store[Any]],
        folds: Mapping[Fold[Any], Any],
        allowed: Iterable[Kind[Any]],
        now: datetime,
        memory: Any = None,
        problem: str = "",
        defined: Mapping[DynamicKinds, Iterable[Kind[Any]]] | None = None,
        gates: FeatureGates = _NO_GATES,
        settings: ToldSettings = _NO_SETTINGS,
        running: frozenset[str] = frozenset(),
    ) -> None:
        self._stores = stores
        self._folds = folds
        self._allowed = allowed if isinstance(allowed, frozenset) else frozenset(allowed)
        self.now = now
        # The feature gates and settings that the controller declares.
        self.gates = gates
        self.settings = settings
        # What runs in this process, by the words of `--controllers`.
        self.running = running
        self._memory = memory
        self._problem = problem
        self._defined = defined or {}
        self.asks_for_problems = False
        self.questions: set[Question] = set()
        self.timers: set[datetime] = set()
        self.polls: set[datetime] = set()

    def get(self, kind: Kind[T], namespace: str, name: str) -> T | None:
        key = Key(namespace, name)
        if kind.by_name:
            kind = self._single(kind, key)
        store = self._store(kind)
        self.questions.add(GetQuestion(kind, key))
        return store.get(key)

    def owned(self, kind: Kind[T], owner: HasMeta) -> tuple[T, ...]:
        """The objects that `owner` controls."""
        return self.list(kind, "owner", owner.metadata.uid)

    def list(self, kind: Kind[T], index: str = "all", value: str = "") -> tuple[T, ...]:
        store = self._store(kind)
        self.questions.add(ListQuestion(kind, index, value))
        return store.members(index, value)

    def count(self, kind: Kind[T], index: str, value: str, counter: str) -> int:
        store = self._store(kind)
        self.questions.add(ListQuestion(kind, index, value, counter))
        return store.count(index, value, counter)

    def fold(self, fold: Fold[S]) -> S:
        for kind in fold.kinds:
            self._store(kind)
        self.questions.add(FoldQuestion(fold))
        state: S = self._folds[fold]
        return state

    def defined(self, defined: DynamicKinds) -> tuple[Kind[Any], ...]:
        """The kinds that are defined at the moment; some of them may not have been listed yet."""
        self.list(defined.by)
        return tuple(dict.fromkeys(self._defined.get(defined, ())))

    def readable(self, kind: Kind[Any]) -> bool:
        """Whether a kind can be read; the key runs again when that changes."""
        self.questions.add(SyncQuestion(kind))
        return self._stores[kind].synced

    def peek(self, fold: Fold[S]) -> S:
        """The state of a fold without being woken when it changes: for answers that may be a while old."""
        for kind in fold.kinds:
            self._store(kind)
        state: S = self._folds[fold]
        return state

    def memory(self, type_: type[M]) -> M | None:
        """What the last run of this key left, if it was of this type; it may be lost at any time."""
        return self._memory if isinstance(self._memory, type_) else None

    def reached(self, moment: datetime) -> bool:
        """Whether a moment has come; if not, the key runs again when it does."""
        if moment <= self.now:
            return True
        self.timers.add(moment)
        return False

    @property
    def problem(self) -> str:
        """Why writes of the last run were refused, if they were; a key that asks runs again when that changes."""
        self.asks_for_problems = True
        return self._problem

    def poll_again(self, moment: datetime) -> None:
        """Look again at a moment whatever happens. A simulation that only polls has settled."""
        self.polls.add(moment)

    def _single(self, kind: Kind[T], key: Key) -> Kind[T]:
        """One object of a kind that is read by name; the first to ask for it waits until it has been read."""
        if kind not in self._allowed:
            raise MooringError(f"{kind.described} is read but not declared; add it to the controller's reads")
        found = single(kind, key)
        if found not in self._stores:
            self.questions.add(SyncQuestion(found))
            raise Unavailable(found, NOT_LISTED)
        return found

    def _store(self, kind: Kind[T]) -> Store[T]:
        if kind.by_name and kind.only is None:
            raise MooringError(f"{kind} is read by name only; ask for each object with view.get")
        if kind not in self._allowed and kind.only is None:
            raise MooringError(f"{kind} is read but not declared; add it to the controller's reads")
        store = self._stores[kind]
        if not store.synced:
            self.questions.add(SyncQuestion(kind))
            raise Unavailable(kind, store.problem)
        return store
