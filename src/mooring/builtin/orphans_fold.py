"""Pods by what they depend on (a Job, a node), so that those that depend on something absent are found at no cost.

A key for every pod of the cluster would find them too, and would cost more than the few pods it is for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mooring.api.workloads import Pod
from mooring.builtin.kinds import POD
from mooring.runtime.folds import Fold
from mooring.runtime.kinds import HasMeta, Key, Kind
from mooring.runtime.store import Changed


class Dependence:
    """Pods by the name of what they depend on, and the names of what there is."""

    def __init__(self, name_of: Callable[[HasMeta], str], depends_on: Callable[[Pod], str | None]) -> None:
        self._name_of = name_of
        self._depends_on = depends_on
        self._present: set[str] = set()
        self._pods: dict[str, dict[Key, None]] = {}

    def change(self, kind: Kind[Any], change: Changed) -> None:
        if kind is not POD:
            if change.old is not None:
                self._present.discard(self._name_of(change.old))
            if change.new is not None:
                self._present.add(self._name_of(change.new))
            return
        before = None if change.old is None else self._depends_on(change.old)
        after = None if change.new is None else self._depends_on(change.new)
        if before == after:
            return
        if before is not None:
            members = self._pods[before]
            del members[change.key]
            if not members:
                del self._pods[before]
        if after is not None:
            self._pods.setdefault(after, {})[change.key] = None

    @property
    def orphans(self) -> dict[str, list[Key]]:
        """Pods that depend on what is absent, by its name."""
        return {name: list(keys) for name, keys in self._pods.items() if name not in self._present}


def dependence(
    name: str, kind: Kind[Any], name_of: Callable[[HasMeta], str], depends_on: Callable[[Pod], str | None]
) -> Fold[Dependence]:
    return Fold(name, (kind, POD), lambda: Dependence(name_of, depends_on), Dependence.change)
