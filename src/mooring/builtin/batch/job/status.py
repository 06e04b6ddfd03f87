"""What a Job's status says, and how a new one is written."""

from __future__ import annotations

from typing import Any

import msgspec

from mooring.api.batch.views import Job, JobStatus
from mooring.api.conditions import condition_objects
from mooring.runtime.decision import Patch, status
from mooring.workloads.kinds import JOB

# Numbers that are written even when they are zero, as the API has them.
_ALWAYS = ("ready", "terminating", "failedIndexes")


def status_patch(job: Job, wanted: JobStatus) -> tuple[Patch, ...]:
    """A patch of what differs, or nothing."""
    old, new = msgspec.to_builtins(job.status), msgspec.to_builtins(wanted)
    body: dict[str, Any] = {}
    for field, value in new.items():
        if value == old[field]:
            continue
        if field == "conditions":
            body[field] = condition_objects(wanted.conditions)
        elif field == "uncountedTerminatedPods":
            body[field] = {name: list(uids) or None for name, uids in value.items()}
        else:
            body[field] = value if value or field in _ALWAYS else None
    if not body:
        return ()
    # It is there from the first status on, however empty: it is how a controller knows that finalizers track the pods.
    body.setdefault("uncountedTerminatedPods", {})
    return (status(JOB, job, body),)
