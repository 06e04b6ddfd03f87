"""What controllers use of what they declare: every kind that was read and every right that a write needed.

An undeclared read or write is an error at once; one that is declared and never used is a right too many in config/rbac.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from mooring.api.kinds import Kind
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision
from mooring.runtime.dispatcher.task import ReconcileRequest
from mooring.runtime.rights import blocking_references, needed_rights
from mooring.runtime.view import FoldQuestion, View
from mooring.testing.decisions import OBSERVERS

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
    """Record what controllers use whose decisions are made twice, for the length of a `with` block."""
    used = UsedRights()

    def observe(request: ReconcileRequest, view: View, decision: Decision) -> None:
        used.record(request.controller, _read(request.controller, view), decision)

    OBSERVERS.append(observe)
    try:
        yield used
    finally:
        OBSERVERS.remove(observe)


def _read(controller: Controller, view: View) -> set[Kind[Any]]:
    """The kinds that were asked for. What a fold is made from is read by whoever has the fold."""
    asked = {question.kind for question in view.questions if not isinstance(question, FoldQuestion)}
    return asked.union(*(fold.kinds for fold in controller.folds))
