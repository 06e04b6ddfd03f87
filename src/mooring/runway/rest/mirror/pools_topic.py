"""The topic of pools: told from several kinds together, so that every change makes all rows anew. There are few."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from mooring.catalog import CATALOG
from mooring.client.transport import Scope, plain
from mooring.manifests.views import convert
from mooring.runtime.pool_report import PoolWorld
from mooring.runway.fleet.pools import FleetPool, fleet_pools
from mooring.runway.rest.mirror.follower import FollowedKind
from mooring.runway.rest.mirror.topic import TopicSource

__all__ = ["POOLS", "PoolsState", "pools_topic"]

POOLS: Final = "pools"


class PoolRecord(msgspec.Struct, frozen=True):
    kind: str
    view: Any


class DecisionsRecord(msgspec.Struct, frozen=True):
    """The ConfigMap in which what was decided stands."""

    data: dict[str, str]


class PoolsState:
    def __init__(self) -> None:
        self.report = CATALOG.pool_report()
        self.decisions: dict[str, str] = {}
        self._world: dict[str, dict[str, Any]] = {kind: {} for _, kind in self.report.views}
        self._pools: dict[str, FleetPool] = {}
        self._is_old = False

    def told(self, key: str, old: Any | None, new: Any | None) -> None:
        self._is_old = True
        record = new or old
        if isinstance(record, DecisionsRecord):
            self.decisions = {} if new is None else record.data
        elif isinstance(record, PoolRecord) and new is None:
            self._world[record.kind].pop(key, None)
        elif isinstance(record, PoolRecord):
            self._world[record.kind][key] = record.view

    def changed(self) -> Iterable[str]:
        if not self._is_old:
            return ()
        self._is_old = False
        before = self._pools
        self._pools = fleet_pools(self.report, self.world(), self.decisions)
        return before.keys() | self._pools.keys()

    def world(self) -> PoolWorld:
        return {kind: list(views.values()) for kind, views in self._world.items()}

    def pool(self, key: str) -> FleetPool | None:
        return self._pools.get(key)


def pools_topic(state: PoolsState) -> tuple[TopicSource, Callable[[str, Any | None, Any | None], None]]:
    """A cluster without these kinds has no pools. Who may not read what was decided is told nothing of it."""
    namespace, name = state.report.decisions
    decisions = FollowedKind("v1", "ConfigMap", _decisions, Scope(namespace=namespace, fields=f"metadata.name={name}"))
    kinds = [FollowedKind(*kind, _reader(kind[1], view)) for kind, view in state.report.views.items()]
    return TopicSource(POOLS, (), state.changed, state.pool, (decisions,), tuple(kinds)), state.told


def _reader(kind: str, view: type[Any]) -> Callable[[msgspec.Raw], PoolRecord]:
    return lambda raw: PoolRecord(kind, convert(plain(raw), view))


def _decisions(raw: msgspec.Raw) -> DecisionsRecord:
    return DecisionsRecord(plain(raw).get("data") or {})
