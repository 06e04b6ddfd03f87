"""Which pods are a Job's: orphans that its selector matches are taken in, pods that it does not match are let go.

A pod is taken in together with the finalizer that keeps it until it is counted, and let go without it, in one write:
between two writes a pod could end and be lost to the count, or be kept for ever.
"""

from __future__ import annotations

from mooring.api.batch.views import Job
from mooring.api.core.views import Pod
from mooring.api.kinds import key_of
from mooring.builtin.batch.job.pods import TRACKING
from mooring.kube.selectors import selector_from_dict
from mooring.runtime.decision import Patch, Write
from mooring.runtime.view import View
from mooring.workloads.finalizers import with_finalizer, without_finalizer
from mooring.workloads.kinds import JOB, POD
from mooring.workloads.ownerrefs import adopted_references, released_references

MAX_WRITES_PER_PASS = 500


def claims(view: View, job: Job) -> tuple[Write, ...]:
    """The writes that make ownership agree with the selector. A Job that is being deleted claims nothing."""
    selector = selector_from_dict(job.spec.selector)
    if job.metadata.deleting or job.spec.selector is None or selector.empty:
        return ()
    orphans = view.list(POD, "orphan", job.metadata.namespace)
    adopted = [_adopt(job, pod) for pod in orphans if selector.matches(pod.metadata.labels)]
    released = [_release(job, pod) for pod in view.owned(POD, job) if not selector.matches(pod.metadata.labels)]
    return tuple([*adopted, *released][:MAX_WRITES_PER_PASS])


def _adopt(job: Job, pod: Pod) -> Patch:
    meta = pod.metadata
    owners = adopted_references(pod, JOB, job)
    finalizers = with_finalizer(meta.finalizers, TRACKING)
    return Patch(POD, key_of(pod), {"metadata": {"ownerReferences": owners, "finalizers": finalizers}})


def _release(job: Job, pod: Pod) -> Patch:
    meta = pod.metadata
    owners, finalizers = released_references(pod, job), without_finalizer(meta.finalizers, TRACKING)
    return Patch(POD, key_of(pod), {"metadata": {"ownerReferences": owners, "finalizers": finalizers}})
