"""State derived from the stream of changes, kept by the runtime and shared by all controllers that declare it.

A fold is for answers about the whole cluster, such as where a pod would fit: computing them from lists would cost the
cluster each time. Controllers read the state and leave it as it was, so that deciding twice decides the same. What a
decision counts on before it is seen goes into the decision, and the runtime hands it to the fold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from mooring.api.kinds import DynamicKinds, Kind
from mooring.runtime.dispatcher.store import Changed

S = TypeVar("S")


@dataclass(frozen=True, eq=False)
class Fold(Generic[S]):
    """A named fold over some kinds, and over those that are defined while it runs.

    `apply` says whether the answer may have changed for those who ask; they are woken at most once per `min_interval`.
    Where the answer follows from the time, it says from which moment on it is another one: then they are woken.
    `assume` holds what a decision assumes in place of what its controller assumed before; with nothing, when its key
    runs again: what has not been seen by then was never carried out. One controller at most assumes things of a fold.
    `facts` is what of the state counts, for tests that compare it; by default all of it does.
    """

    name: str
    kinds: tuple[Kind[Any], ...]
    start: Callable[[], S]
    apply: Callable[[S, Kind[Any], Changed], bool | datetime]
    min_interval: timedelta = timedelta(0)
    defined: DynamicKinds | None = None
    assume: Callable[[S, Sequence[Any]], None] | None = None
    facts: Callable[[S], object] | None = None
    # Kinds of whose objects the state holds no status.
    without_status: tuple[Kind[Any], ...] = ()
