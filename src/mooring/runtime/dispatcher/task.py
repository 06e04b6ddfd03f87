"""What a run of a key decided, ready to be carried out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from mooring.api.kinds import Key
from mooring.client.transport import Request
from mooring.runtime.controller import Controller
from mooring.runtime.controllermetrics import Sample
from mooring.runtime.decision import Event
from mooring.runtime.effects import Run

# The key of controllers that have one key for everything.
ALL: Final = Key("", "all")


class ReconcileRequest(NamedTuple):
    """One key of one controller."""

    controller: Controller
    key: Key

    def __str__(self) -> str:
        return self.controller.name if self.key == ALL else f"{self.controller.name} {self.key}"


class Task(NamedTuple):
    """A run that has decided: what to carry out, stage by stage."""

    request: ReconcileRequest
    stages: Sequence[Sequence[Request]]
    events: tuple[Event, ...] = ()
    # The effects that are wanted from now on; None where nothing was decided.
    effects: tuple[Run, ...] | None = None
    # Why nothing could be decided.
    unavailable: str = ""
    # Whether its key has no use for seeing what it wrote.
    final: bool = False
    # Numbers to publish.
    metrics: tuple[Sample, ...] = ()
    # Lines for the log.
    log: tuple[str, ...] = ()
