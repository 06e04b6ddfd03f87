"""Whether a Job ends, and why: its policies, limits and deadline, and whether enough of its pods have succeeded."""

from __future__ import annotations

from datetime import timedelta
from itertools import chain
from typing import NamedTuple

from mooring.api.batch.views import Job
from mooring.api.conditions import find_condition
from mooring.builtin.batch.job.policies import has_failed, judge, meets
from mooring.builtin.batch.job.state import ObservedJob
from mooring.kube.times import moment
from mooring.runtime.view import View


class Ending(NamedTuple):
    """Why a Job is about to end. The condition `target` says so until its pods are gone, then `final` does."""

    target: str
    reason: str
    message: str

    @property
    def succeeds(self) -> bool:
        return self.target == "SuccessCriteriaMet"

    @property
    def final(self) -> str:
        return "Complete" if self.succeeds else "Failed"


def ending_of(seen: ObservedJob, view: View) -> Ending | None:
    """Why a Job ends now; None while it goes on."""
    job, spec = seen.job, seen.job.spec
    for target in ("SuccessCriteriaMet", "FailureTarget"):
        found = find_condition(job.status.conditions, target)
        if found is not None and found.status == "True":
            return Ending(target, found.reason, found.message)
    for pod in seen.pods:
        if has_failed(job, pod) and (message := judge(job, pod).message):
            return Ending("FailureTarget", "PodFailurePolicy", message)
    if seen.failed > spec.backoff_limit or _restarted_too_often(seen):
        return Ending("FailureTarget", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    if _past_deadline(job, view):
        return Ending("FailureTarget", "DeadlineExceeded", "Job was active longer than specified deadline")
    if (failed := seen.failed_indexes) is not None:
        if spec.max_failed_indexes is not None and len(failed) > spec.max_failed_indexes:
            said = "Job has exceeded the specified maximal number of failed indexes"
            return Ending("FailureTarget", "MaxFailedIndexesExceeded", said)
        if failed and len(failed | seen.done) >= (spec.completions or 0):
            return Ending("FailureTarget", "FailedIndexes", "Job has failed indexes")
    if seen.indexed and (message := meets(spec.success_policy, spec.completions or 0, seen.done)):
        return Ending("SuccessCriteriaMet", "SuccessPolicy", message)
    enough = seen.succeeded > 0 if spec.completions is None else seen.succeeded >= spec.completions
    if enough and not seen.active:
        said = "Reached expected number of succeeded pods"
        return Ending("SuccessCriteriaMet", "CompletionsReached", said)
    return None


def _restarted_too_often(seen: ObservedJob) -> bool:
    """Containers that are restarted in place count by their restarts."""
    if seen.job.spec.template.get("spec", {}).get("restartPolicy") != "OnFailure":
        return False
    running = [pod.status for pod in seen.pods if pod.status.phase in ("Running", "Pending")]
    statuses = chain.from_iterable((*s.init_container_statuses, *s.container_statuses) for s in running)
    restarts = sum(container.restart_count for container in statuses)
    return restarts > 0 and restarts >= seen.job.spec.backoff_limit


def _past_deadline(job: Job, view: View) -> bool:
    seconds, start = job.spec.active_deadline_seconds, job.status.start_time
    if seconds is None or start is None or job.spec.suspend:
        return False
    return view.reached(moment(start) + timedelta(seconds=seconds))
