"""Jobs and CronJobs as their controllers see them."""

from __future__ import annotations

import msgspec

from mooring.api.core.types import View
from mooring.api.meta import AnnotatedMeta, Condition, Meta
from mooring.kube.objects import Object


class OnExitCodes(View, frozen=True):
    container_name: str | None = None
    operator: str = ""
    values: tuple[int, ...] = ()


class OnPodCondition(View, frozen=True):
    type: str = ""
    status: str = "True"


class PodFailureRule(View, frozen=True):
    action: str = ""
    on_exit_codes: OnExitCodes | None = None
    on_pod_conditions: tuple[OnPodCondition, ...] | None = None


class PodFailurePolicy(View, frozen=True):
    rules: tuple[PodFailureRule, ...] = ()


class SuccessRule(View, frozen=True):
    succeeded_indexes: str | None = None
    succeeded_count: int | None = None


class SuccessPolicy(View, frozen=True):
    rules: tuple[SuccessRule, ...] = ()


class JobSpec(View, frozen=True):
    parallelism: int = 1
    completions: int | None = None
    completion_mode: str = "NonIndexed"
    active_deadline_seconds: int | None = None
    backoff_limit: int = 6
    ttl_seconds_after_finished: int | None = None
    suspend: bool = False
    pod_replacement_policy: str = "TerminatingOrFailed"
    backoff_limit_per_index: int | None = None
    max_failed_indexes: int | None = None
    pod_failure_policy: PodFailurePolicy | None = None
    success_policy: SuccessPolicy | None = None
    managed_by: str | None = None
    selector: Object | None = None
    template: Object = msgspec.field(default_factory=dict)


class UncountedPods(View, frozen=True):
    """Uids of pods that have ended and whose finalizer may still be there."""

    succeeded: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


class JobStatus(View, frozen=True):
    active: int = 0
    ready: int | None = None
    succeeded: int = 0
    failed: int = 0
    terminating: int | None = None
    completed_indexes: str = ""
    failed_indexes: str | None = None
    uncounted_terminated_pods: UncountedPods = UncountedPods()
    start_time: str | None = None
    completion_time: str | None = None
    conditions: tuple[Condition, ...] = ()


class Job(View, frozen=True):
    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()


class CronJobSpec(View, frozen=True):
    schedule: str = ""
    time_zone: str | None = None
    starting_deadline_seconds: int | None = None
    concurrency_policy: str = "Allow"
    suspend: bool = False
    successful_jobs_history_limit: int | None = None
    failed_jobs_history_limit: int | None = None
    job_template: Object = msgspec.field(default_factory=dict)


class JobReference(View, frozen=True):
    """A Job that is at work. Its resourceVersion, which says nothing of it, is left out."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""
    uid: str = ""


class CronJobStatus(View, frozen=True):
    active: tuple[JobReference, ...] = ()
    last_schedule_time: str | None = None
    last_successful_time: str | None = None


class CronJob(View, frozen=True):
    metadata: Meta = Meta()
    spec: CronJobSpec = CronJobSpec()
    status: CronJobStatus = CronJobStatus()
