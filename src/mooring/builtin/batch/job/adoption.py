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
from mooring.workloads.kinds import JOB, POD
from mooring.workloads.podcontrol import owner_reference, reference_objects

BURST = 500


def claims(view: View, job: Job) -> tuple[Write, ...]:
    """The writes that make ownership agree with the selector. A Job that is being deleted claims nothing."""
    selector = selector_from_dict(job.spec.selector)
    if job.metadata.deleting or job.spec.selector is None or selector.empty:
        return ()
    orphans = view.list(POD, "orphan", job.metadata.namespace)
    adopted = [_adopt(job, pod) for pod in orphans if selector.matches(pod.metadata.labels)]
    released = [_release(job, pod) for pod in view.owned(POD, job) if not selector.matches(pod.metadata.labels)]
    return tuple([*adopted, *released][:BURST])


def _adopt(job: Job, pod: Pod) -> Patch:
    meta = pod.metadata
    owners = [*reference_objects(meta.owner_references), owner_reference(JOB, job)]
    finalizers = [*meta.finalizers, *(() if TRACKING in meta.finalizers else (TRACKING,))]
    return Patch(POD, key_of(pod), {"metadata": {"ownerReferences": owners, "finalizers": finalizers}})


def _release(job: Job, pod: Pod) -> Patch:
    meta = pod.metadata
    owners = reference_objects([owner for owner in meta.owner_references if owner.uid != job.metadata.uid])
    finalizers = [name for name in meta.finalizers if name != TRACKING]
    return Patch(POD, key_of(pod), {"metadata": {"ownerReferences": owners or None, "finalizers": finalizers or None}})
