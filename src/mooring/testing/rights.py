"""What controllers use of what they declare: every kind that was read and every right that a write needed.

An undeclared read or write is an error at once; one that is declared and never used is a right too many in config/rbac.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from mooring.api.kinds import Kind
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision
from mooring.runtime.dispatcher.dispatcher import Dispatcher
from mooring.runtime.dispatcher.task import ReconcileRequest
from mooring.runtime.rights import blocking_references, needed_rights
from mooring.runtime.view import View

__all__ = ["UsedRights", "declared_rights", "recorded_rights"]


@dataclass
class UsedRights:
    """By the names of controllers: `read Kind`, and `right Kind` for what is written."""

    used: dict[str, set[str]] = field(default_factory=dict)

    def record(self, controller: Controller, read: set[Kind[Any]], decision: Decision) -> None:
        used = self.used.setdefault(controller.name, set())
        used.update(f"read {kind.described}" for kind in read)
        for write in (write for stage in decision.stages for write in stage):
            used.update(f"{right} {write.kind}" for right in needed_rights(write))
            used.update(f"finalizers {owner['apiVersion']}/{owner['kind']}" for owner in blocking_references(write))

    def unused(self, controllers: Iterable[Controller]) -> dict[str, list[str]]:
        found = {each.name: declared_rights(each) - self.used.get(each.name, set()) for each in controllers}
        return {name: sorted(rights) for name, rights in found.items() if rights}


def declared_rights(controller: Controller) -> set[str]:
    reads = {f"read {kind.described}" for kind in controller.kinds}
    return reads | {f"{right} {kind}" for kind, rights in controller.writes.items() for right in rights}


@contextmanager
def recorded_rights() -> Iterator[UsedRights]:
    """Record what every controller of this process uses, for the length of a `with` block."""
    once: Callable[[Dispatcher, ReconcileRequest, View], Decision] = Dispatcher.reconcile
    used = UsedRights()

    def recording(dispatcher: Dispatcher, request: ReconcileRequest, view: View) -> Decision:
        read, store = set[Kind[Any]](), view._store

        def noted(kind: Kind[Any]) -> Any:
            read.add(kind)
            return store(kind)

        view._store = noted  # type: ignore[method-assign]
        try:
            decision = once(dispatcher, request, view)
        finally:
            view._store = store  # type: ignore[method-assign]
        used.record(request.controller, read, decision)
        return decision

    Dispatcher.reconcile = recording  # type: ignore[assignment, method-assign]
    try:
        yield used
    finally:
        Dispatcher.reconcile = once  # type: ignore[assignment, method-assign]
