"""What the status of an installation says: phase, sentence, condition and steps, in one write if anything is new."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from mooring.api.conditions import condition_objects, dated, find_condition
from mooring.api.meta import Condition
from mooring.features.installation.api.installation import Installation, Phase, StepStatus, as_object
from mooring.features.installation.api.kinds import INSTALLATION
from mooring.kube.objects import Object
from mooring.runtime.decision import Patch, status

__all__ = ["READY", "told"]

READY = "Ready"


def told(
    installation: Installation,
    now: datetime,
    phase: Phase,
    reason: str,
    message: str,
    *,
    steps: Sequence[StepStatus] | None = None,
    fields: Object | None = None,
) -> tuple[Patch, ...]:
    """`fields` are further fields of the status. `steps` take the place of those that are on record."""
    before, generation = installation.status, installation.metadata.generation
    body: dict[str, Any] = {}
    wanted = Condition(READY, "True" if phase == "Installed" else "False", reason, message)
    known = find_condition(before.conditions, READY)
    # Who follows a change of the spec sees by the generation that this is the answer to it.
    ready = dated(wanted, known, now, generation)
    if ready != known:
        body["conditions"] = condition_objects((ready,))
    if before.phase != phase or before.message != message:
        body |= {"phase": phase, "message": message}
    if steps is not None and tuple(steps) != before.steps:
        body["steps"] = [as_object(each) for each in steps]
    body |= fields or {}
    return (status(INSTALLATION, installation, body),) if body else ()
