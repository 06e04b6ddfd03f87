"""A controller as declared: its function, and the kinds it reads and writes.

Access rules, caches and readiness follow from the declaration; a read or write of anything else is an error at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from mooring.api.kinds import DynamicKinds, Indexers, Key, Kind
from mooring.kube.errors import MooringError
from mooring.runtime.controllermetrics import ControllerMetric
from mooring.runtime.decision import Decision
from mooring.runtime.dispatcher.memories import is_frozen
from mooring.runtime.effects import Effect
from mooring.runtime.folds import Fold
from mooring.runtime.reads import check_reads
from mooring.runtime.rights import Right, Rights
from mooring.runtime.settings import Setting
from mooring.runtime.view import View

Reconcile = Callable[[Key, View, datetime], Decision]


@dataclass(frozen=True, eq=False)
class Controller:
    """One concern. `of` is the kind whose objects are its keys; without it, it has one key that stands for all."""

    name: str
    reconcile: Reconcile
    of: Kind[Any] | None = None
    reads: tuple[Kind[Any], ...] = ()
    # What it may do to each kind that it writes; see rights.py.
    writes: Rights = field(default_factory=dict)
    folds: tuple[Fold[Any], ...] = field(default=())
    # What it may do outside the API.
    effects: tuple[Effect[Any], ...] = field(default=())
    # The type of what a key remembers from run to run, which is frozen and may be lost.
    memory: type[Any] | None = None
    # A key runs at most this often.
    min_interval: timedelta = timedelta(0)
    # Numbers that its decisions publish.
    metrics: tuple[ControllerMetric, ...] = ()
    # Feature gates that it asks its view for, with their defaults.
    gates: Mapping[str, bool] = field(default_factory=dict)
    # Settings that it asks its view for.
    settings: tuple[Setting[Any], ...] = ()
    # Indexes and counters of its own on kinds that it shares with others.
    indexers: tuple[Indexers[Any], ...] = ()
    # Who the events of the controller come from, where that is not its name.
    reporter: str = ""
    # Kinds that are read and written from the moment they are defined, and what may be done to them.
    defined: DynamicKinds | None = None
    defined_writes: tuple[Right, ...] = ()

    def __post_init__(self) -> None:
        check_reads(self.name, self.kinds)
        if self.memory is not None and not is_frozen(self.memory):
            raise MooringError(
                f"{self.name} remembers {self.memory.__name__}, which can be changed; "
                "a memory is a NamedTuple, or a frozen struct or dataclass"
            )

    @property
    def kinds(self) -> tuple[Kind[Any], ...]:
        """Every kind that must be watched for it."""
        own = () if self.of is None else (self.of,)
        folded = tuple(kind for fold in self.folds for kind in fold.kinds)
        defining = tuple(each.by for each in (self.defined, *(fold.defined for fold in self.folds)) if each is not None)
        return tuple(dict.fromkeys((*own, *self.reads, *folded, *defining)))

    @cached_property
    def blocks(self) -> frozenset[tuple[str, str]]:
        """The kinds whose objects may be held up by others in their deletion."""
        return frozenset(
            (kind.api_version, kind.kind) for kind, rights in self.writes.items() if "finalizers" in rights
        )
