"""The Job controller: runs pods until enough of them have succeeded, or too many have failed.

Every pod carries a finalizer until the Job's status has it. A pod that ended is first noted in the status by uid, then
loses its finalizer, and is then a number: so each is counted once, whatever is lost in between. A pod that has to go
loses its finalizer before it is deleted, which is what sets it apart from one that failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final

import msgspec

from mooring.api.batch.views import Job, UncountedPods
from mooring.api.conditions import find_condition, set_conditions
from mooring.api.core.views import Pod
from mooring.api.kinds import Key, key_of
from mooring.api.meta import Condition
from mooring.builtin.apps.replicaset.ranking import least_valuable
from mooring.builtin.batch.job.adoption import claims
from mooring.builtin.batch.job.ending import Ending, ending_of
from mooring.builtin.batch.job.indexes import format_indexes, index_of
from mooring.builtin.batch.job.pods import TRACKING, new_pod, untracked
from mooring.builtin.batch.job.policies import (
    JobBackoff,
    attempts,
    backoff_for,
    counted_failures,
    finished_at,
    has_failed,
    judge,
    only_replaces_failed,
)
from mooring.builtin.batch.job.state import ObservedJob, has_succeeded
from mooring.builtin.batch.job.status import status_patch
from mooring.kube.times import moment, timestamp
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Delete, Event, Write
from mooring.runtime.view import View
from mooring.workloads.finalizers import has_finalizer
from mooring.workloads.incarnations import Incarnations
from mooring.workloads.kinds import JOB, POD
from mooring.workloads.podcontrol import annotated

CONTROLLER_NAME = "kubernetes.io/job-controller"
# Pods made, deleted or counted in one decision.
MAX_WRITES_PER_PASS = 500


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    job = view.get(JOB, *key)
    if job is None or job.spec.managed_by not in (None, CONTROLLER_NAME):
        return Decision()
    for condition in job.status.conditions:
        if condition.type in ("Complete", "Failed") and condition.status == "True":
            return _expire(job, condition, view)
    if job.spec.completion_mode not in ("NonIndexed", "Indexed"):
        said = "Skipped Job sync because completion mode is unknown"
        return Decision(events=(Event(JOB, key, "Warning", "UnknownCompletionMode", said),))
    # Ownership agrees with the selector before anything is counted on.
    if claimed := claims(view, job):
        return Decision(intent=claimed, memory=view.memory(JobBackoff))
    return Sync(job, view, now).decide()


def _expire(job: Job, finished: Condition, view: View) -> Decision:
    """A Job that has ended goes when its time to live is over, and takes its pods along."""
    ttl = job.spec.ttl_seconds_after_finished
    if ttl is None or job.metadata.deleting or finished.last_transition_time is None:
        return Decision()
    if not view.reached(moment(finished.last_transition_time) + timedelta(seconds=ttl)):
        return Decision()
    return Decision(children=(Delete(JOB, key_of(job), propagation="Foreground"),))


class Sync:
    """One look at a Job that has not ended."""

    def __init__(self, job: Job, view: View, now: datetime) -> None:
        self.job, self.view, self.now = job, view, now
        self.seen = ObservedJob(job, view.owned(POD, job))
        self.backoff = counted_failures(view.memory(JobBackoff), job, self.seen.pods, self.seen.valid)
        self.children: list[Write] = []
        self.let_go: set[str] = set()
        self.events: list[Event] = []
        self.status = job.status

    def decide(self) -> Decision:
        job = self.job
        # 1. Does it end?
        ending = ending_of(self.seen, self.view)
        # 2. If so, no pod stays; if not, as many run as it asks for.
        spent: dict[str, str] = {}
        if ending is not None:
            self._remove([pod for pod in self.seen.active if not has_finalizer(pod, TRACKING)])
        elif not job.metadata.deleting:
            spent = self._manage()
            self._note_suspension()
        # 3. Pods that ended are noted, then let go of.
        released = self._track(ending)
        if ending is not None:
            self._conclude(ending, released)
        said = status_patch(job, self.status)
        # Names are spent on record before a pod may go or another one gets a name. Nor must a pod that is refused,
        # with which this pass ends, keep the status from being written.
        first = bool(spent or (self.children and self.view.problem))
        return Decision(
            intent=annotated(JOB, job, said, spent) if first else (),
            children=tuple(self.children),
            status=() if first else said,
            release=untracked(released),
            events=tuple(self.events),
            memory=self.backoff if self.backoff != JobBackoff() else None,
        )

    # How many pods run

    def _manage(self) -> dict[str, str]:
        """Makes and removes pods; gives what the Job has to carry about their names."""
        missing = self._balance()
        # A pod goes only after its finalizer, so that none is gone unseen.
        most = max(self.job.spec.parallelism, self.job.status.active)
        names = Incarnations(self.job, self.seen.pods, most, stays=self._stays)
        if missing > 0:
            self._create(names, missing)
        return names.annotations

    def _stays(self, pod: Pod) -> bool:
        return pod.active and has_finalizer(pod, TRACKING) and pod.metadata.name not in self.let_go

    def _balance(self) -> int:
        """Lets go of pods too many; gives how many are missing."""
        spec, active = self.job.spec, len(self.seen.active)
        if spec.suspend:
            self._let_go(self.seen.active)
            return 0
        if spec.completions is None:
            # One success is enough: the others may finish, but none is replaced.
            wanted = active if self.seen.succeeded else spec.parallelism
        else:
            wanted = max(0, min(spec.completions - self.seen.succeeded, spec.parallelism))
        surplus = self._surplus(active - wanted)[:MAX_WRITES_PER_PASS]
        if surplus:
            self._let_go(surplus)
            return 0
        if only_replaces_failed(self.job):
            active += self.seen.terminating
        return min(wanted - active, MAX_WRITES_PER_PASS)

    def _surplus(self, count: int) -> list[Pod]:
        """Pods too many; of an Indexed Job also those of no index, or of one that has another pod."""
        # Those that were let go of before come first, so that deciding again does not pick others.
        gone = [pod for pod in self.seen.active if not has_finalizer(pod, TRACKING)]
        found = self._misplaced() if self.seen.indexed else gone[: max(count, 0)]
        chosen = {pod.metadata.name for pod in found}
        left = [pod for pod in self.seen.active if pod.metadata.name not in chosen]
        return found + least_valuable(left, (), max(count - len(found), 0), self.now)

    def _misplaced(self) -> list[Pod]:
        by_index: dict[int | None, list[Pod]] = {}
        for pod in self.seen.active:
            by_index.setdefault(index_of(pod), []).append(pod)
        limit = self.job.spec.completions or 0
        found: list[Pod] = []
        for index, pods in by_index.items():
            stay = 0 if index is None or index >= limit else 1
            pods.sort(key=lambda pod: has_finalizer(pod, TRACKING))
            found += least_valuable(pods, (), len(pods) - stay, self.now)
        return found

    def _let_go(self, pods: Sequence[Pod]) -> None:
        """First without a finalizer, so that it does not count as failed; then, seen so, deleted."""
        self.let_go |= {pod.metadata.name for pod in pods}
        self.children += untracked(pods)
        self._remove([pod for pod in pods if not has_finalizer(pod, TRACKING)])

    def _remove(self, pods: Sequence[Pod]) -> None:
        for pod in pods:
            self.children.append(Delete(POD, key_of(pod)))
            self._record("Normal", "SuccessfulDelete", f"Deleted pod: {pod.metadata.name}", pod.metadata.name)

    def _create(self, incarnations: Incarnations, count: int) -> None:
        if self.job.spec.backoff_limit_per_index is None:
            end = self.backoff.end
            if end is not None and not self.view.reached(end):
                return
        if self.view.problem:
            self._record("Warning", "FailedCreate", f"Error creating: {self.view.problem}")
        base = self.job.metadata.name
        if not self.seen.indexed:
            for name in islice(incarnations.names(self.view, base), count):
                self._make(name, None)
            return
        for index in self._open_indexes(count):
            last = self.seen.replaced.get(index)
            if last is None or self.view.reached(finished_at(last) + backoff_for(attempts(last))):
                self._make(next(incarnations.names(self.view, base, f"-{index}")), index)

    def _open_indexes(self, count: int) -> list[int]:
        closed = self.seen.done | (self.seen.failed_indexes or set())
        busy = [pod for pod in self.seen.pods if pod.active or (pod.terminating and only_replaces_failed(self.job))]
        closed |= {index for pod in busy if (index := index_of(pod)) is not None}
        found: list[int] = []
        for index in range(self.job.spec.completions or 0):
            if len(found) == count:
                break
            if index not in closed:
                found.append(index)
        return found

    def _make(self, name: str, index: int | None) -> None:
        replaced = None if index is None else self.seen.replaced.get(index)
        self.children.append(Create(POD, new_pod(self.job, name, index, replaced)))
        self._record("Normal", "SuccessfulCreate", f"Created pod: {name}", name)

    # What is known of it

    def _note_suspension(self) -> None:
        known = find_condition(self.status.conditions, "Suspended")
        if self.job.spec.suspend and (known is None or known.status != "True"):
            self._set_condition("Suspended", "True", "JobSuspended", "Job suspended")
            self._record("Normal", "Suspended", "Job suspended")
        elif not self.job.spec.suspend and known is not None and known.status == "True":
            self._set_condition("Suspended", "False", "JobResumed", "Job resumed")
            # A deadline is about being active without a break.
            self._replace(start_time=timestamp(self.now))
            self._record("Normal", "Resumed", "Job resumed")

    def _track(self, ending: Ending | None) -> list[Pod]:
        """Move pods from seen to noted, and from noted to counted; gives those whose finalizer may go."""
        job = self.job
        if self.status.start_time is None and not job.spec.suspend:
            self._replace(start_time=timestamp(self.now))
        held = {pod.metadata.uid for pod in self.seen.tracked}
        noted = job.status.uncounted_terminated_pods
        succeeded = [uid for uid in noted.succeeded if uid in held]
        failed = [uid for uid in noted.failed if uid in held]
        counted_failed = job.status.failed + len(noted.failed) - len(failed)
        counted_succeeded = job.status.succeeded + len(noted.succeeded) - len(succeeded)
        released: list[Pod] = []
        for pod in self.seen.tracked:
            if len(released) >= MAX_WRITES_PER_PASS:
                break
            uid, lost = pod.metadata.uid, has_failed(job, pod)
            if not self._may_release(pod, ending, failed=lost):
                continue
            released.append(pod)
            if has_succeeded(pod) and uid not in failed:
                if not self.seen.indexed and uid not in succeeded:
                    succeeded.append(uid)
            elif (lost or (ending is not None and not ending.succeeds)) and uid not in failed and self._counts(pod):
                failed.append(uid)
        self._replace(
            active=len(self.seen.active),
            ready=sum(pod.ready for pod in self.seen.active),
            terminating=self.seen.terminating,
            succeeded=len(self.seen.done) if self.seen.indexed else counted_succeeded,
            failed=counted_failed,
            completed_indexes=format_indexes(self.seen.done),
            failed_indexes=None if self.seen.failed_indexes is None else format_indexes(self.seen.failed_indexes),
            uncounted_terminated_pods=UncountedPods(tuple(succeeded), tuple(failed)),
        )
        return released

    def _may_release(self, pod: Pod, ending: Ending | None, *, failed: bool) -> bool:
        if self.job.metadata.deleting or ending is not None or has_succeeded(pod):
            return True
        index = index_of(pod)
        # The last failed pod of an index stays until its replacement has taken over how often it failed.
        return failed and (index is None or self.seen.replaced.get(index) is not pod)

    def _counts(self, pod: Pod) -> bool:
        index = index_of(pod)
        if self.seen.indexed and (index is None or index >= (self.job.spec.completions or 0)):
            return False
        return judge(self.job, pod).counts

    def _conclude(self, ending: Ending, released: Sequence[Pod]) -> None:
        """Say that it is about to end, and once nothing of it is left, that it has ended."""
        if find_condition(self.status.conditions, ending.target) is None:
            self._set_condition(ending.target, "True", ending.reason, ending.message)
            return
        noted = self.status.uncounted_terminated_pods
        if released or self.seen.active or self.seen.terminating or noted.succeeded or noted.failed:
            return
        self._set_condition(ending.final, "True", ending.reason, ending.message)
        if not ending.succeeds:
            self._record("Warning", ending.reason, ending.message)
            return
        self._replace(completion_time=timestamp(self.now))
        completions = self.job.spec.completions
        if completions is not None and self.status.succeeded > completions:
            said = "Too many succeeded pods running after completion count reached"
            self._record("Warning", "TooManySucceededPods", said)
        self._record("Normal", "Completed", "Job completed")

    def _set_condition(self, kind: str, value: str, reason: str, message: str) -> None:
        new = Condition(kind, value, reason, message, last_probe_time=timestamp(self.now))
        self._replace(conditions=set_conditions(self.status.conditions, (new,), self.now))

    def _replace(self, **fields: Any) -> None:
        self.status = msgspec.structs.replace(self.status, **fields)

    def _record(self, kind: Any, reason: str, message: str, pod: str = "") -> None:
        """`pod` is the one whose creation or deletion this tells of."""
        key = key_of(self.job)
        after = (POD, Key(key.namespace, pod)) if pod else None
        self.events.append(Event(JOB, key, kind, reason, message, after))


CONTROLLER: Final = Controller(
    "job",
    reconcile,
    of=JOB,
    reads=(POD,),
    writes={JOB: ("patch", "delete", "status", "finalizers"), POD: ("create", "patch", "delete")},
    reporter="job-controller",
    memory=JobBackoff,
)
