"""Writes the condition Used of a Stage, with the reason why simulated nodes do not follow it."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mooring.api.conditions import changed_conditions
from mooring.api.kinds import Key
from mooring.api.meta import Condition
from mooring.nodes.stages.kinds import STAGE
from mooring.nodes.stages.lifecycle import STAGES
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Event, status
from mooring.runtime.view import View

USED: Final = "Used"


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    stage = view.get(STAGE, *key)
    if stage is None or stage.metadata.deleting:
        return Decision()
    problem = view.fold(STAGES).problems.get(key, "")
    value, reason = ("False", "NotUnderstood") if problem else ("True", "Understood")
    message = problem or "Simulated nodes follow it."
    written = changed_conditions(stage.status.conditions, (Condition(USED, value, reason, message),), now)
    if written is None:
        return Decision()
    told = (Event(STAGE, key, "Warning", "StageNotUsed", problem),) if problem else ()
    return Decision(status=(status(STAGE, stage, {"conditions": written}),), events=told)


CONTROLLER: Final = Controller("stages", reconcile, of=STAGE, writes={STAGE: ("status",)}, folds=(STAGES,))
