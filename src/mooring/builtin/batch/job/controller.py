"""The Job controller: runs pods until enough of them have succeeded, or too many have failed.

Every pod carries a finalizer until the Job's status has it. A pod that ended is first noted in the status by uid, then
loses its finalizer, and is then a number: so each is counted once, whatever is lost in between. A pod that has to go
loses its finalizer before it is deleted, which is what sets it apart from one that failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import chain, islice
from typing import Any, Final

import msgspec

from mooring.api.batch.views import Job, UncountedPods
from mooring.api.conditions import find_condition, set_conditions
from mooring.api.core.views import Pod
from mooring.api.kinds import Key, key_of
from mooring.api.meta import Condition
from mooring.builtin.apps.replicaset.ranking import least_valuable
from mooring.builtin.batch.job.adoption import claims
from mooring.builtin.batch.job.indexes import format_indexes, index_of, parse_indexes
from mooring.builtin.batch.job.pods import TRACKING, new_pod, untracked
from mooring.builtin.batch.job.policies import (
    attempts,
    backoff_end,
    backoff_for,
    fails_index,
    finished_at,
    has_failed,
    judge,
    meets,
    only_replaces_failed,
    to_be_replaced,
)
from mooring.builtin.batch.job.status import Ending, status_patch
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
        return Decision(intent=claimed)
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
        self.indexed = job.spec.completion_mode == "Indexed"
        self.pods = view.owned(POD, job)
        self.active = [pod for pod in self.pods if pod.active]
        self.terminating = sum(pod.terminating for pod in self.pods)
        self.tracked = [pod for pod in self.pods if has_finalizer(pod, TRACKING)]
        self.children: list[Write] = []
        self.let_go: set[str] = set()
        self.events: list[Event] = []
        self.status = job.status
        noted = job.status.uncounted_terminated_pods
        known = {*noted.succeeded, *noted.failed}
        self.valid = self._valid()
        new = [pod for pod in self.valid if pod.metadata.uid not in known]
        self.succeeded = job.status.succeeded + sum(_succeeded(pod) for pod in new) + len(noted.succeeded)
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
        self.done |= {index for pod in self.valid if _succeeded(pod) and (index := index_of(pod)) is not None}
        self.succeeded = len(self.done)
        if job.spec.backoff_limit_per_index is None:
            return
        self.failed_indexes = parse_indexes(job.status.failed_indexes or "", limit)
        self.failed_indexes |= {
            index for pod in self.valid if fails_index(job, pod) and (index := index_of(pod)) is not None
        }
        at_work = {index for pod in self.active if (index := index_of(pod)) is not None}
        self.replaced = to_be_replaced(job, self.valid, self.done | self.failed_indexes | at_work)

    def decide(self) -> Decision:
        job = self.job
        # 1. Does it end?
        ending = self._ending()
        # 2. If so, no pod stays; if not, as many run as it asks for.
        spent: dict[str, str] = {}
        if ending is not None:
            self._remove([pod for pod in self.active if not has_finalizer(pod, TRACKING)])
        elif not job.metadata.deleting:
            spent = self._manage()
            self._note_suspension()
        # 3. Pods that ended are noted, then let go of.
        released = self._track(ending)
        if ending is not None:
            self._conclude(ending, released)
        said = status_patch(job, self.status)
        return Decision(
            # Names are spent on record before a pod may go or another one gets a name.
            intent=annotated(JOB, job, said, spent) if spent else (),
            children=tuple(self.children),
            status=() if spent else said,
            release=untracked(released),
            events=tuple(self.events),
        )

    # Whether it ends

    def _ending(self) -> Ending | None:
        spec = self.job.spec
        for target in ("SuccessCriteriaMet", "FailureTarget"):
            found = find_condition(self.status.conditions, target)
            if found is not None and found.status == "True":
                return Ending(target, found.reason, found.message)
        for pod in self.pods:
            if has_failed(self.job, pod) and (message := judge(self.job, pod).message):
                return Ending("FailureTarget", "PodFailurePolicy", message)
        if self.failed > spec.backoff_limit or self._restarted_too_often():
            return Ending("FailureTarget", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
        if self._past_deadline():
            return Ending("FailureTarget", "DeadlineExceeded", "Job was active longer than specified deadline")
        if (failed := self.failed_indexes) is not None:
            if spec.max_failed_indexes is not None and len(failed) > spec.max_failed_indexes:
                said = "Job has exceeded the specified maximal number of failed indexes"
                return Ending("FailureTarget", "MaxFailedIndexesExceeded", said)
            if failed and len(failed | self.done) >= (spec.completions or 0):
                return Ending("FailureTarget", "FailedIndexes", "Job has failed indexes")
        if self.indexed and (message := meets(spec.success_policy, spec.completions or 0, self.done)):
            return Ending("SuccessCriteriaMet", "SuccessPolicy", message)
        enough = self.succeeded > 0 if spec.completions is None else self.succeeded >= spec.completions
        if enough and not self.active:
            said = "Reached expected number of succeeded pods"
            return Ending("SuccessCriteriaMet", "CompletionsReached", said)
        return None

    def _restarted_too_often(self) -> bool:
        """Containers that are restarted in place count by their restarts."""
        if self.job.spec.template.get("spec", {}).get("restartPolicy") != "OnFailure":
            return False
        running = [pod.status for pod in self.pods if pod.status.phase in ("Running", "Pending")]
        statuses = chain.from_iterable((*s.init_container_statuses, *s.container_statuses) for s in running)
        restarts = sum(container.restart_count for container in statuses)
        return restarts > 0 and restarts >= self.job.spec.backoff_limit

    def _past_deadline(self) -> bool:
        seconds, start = self.job.spec.active_deadline_seconds, self.status.start_time
        if seconds is None or start is None or self.job.spec.suspend:
            return False
        return self.view.reached(moment(start) + timedelta(seconds=seconds))

    # How many pods run

    def _manage(self) -> dict[str, str]:
        """Makes and removes pods; gives what the Job has to carry about their names."""
        missing = self._balance()
        # A pod goes only after its finalizer, so that none is gone unseen.
        most = max(self.job.spec.parallelism, self.job.status.active)
        names = Incarnations(self.job, self.pods, most, stays=self._stays)
        if missing > 0:
            self._create(names, missing)
        return names.annotations

    def _stays(self, pod: Pod) -> bool:
        return pod.active and has_finalizer(pod, TRACKING) and pod.metadata.name not in self.let_go

    def _balance(self) -> int:
        """Lets go of pods too many; gives how many are missing."""
        spec, active = self.job.spec, len(self.active)
        if spec.suspend:
            self._let_go(self.active)
            return 0
        if spec.completions is None:
            # One success is enough: the others may finish, but none is replaced.
            wanted = active if self.succeeded else spec.parallelism
        else:
            wanted = max(0, min(spec.completions - self.succeeded, spec.parallelism))
        surplus = self._surplus(active - wanted)[:MAX_WRITES_PER_PASS]
        if surplus:
            self._let_go(surplus)
            return 0
        if only_replaces_failed(self.job):
            active += self.terminating
        return min(wanted - active, MAX_WRITES_PER_PASS)

    def _surplus(self, count: int) -> list[Pod]:
        """Pods too many; of an Indexed Job also those of no index, or of one that has another pod."""
        # Those that were let go of before come first, so that deciding again does not pick others.
        gone = [pod for pod in self.active if not has_finalizer(pod, TRACKING)]
        found = self._misplaced() if self.indexed else gone[: max(count, 0)]
        chosen = {pod.metadata.name for pod in found}
        left = [pod for pod in self.active if pod.metadata.name not in chosen]
        return found + least_valuable(left, (), max(count - len(found), 0), self.now)

    def _misplaced(self) -> list[Pod]:
        by_index: dict[int | None, list[Pod]] = {}
        for pod in self.active:
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
            end = backoff_end(self.job, self.pods)
            if end is not None and not self.view.reached(end):
                return
        base = self.job.metadata.name
        if not self.indexed:
            for name in islice(incarnations.names(self.view, base), count):
                self._make(name, None)
            return
        for index in self._open_indexes(count):
            last = self.replaced.get(index)
            if last is None or self.view.reached(finished_at(last) + backoff_for(attempts(last))):
                self._make(next(incarnations.names(self.view, base, f"-{index}")), index)

    def _open_indexes(self, count: int) -> list[int]:
        closed = self.done | (self.failed_indexes or set())
        busy = [pod for pod in self.pods if pod.active or (pod.terminating and only_replaces_failed(self.job))]
        closed |= {index for pod in busy if (index := index_of(pod)) is not None}
        found: list[int] = []
        for index in range(self.job.spec.completions or 0):
            if len(found) == count:
                break
            if index not in closed:
                found.append(index)
        return found

    def _make(self, name: str, index: int | None) -> None:
        replaced = None if index is None else self.replaced.get(index)
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
        held = {pod.metadata.uid for pod in self.tracked}
        noted = job.status.uncounted_terminated_pods
        succeeded = [uid for uid in noted.succeeded if uid in held]
        failed = [uid for uid in noted.failed if uid in held]
        counted_failed = job.status.failed + len(noted.failed) - len(failed)
        counted_succeeded = job.status.succeeded + len(noted.succeeded) - len(succeeded)
        released: list[Pod] = []
        for pod in self.tracked:
            if len(released) >= MAX_WRITES_PER_PASS:
                break
            uid, lost = pod.metadata.uid, has_failed(job, pod)
            if not self._may_release(pod, ending, failed=lost):
                continue
            released.append(pod)
            if _succeeded(pod) and uid not in failed:
                if not self.indexed and uid not in succeeded:
                    succeeded.append(uid)
            elif (lost or (ending is not None and not ending.succeeds)) and uid not in failed and self._counts(pod):
                failed.append(uid)
        self._replace(
            active=len(self.active),
            ready=sum(pod.ready for pod in self.active),
            terminating=self.terminating,
            succeeded=len(self.done) if self.indexed else counted_succeeded,
            failed=counted_failed,
            completed_indexes=format_indexes(self.done),
            failed_indexes=None if self.failed_indexes is None else format_indexes(self.failed_indexes),
            uncounted_terminated_pods=UncountedPods(tuple(succeeded), tuple(failed)),
        )
        return released

    def _may_release(self, pod: Pod, ending: Ending | None, *, failed: bool) -> bool:
        if self.job.metadata.deleting or ending is not None or _succeeded(pod):
            return True
        index = index_of(pod)
        # The last failed pod of an index stays until its replacement has taken over how often it failed.
        return failed and (index is None or self.replaced.get(index) is not pod)

    def _counts(self, pod: Pod) -> bool:
        index = index_of(pod)
        if self.indexed and (index is None or index >= (self.job.spec.completions or 0)):
            return False
        return judge(self.job, pod).counts

    def _conclude(self, ending: Ending, released: Sequence[Pod]) -> None:
        """Say that it is about to end, and once nothing of it is left, that it has ended."""
        if find_condition(self.status.conditions, ending.target) is None:
            self._set_condition(ending.target, "True", ending.reason, ending.message)
            return
        noted = self.status.uncounted_terminated_pods
        if released or self.active or self.terminating or noted.succeeded or noted.failed:
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


def _succeeded(pod: Pod) -> bool:
    return pod.status.phase == "Succeeded"


CONTROLLER: Final = Controller(
    "job",
    reconcile,
    of=JOB,
    reads=(POD,),
    writes={JOB: ("patch", "delete", "status", "finalizers"), POD: ("create", "patch", "delete")},
    reporter="job-controller",
)
