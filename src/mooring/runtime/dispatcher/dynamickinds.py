"""Which kinds are defined at the moment, by the objects that define them.

A definition may stand for a kind that a controller declares anyway; then it is that one, whatever its version, so that
no kind is followed twice. A kind that is followed on demand is a view of its own, for what the other does not show.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, ValuesView
from typing import Any, NamedTuple

from mooring.api.kinds import DynamicKinds, Key, Kind
from mooring.runtime.dispatcher.store import Changed


class Redefined(NamedTuple):
    """A definition that stands for another kind than before; None stands for no kind."""

    defined: DynamicKinds
    old: Kind[Any] | None
    new: Kind[Any] | None


class Definitions:
    def __init__(self, every: Iterable[DynamicKinds], declared: Iterable[Kind[Any]]) -> None:
        whole = [kind for kind in declared if not (kind.on_demand or kind.is_partial)]
        self._declared = {(_group(kind), kind.kind): kind for kind in whole}
        self._kinds: dict[DynamicKinds, dict[Key, Kind[Any]]] = {defined: {} for defined in every}
        self.now: dict[DynamicKinds, ValuesView[Kind[Any]]] = {
            defined: kinds.values() for defined, kinds in self._kinds.items()
        }
        self.by = frozenset(defined.by for defined in self._kinds)

    def take(self, kind: Kind[Any], change: Changed) -> Iterator[Redefined]:
        """Take a change of a definition in."""
        for defined, kinds in self._kinds.items():
            if defined.by is not kind:
                continue
            old, new = kinds.get(change.key), self._kind(defined, change.new)
            if new is None:
                kinds.pop(change.key, None)
            else:
                kinds[change.key] = new
            if old is not new:
                yield Redefined(defined, old, new)

    def _kind(self, defined: DynamicKinds, definition: Any) -> Kind[Any] | None:
        kind = None if definition is None else defined.kind_of(definition)
        shared = None if kind is None or kind.on_demand else self._declared.get((_group(kind), kind.kind))
        return shared or kind


def _group(kind: Kind[Any]) -> str:
    return kind.api_version.rpartition("/")[0]
