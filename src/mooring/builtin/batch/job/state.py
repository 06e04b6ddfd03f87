"""The observed state of a Job: its pods, those that count, and how many have succeeded and failed so far.

A pod counts while it has its finalizer; what was noted in the status and not yet counted is part of the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

from mooring.api.batch.views import Job
from mooring.api.core.views import Pod
from mooring.builtin.batch.job.indexes import index_of, parse_indexes
from mooring.builtin.batch.job.pods import TRACKING
from mooring.builtin.batch.job.policies import fails_index, has_failed, judge, to_be_replaced
from mooring.workloads.finalizers import has_finalizer


class ObservedJob:
    """A Job that has not ended, and its pods.

    `done` and `failed_indexes` are those of an Indexed Job; `replaced` has the last failed pod of each index that waits
    for another one.
    """

    def __init__(self, job: Job, pods: Sequence[Pod]) -> None:
        self.job, self.pods = job, pods
        self.indexed = job.spec.completion_mode == "Indexed"
        self.active = [pod for pod in pods if pod.active]
        self.terminating = sum(pod.terminating for pod in pods)
        self.tracked = [pod for pod in pods if has_finalizer(pod, TRACKING)]
        noted = job.status.uncounted_terminated_pods
        known = {*noted.succeeded, *noted.failed}
        self.valid = self._valid()
        new = [pod for pod in self.valid if pod.metadata.uid not in known]
        self.succeeded = job.status.succeeded + sum(has_succeeded(pod) for pod in new) + len(noted.succeeded)
        lost = sum(has_failed(job, pod) and judge(job, pod).counts for pod in new)
        self.failed = job.status.failed + lost + len(noted.failed)
        self.done: set[int] = set()
        self.failed_indexes: set[int] | None = None
        self.replaced: dict[int, Pod] = {}
        if self.indexed:
            self._look_at_indexes()

    def _valid(self) -> list[Pod]:
        """Tracked pods; of an Indexed Job, those of an index that it has."""
        if not self.indexed:
            return self.tracked
        limit = self.job.spec.completions or 0
        return [pod for pod in self.tracked if (index := index_of(pod)) is not None and index < limit]

    def _look_at_indexes(self) -> None:
        job, limit = self.job, self.job.spec.completions or 0
        self.done = parse_indexes(job.status.completed_indexes, limit)
        self.done |= {index for pod in self.valid if has_succeeded(pod) and (index := index_of(pod)) is not None}
        self.succeeded = len(self.done)
        if job.spec.backoff_limit_per_index is None:
            return
        self.failed_indexes = parse_indexes(job.status.failed_indexes or "", limit)
        self.failed_indexes |= {
            index for pod in self.valid if fails_index(job, pod) and (index := index_of(pod)) is not None
        }
        at_work = {index for pod in self.active if (index := index_of(pod)) is not None}
        self.replaced = to_be_replaced(job, self.valid, self.done | self.failed_indexes | at_work)


def has_succeeded(pod: Pod) -> bool:
    return pod.status.phase == "Succeeded"
