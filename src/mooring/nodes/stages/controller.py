"""Tells in a Stage's status whether it is used, and if not, why."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mooring.api.kinds import Key
from mooring.kube.times import timestamp
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
    known = next((condition for condition in stage.status.conditions if condition.type == USED), None)
    if known is not None and (known.status, known.reason, known.message) == (value, reason, message):
        return Decision()
    since = known.last_transition_time if known is not None and known.status == value else timestamp(now)
    condition = {"type": USED, "status": value, "reason": reason, "message": message, "lastTransitionTime": since}
    told = (Event(STAGE, key, "Warning", "StageNotUsed", problem),) if problem else ()
    return Decision(status=(status(STAGE, stage, {"conditions": [condition]}),), events=told)


STAGES_CONTROLLER: Final = Controller("stages", reconcile, of=STAGE, writes=(STAGE,), folds=(STAGES,))
