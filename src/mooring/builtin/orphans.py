"""Pods by what they depend on (a Job, a node), so that those that depend on something absent are found at no cost.

A key for every pod of the cluster would find them too, and would cost more than the few pods it is for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mooring.api.core.views import Pod
from mooring.api.kinds import HasMeta, Key, Kind
from mooring.runtime.dispatcher.store import Changed
from mooring.runtime.folds import Fold
from mooring.workloads.kinds import POD


class Dependence:
    """Pods by the name of what they depend on, and the names of what there is."""

    def __init__(self, name_of: Callable[[HasMeta], str], depends_on: Callable[[Pod], str | None]) -> None:
        self._name_of = name_of
        self._depends_on = depends_on
        self._present: set[str] = set()
        self._pods: dict[str, dict[Key, None]] = {}
        # The names of what is absent and depended on.
        self._absent: dict[str, None] = {}

    def change(self, kind: Kind[Any], change: Changed) -> bool:
        """Take a change in; whether the orphans may be others now."""
        if kind is not POD:
            return self._change_present(change)
        before = None if change.old is None else self._depends_on(change.old)
        after = None if change.new is None else self._depends_on(change.new)
        if before == after:
            # What was written about an orphan may call for the next step.
            return after in self._absent
        lost = before is not None and self._leave(before, change.key)
        if after is None:
            return lost
        self._pods.setdefault(after, {})[change.key] = None
        if after not in self._present:
            self._absent[after] = None
        return lost or after in self._absent

    def _change_present(self, change: Changed) -> bool:
        before = None if change.old is None else self._name_of(change.old)
        after = None if change.new is None else self._name_of(change.new)
        if before == after:
            return False
        news = False
        if before is not None:
            self._present.discard(before)
            if before in self._pods:
                self._absent[before] = None
                news = True
        if after is not None:
            self._present.add(after)
            if after in self._absent:
                del self._absent[after]
                news = True
        return news

    def _leave(self, name: str, key: Key) -> bool:
        members = self._pods[name]
        del members[key]
        orphaned = name in self._absent
        if not members:
            del self._pods[name]
            self._absent.pop(name, None)
        return orphaned

    @property
    def orphans(self) -> dict[str, list[Key]]:
        """Pods that depend on what is absent, by its name."""
        return {name: list(self._pods[name]) for name in self._absent}


def dependence(
    name: str, kind: Kind[Any], name_of: Callable[[HasMeta], str], depends_on: Callable[[Pod], str | None]
) -> Fold[Dependence]:
    return Fold(name, (kind, POD), lambda: Dependence(name_of, depends_on), Dependence.change)
