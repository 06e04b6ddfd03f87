"""The CronJob controller: makes a Job at each moment of a schedule, and keeps the last ones.

A Job's name follows from its moment, so that a decision which is repeated makes no second one. Which moment was met
last stands on the Jobs and in the status; it is in the status before a Job may go.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Literal

from mooring.api.batch.recurrence import Recurrence
from mooring.api.batch.schedules import ScheduleError, parse_schedule, time_zone
from mooring.api.batch.views import CronJob, CronJobStatus, Job, JobReference
from mooring.api.kinds import Key, key_of
from mooring.builtin.batch.cronjob.jobs import (
    beyond_history,
    ending,
    job_name,
    last_success,
    new_job,
    scheduled_at,
)
from mooring.builtin.batch.cronjob.timing import MANY_MISSED, InvalidScheduleError, missed, next_run
from mooring.kube.errors import go_quote
from mooring.kube.times import moment, timestamp
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Delete, Event, Write
from mooring.runtime.view import View
from mooring.workloads.kinds import CRON_JOB, JOB
from mooring.workloads.podcontrol import status_change


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    cron_job = view.get(CRON_JOB, *key)
    return Decision() if cron_job is None else CronJobSync(cron_job, view, now).decide()


class CronJobSync:
    """One look at a CronJob."""

    def __init__(self, cron_job: CronJob, view: View, now: datetime) -> None:
        self.cron_job, self.view, self.now = cron_job, view, now
        self.jobs: Sequence[Job] = view.owned(JOB, cron_job)
        self.surplus = beyond_history(cron_job, self.jobs)
        self.deletions: list[Write] = []
        self.creations: list[Write] = []
        self.events: list[Event] = []

    def decide(self) -> Decision:
        active = self._at_work()
        for job in self.surplus:
            self._delete(job)
        gone = self._start(active) if not self.cron_job.metadata.deleting else ()
        # A moment that was met is on record before its Job may go.
        status = self._status([job for job in active if job not in gone])
        deletions, creations = tuple(self.deletions), tuple(self.creations)
        # A stage later, so that nobody sees a Job beside the one that it replaces.
        return Decision(intent=status, children=deletions, status=creations, events=tuple(self.events))

    # What is known of it

    def _at_work(self) -> list[Job]:
        """The Jobs that the CronJob has made and that have not ended."""
        known = {each.uid for each in self.cron_job.status.active}
        found: list[Job] = []
        for job in self.jobs:
            name, is_known = job.metadata.name, job.metadata.uid in known
            if end := ending(job):
                if is_known:
                    self._tell("Normal", "SawCompletedJob", f"Saw completed job: {name}, condition: {end}")
            elif is_known or scheduled_at(job) is not None:
                found.append(job)
            else:
                self._tell(
                    "Warning", "UnexpectedJob", f"Saw a job that the controller did not create or forgot: {name}"
                )
        there = {job.metadata.uid for job in self.jobs}
        for each in self.cron_job.status.active:
            if each.uid not in there:
                self._tell("Normal", "MissingJob", f"Active job went missing: {each.name}")
        return found

    def _status(self, active: Sequence[Job]) -> tuple[Write, ...]:
        old = self.cron_job.status
        new = CronJobStatus(
            active=tuple(_reference(job) for job in active),
            last_schedule_time=self._last_met(),
            last_successful_time=last_success(old.last_successful_time, self.jobs),
        )
        return status_change(CRON_JOB, self.cron_job, old, new)

    def _last_met(self) -> str | None:
        known = self.cron_job.status.last_schedule_time
        times = [made for job in self.jobs if (made := scheduled_at(job)) is not None]
        if known is not None:
            times.append(moment(known))
        return timestamp(max(times).astimezone(UTC)) if times else None

    # Whether a Job is made

    def _start(self, active: Sequence[Job]) -> Sequence[Job]:
        """Make the Job whose moment has come, if one has; gives the Jobs that go for it."""
        spec = self.cron_job.spec
        zone = time_zone(spec.time_zone) if spec.time_zone else None
        if spec.time_zone and zone is None:
            why = f"unknown time zone {spec.time_zone}"
            self._tell("Warning", "UnknownTimeZone", f"invalid timeZone: {go_quote(spec.time_zone)}: {why}")
            return ()
        if spec.suspend:
            return ()
        try:
            recurrence = parse_schedule(spec.schedule, zone)
        except ScheduleError as error:
            said = f"unparseable schedule: {go_quote(spec.schedule)} : {error}"
            self._tell("Warning", "UnparseableSchedule", said)
            return ()
        try:
            scheduled = self._due(recurrence)
        except InvalidScheduleError as error:
            self._tell("Warning", "InvalidSchedule", f"invalid schedule: {spec.schedule} : {error}")
            return ()
        if scheduled is None:
            self._wait(recurrence)
            return ()
        if spec.concurrency_policy == "Forbid" and active:
            said = "Not starting job because prior execution is running and concurrency policy is Forbid"
            self._tell("Normal", "JobAlreadyActive", said)
            self._wait(recurrence)
            return ()
        replaced = active if spec.concurrency_policy == "Replace" else ()
        for job in replaced:
            self._delete(job)
        self._create(scheduled, zone)
        return replaced

    def _due(self, recurrence: Recurrence) -> datetime | None:
        """The last moment that has come and that no Job was made for, unless it is too late for one."""
        found = missed(self.cron_job, recurrence, self.now)
        if found.last is None:
            return None
        if found.number > MANY_MISSED:
            advice = "Set or decrease .spec.startingDeadlineSeconds or check clock skew"
            self._tell("Warning", "TooManyMissedTimes", f"too many missed start times. {advice}")
        deadline = self.cron_job.spec.starting_deadline_seconds
        if deadline is not None and found.last + timedelta(seconds=deadline) < self.now:
            shown = found.last.astimezone(UTC).strftime("%a, %d %b %Y %H:%M:%S +0000")
            self._tell("Warning", "MissSchedule", f"Missed scheduled time to start a job: {shown}")
            return None
        met = self._last_met()
        if met is not None and moment(met) >= found.last:
            return None
        return found.last

    def _wait(self, recurrence: Recurrence) -> None:
        wanted = next_run(self.cron_job, recurrence, self.now)
        if wanted is not None:
            self.view.reached(wanted)

    def _create(self, scheduled: datetime, zone: tzinfo | None) -> None:
        name, namespace = job_name(self.cron_job, scheduled), self.cron_job.metadata.namespace
        if self.view.problem:
            self._tell("Warning", "FailedCreate", f"Error creating job: {self.view.problem}")
        self.creations.append(Create(JOB, new_job(self.cron_job, scheduled, zone)))
        self._tell("Normal", "SuccessfulCreate", f"Created job {name}", Key(namespace, name))

    def _delete(self, job: Job) -> None:
        # Its pods go after it, in their own time.
        self.deletions.append(Delete(JOB, key_of(job), propagation="Background"))
        self._tell("Normal", "SuccessfulDelete", f"Deleted job {job.metadata.name}", key_of(job))

    def _tell(self, level: Literal["Normal", "Warning"], reason: str, message: str, job: Key | None = None) -> None:
        after = None if job is None else (JOB, job)
        self.events.append(Event(CRON_JOB, key_of(self.cron_job), level, reason, message, after))


def _reference(job: Job) -> JobReference:
    meta = job.metadata
    return JobReference(JOB.api_version, JOB.kind, meta.name, meta.namespace, meta.uid)


CONTROLLER = Controller(
    name="cronjob",
    reporter="cronjob-controller",
    reconcile=reconcile,
    of=CRON_JOB,
    reads=(JOB,),
    writes={CRON_JOB: ("status", "finalizers"), JOB: ("create", "delete")},
)
