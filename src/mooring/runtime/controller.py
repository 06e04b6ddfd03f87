"""A controller as declared: its function, and the kinds it reads and writes.

Access rules, caches and readiness follow from the declaration; a read or write of anything else is an error at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from mooring.api.kinds import DynamicKinds, Key, Kind
from mooring.runtime.decision import Decision
from mooring.runtime.folds import Fold
from mooring.runtime.view import View

Reconcile = Callable[[Key, View, datetime], Decision]


@dataclass(frozen=True, eq=False)
class Controller:
    """One concern. `of` is the kind whose objects are its keys; without it, it has one key that stands for all."""

    name: str
    reconcile: Reconcile
    of: Kind[Any] | None = None
    reads: tuple[Kind[Any], ...] = ()
    writes: tuple[Kind[Any], ...] = ()
    folds: tuple[Fold[Any], ...] = field(default=())
    # Who the events of the controller come from, where that is not its name.
    reporter: str = ""
    # Kinds that are read and written from the moment they are defined.
    defined: DynamicKinds | None = None

    @property
    def kinds(self) -> tuple[Kind[Any], ...]:
        """Every kind that must be watched for it."""
        own = () if self.of is None else (self.of,)
        folded = tuple(kind for fold in self.folds for kind in fold.kinds)
        defining = tuple(each.by for each in (self.defined, *(fold.defined for fold in self.folds)) if each is not None)
        return tuple(dict.fromkeys((*own, *self.reads, *folded, *defining)))
