"""The pods of a Job: what sets them apart from the template they come from."""

from __future__ import annotations

from collections.abc import Iterable

from mooring.api.batch.views import Job
from mooring.api.core.views import Pod
from mooring.builtin.batch.job.policies import ignored_failures, index_failures, judge
from mooring.kube.objects import Object
from mooring.runtime.decision import Patch
from mooring.workloads.finalizers import remove_finalizer, with_finalizer
from mooring.workloads.kinds import JOB, POD
from mooring.workloads.podcontrol import pod_from_template

TRACKING = "batch.kubernetes.io/job-tracking"
COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
INDEX_FAILURES = "batch.kubernetes.io/job-index-failure-count"
IGNORED_FAILURES = "batch.kubernetes.io/job-index-ignored-failure-count"
_VARIABLE = "JOB_COMPLETION_INDEX"


def new_pod(job: Job, name: str, index: int | None, replaced: Pod | None) -> Object:
    pod = pod_from_template(JOB, job, job.spec.template, name)
    metadata = pod["metadata"]
    metadata["finalizers"] = with_finalizer(metadata.get("finalizers", ()), TRACKING)
    if index is None:
        return pod
    metadata["generateName"] = f"{name.rpartition('-')[0]}-"
    metadata["annotations"] = {**metadata.get("annotations", {}), COMPLETION_INDEX: str(index)}
    metadata["labels"] = {**metadata.get("labels", {}), COMPLETION_INDEX: str(index)}
    if job.spec.backoff_limit_per_index is not None:
        metadata["annotations"] |= _failures(job, replaced)
    spec = {**pod["spec"], "hostname": f"{job.metadata.name}-{index}"}
    for field in ("initContainers", "containers"):
        if field in spec:
            spec[field] = [_told_its_index(container) for container in spec[field]]
    return {**pod, "spec": spec}


def _failures(job: Job, replaced: Pod | None) -> dict[str, str]:
    """How often the index has failed so far, which only its pods remember."""
    if replaced is None:
        return {INDEX_FAILURES: "0"}
    counts = judge(job, replaced).counts
    ignored = ignored_failures(replaced) + (not counts)
    found = {INDEX_FAILURES: str(index_failures(replaced) + counts)}
    return found | ({IGNORED_FAILURES: str(ignored)} if ignored else {})


def _told_its_index(container: Object) -> Object:
    variables = container.get("env", [])
    if any(variable["name"] == _VARIABLE for variable in variables):
        return container
    source = {"fieldRef": {"apiVersion": "v1", "fieldPath": f"metadata.labels['{COMPLETION_INDEX}']"}}
    return {**container, "env": [*variables, {"name": _VARIABLE, "valueFrom": source}]}


def untracked(pods: Iterable[Pod]) -> tuple[Patch, ...]:
    """Takes the finalizer off that keeps pods until they are counted."""
    return tuple(patch for pod in pods for patch in remove_finalizer(POD, pod, TRACKING))
