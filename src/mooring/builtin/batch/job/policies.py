"""What a Job makes of pods that ended: which failures count, what they mean, and how long to wait after them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from mooring.api.batch.views import Job, OnExitCodes, PodFailureRule, SuccessPolicy
from mooring.api.core.views import ContainerStatus, Pod
from mooring.builtin.batch.job.indexes import index_of, parse_indexes
from mooring.kube.times import moment

INITIAL_BACKOFF = timedelta(seconds=10)
MAX_BACKOFF = timedelta(minutes=10)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class FailureVerdict(NamedTuple):
    """What the pod failure policy says of a failed pod."""

    action: str = ""
    # Why the whole Job fails because of it.
    message: str = ""

    @property
    def counts(self) -> bool:
        return self.action != "Ignore"


def backoff_for(failures: int) -> timedelta:
    return min(INITIAL_BACKOFF * 2 ** min(failures - 1, 10), MAX_BACKOFF) if failures else timedelta(0)


def only_replaces_failed(job: Job) -> bool:
    """Whether a pod is replaced only once it has ended, not as soon as it is on its way out."""
    return job.spec.pod_replacement_policy == "Failed" or job.spec.pod_failure_policy is not None


def has_failed(job: Job, pod: Pod) -> bool:
    if pod.status.phase == "Failed":
        return True
    if only_replaces_failed(job):
        return False
    # A pod that was deleted may never get to say that it failed.
    return pod.metadata.deleting and pod.status.phase != "Succeeded"


class JobBackoff(NamedTuple):
    """The failures of a Job's pods since one last succeeded: a pod that has failed may be gone before its time is up.

    `counted` has the pods among them that are still there. Lost with the process, it begins again with those.
    """

    failures: int = 0
    last: datetime | None = None
    counted: frozenset[str] = frozenset()

    @property
    def end(self) -> datetime | None:
        """When a failed pod may be replaced: later for every failure."""
        return self.last + backoff_for(self.failures) if self.last is not None else None


def counted_failures(known: JobBackoff | None, job: Job, pods: Iterable[Pod], tracked: Iterable[Pod]) -> JobBackoff:
    """What is known with the pods that have ended since. A pod that the Job lets go of, and so tracks no more, counts
    only if it ended by itself before anything was known."""
    ended = [pod for pod in tracked if pod.status.phase == "Succeeded" or has_failed(job, pod)]
    if known is None:
        known = JobBackoff()
        held = {pod.metadata.uid for pod in ended}
        ended += [pod for pod in pods if pod.finished and pod.metadata.uid not in held]
    new = [pod for pod in ended if pod.metadata.uid not in known.counted]
    successes = [finished_at(pod) for pod in new if pod.status.phase == "Succeeded"]
    last_success = max(successes, default=_EPOCH)
    failed = [when for pod in new if pod.status.phase != "Succeeded" and (when := finished_at(pod)) > last_success]
    failures, last = (0, None) if successes else (known.failures, known.last)
    there = {pod.metadata.uid for pod in pods}
    counted = frozenset(uid for uid in {*known.counted, *(pod.metadata.uid for pod in new)} if uid in there)
    return JobBackoff(failures + len(failed), max(failed, default=last), counted)


def judge(job: Job, pod: Pod) -> FailureVerdict:
    policy = job.spec.pod_failure_policy
    for position, rule in enumerate(policy.rules if policy is not None else ()):
        message = _match(rule, pod, position)
        if message:
            return FailureVerdict(rule.action, message if rule.action == "FailJob" else "")
    return FailureVerdict()


def _match(rule: PodFailureRule, pod: Pod, position: int) -> str:
    """What there is to say of a pod that a rule matches; nothing if it does not."""
    where = f"{pod.metadata.namespace}/{pod.metadata.name}"
    matching = f"matching {rule.action} rule at index {position}"
    if rule.on_exit_codes is not None:
        statuses = (*pod.status.container_statuses, *pod.status.init_container_statuses)
        for status in statuses:
            code = _matching_code(rule.on_exit_codes, status)
            if code:
                return f"Container {status.name} for pod {where} failed with exit code {code} {matching}"
        return ""
    for condition in pod.status.conditions:
        if any((p.type, p.status) == (condition.type, condition.status) for p in rule.on_pod_conditions or ()):
            return f"Pod {where} has condition {condition.type} {matching}"
    return ""


def _matching_code(wanted: OnExitCodes, status: ContainerStatus) -> int:
    """The exit code if the requirement matches it, else 0: that is never one."""
    end = status.state.terminated
    if end is None or wanted.container_name not in (None, status.name):
        return 0
    return end.exit_code if (end.exit_code in wanted.values) == (wanted.operator == "In") else 0


def meets(policy: SuccessPolicy | None, completions: int, succeeded: set[int]) -> str:
    """The message about the rule of a success policy that is met; empty if none is."""
    if policy is None or not succeeded:
        return ""
    for position, rule in enumerate(policy.rules):
        wanted = succeeded
        if rule.succeeded_indexes is not None:
            wanted = parse_indexes(rule.succeeded_indexes, completions)
            if not wanted:
                continue
        count = len(wanted & succeeded)
        all_of_them = rule.succeeded_indexes is not None and count == len(wanted)
        if all_of_them or (rule.succeeded_count is not None and count >= rule.succeeded_count):
            return f"Matched rules at index {position}"
    return ""


# Failures of one index


def index_failures(pod: Pod) -> int:
    text = pod.metadata.annotations.index_failures
    return int(text) if text.isdecimal() else 0


def ignored_failures(pod: Pod) -> int:
    text = pod.metadata.annotations.index_ignored_failures
    return int(text) if text.isdecimal() else 0


def attempts(pod: Pod) -> int:
    """How often an index has failed when this pod of it had."""
    return index_failures(pod) + ignored_failures(pod) + 1


def fails_index(job: Job, pod: Pod) -> bool:
    """Whether a pod is the last that its index gets."""
    if not has_failed(job, pod):
        return False
    verdict = judge(job, pod)
    if verdict.action == "FailIndex":
        return True
    return verdict.counts and index_failures(pod) >= (job.spec.backoff_limit_per_index or 0)


def to_be_replaced(job: Job, pods: Iterable[Pod], settled: set[int]) -> dict[int, Pod]:
    """The last failed pod of each index that needs a new one. It tells how often the index has failed, so it stays."""
    last: dict[int, Pod] = {}
    for pod in pods:
        index = index_of(pod)
        if index is None or index in settled or not has_failed(job, pod):
            continue
        known = last.get(index)
        if known is None or _standing(known) <= _standing(pod):
            last[index] = pod
    return last


def _standing(pod: Pod) -> tuple[int, datetime]:
    return index_failures(pod) + ignored_failures(pod), finished_at(pod)


def finished_at(pod: Pod) -> datetime:
    """When a pod ended: its last container, else when it stopped being ready, else when it was deleted."""
    ends = [status.state.terminated for status in pod.status.container_statuses]
    times = [end.finished_at for end in ends if end is not None and end.finished_at]
    if times and len(times) == len(ends):
        return max(map(moment, times))
    readiness = pod.readiness
    if readiness is not None and readiness.status == "False" and readiness.last_transition_time:
        return moment(readiness.last_transition_time)
    meta = pod.metadata
    if meta.deletion_timestamp:
        return moment(meta.deletion_timestamp) - timedelta(seconds=meta.deletion_grace_period_seconds or 0)
    return moment(meta.creation_timestamp) if meta.creation_timestamp else _EPOCH
