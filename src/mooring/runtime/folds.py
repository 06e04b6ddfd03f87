"""State derived from the stream of changes, kept by the runtime and shared by whoever asks.

A fold is for answers about the whole cluster, such as where a pod would fit: computing them from lists would cost the
cluster each time. Controllers read the state and never change it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, TypeVar

from mooring.api.kinds import DynamicKinds, Kind
from mooring.runtime.store import Changed

S = TypeVar("S")


@dataclass(frozen=True, eq=False)
class Fold(Generic[S]):
    """A named fold over some kinds, and over those that are defined while it runs.

    `apply` says whether the answer may have changed for those who ask; they are woken at most once per `min_interval`.
    """

    name: str
    kinds: tuple[Kind[Any], ...]
    start: Callable[[], S]
    apply: Callable[[S, Kind[Any], Changed], bool]
    min_interval: timedelta = timedelta(0)
    defined: DynamicKinds | None = None
