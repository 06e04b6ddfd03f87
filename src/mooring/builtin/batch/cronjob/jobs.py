"""The Jobs of a CronJob: what they are made of, which are at work, and which are too old to keep."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, tzinfo

from mooring.api.batch.views import CronJob, Job
from mooring.kube.objects import Object
from mooring.kube.times import moment
from mooring.workloads.kinds import CRON_JOB
from mooring.workloads.ownerrefs import controller_reference

SCHEDULED_AT = "batch.kubernetes.io/cronjob-scheduled-timestamp"


def job_name(cron_job: CronJob, scheduled: datetime) -> str:
    """One name for one moment, in minutes, so that no second Job is made for it."""
    return f"{cron_job.metadata.name}-{int(scheduled.timestamp()) // 60}"


def new_job(cron_job: CronJob, scheduled: datetime, zone: tzinfo | None) -> Object:
    template = cron_job.spec.job_template
    stamped = template.get("metadata", {})
    metadata: Object = {
        "name": job_name(cron_job, scheduled),
        "namespace": cron_job.metadata.namespace,
        "annotations": {**stamped.get("annotations", {}), SCHEDULED_AT: _shown(scheduled.astimezone(zone or UTC))},
        "ownerReferences": [controller_reference(CRON_JOB, cron_job)],
    }
    if stamped.get("labels"):
        metadata["labels"] = dict(stamped["labels"])
    return {"metadata": metadata, "spec": template.get("spec", {})}


def _shown(scheduled: datetime) -> str:
    text = scheduled.isoformat(timespec="seconds")
    return text.replace("+00:00", "Z")


def scheduled_at(job: Job) -> datetime | None:
    """The moment that a Job was made for; None for one that somebody made by hand."""
    text = job.metadata.annotations.get(SCHEDULED_AT, "")
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def ending(job: Job) -> str:
    """The condition with which a Job has ended: Complete or Failed; empty while it has not."""
    for condition in job.status.conditions:
        if condition.type in ("Complete", "Failed") and condition.status == "True":
            return condition.type
    return ""


def last_success(known: str | None, jobs: Iterable[Job]) -> str | None:
    ends = [job.status.completion_time for job in jobs if ending(job) == "Complete" and job.status.completion_time]
    return max((*ends, *((known,) if known else ())), key=moment, default=None)


def beyond_history(cron_job: CronJob, jobs: Sequence[Job]) -> list[Job]:
    """The oldest of those that ended, beyond the numbers that are kept."""
    spec = cron_job.spec
    found: list[Job] = []
    for end, limit in (("Complete", spec.successful_jobs_history_limit), ("Failed", spec.failed_jobs_history_limit)):
        ended = sorted((job for job in jobs if ending(job) == end), key=_by_start)
        found += ended[: max(len(ended) - limit, 0)] if limit is not None else ()
    return found


def _by_start(job: Job) -> tuple[bool, str, str]:
    # One that never started comes last.
    return job.status.start_time is None, job.status.start_time or "", job.metadata.name
