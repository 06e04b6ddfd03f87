"""The writes of a job's status. Phase, message and conditions are only ever written together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from mooring.api.conditions import condition_objects, set_conditions
from mooring.api.meta import Condition
from mooring.features.notebooks.api.jobs import NotebookValidationJob
from mooring.features.notebooks.conditions import FINAL_PHASES, JobState, conditions_of
from mooring.features.notebooks.kinds import NOTEBOOK_VALIDATION_JOB
from mooring.features.notebooks.plain import plain
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Patch, status

__all__ = ["stated", "told"]


def told(
    job: NotebookValidationJob,
    state: JobState,
    now: datetime,
    conditions: Iterable[Condition] = (),
    fields: Mapping[str, Any] | None = None,
) -> tuple[Patch, ...]:
    """The status, if it says something new. A state that is final brings the time at which the job ended.

    `conditions` are further ones, and `fields` other parts of the status as they are written.
    """
    known = job.status
    wanted = (*conditions_of(state), *conditions)
    new = set_conditions(known.conditions, wanted, now, generation=job.metadata.generation)
    body: Object = dict(fields or {})
    if new is not known.conditions:
        body["conditions"] = condition_objects(new, complete=True)
    if state.phase != known.phase:
        body["phase"] = state.phase
    if state.message != known.message:
        body["message"] = state.message
    if state.phase in FINAL_PHASES:
        body["completionTime"] = timestamp(now)
    return (status(NOTEBOOK_VALIDATION_JOB, job, body),) if body else ()


def stated(part: msgspec.Struct) -> Object:
    """A part of the status as it is written: without what it does not say."""
    found: Object = _without_blanks(plain(part))
    return found


def _without_blanks(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_blanks(item) for name, item in value.items() if item not in (None, "", [])}
    return [_without_blanks(item) for item in value] if isinstance(value, list) else value
