"""The pods of one run of a CronJob: those of a Job that is made from its job template."""

from __future__ import annotations

from typing import Final

from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.placement.pods import Owner
from mooring.placement.workloads.expansion import Expansion, WorkloadError, expand
from mooring.placement.workloads.known_cluster import KnownCluster

__all__ = ["TEMPLATE_PATH", "expand_cron_job", "is_of_cron_job"]

_JOB_PATH: Final = "spec.jobTemplate"
TEMPLATE_PATH: Final = f"{_JOB_PATH}.spec.template"


def expand_cron_job(value: Object, namespace: str, cluster: KnownCluster) -> Expansion:
    """Real runs are called by their minute; here the run is called NAME-1."""
    metadata, spec = value.get("metadata") or {}, value.get("spec") or {}
    name = metadata.get("name")
    if not name:
        raise WorkloadError("a CronJob needs a name", "metadata.name")
    job = spec.get("jobTemplate") if isinstance(spec, dict) else None
    if not isinstance(job, dict) or not isinstance(job.get("spec"), dict):
        raise WorkloadError("a CronJob needs a job template with a spec", _JOB_PATH)
    run = {"kind": "Job", "metadata": {**metadata, "name": f"{name}-1"}, "spec": job["spec"]}
    try:
        found = expand(run, namespace, cluster)
    except WorkloadError as error:
        raise _placed(error) from None
    notes = ["the pods of one run are explained", *(note.replace("the Job ", "its Job ") for note in found.notes)]
    if spec.get("suspend"):
        notes.append("it is suspended (spec.suspend): no run starts until it is resumed")
    return found._replace(kind="CronJob", name=name, notes=tuple(notes), template_path=TEMPLATE_PATH)


def _placed(error: WorkloadError) -> MooringError:
    return WorkloadError(error.message, f"{_JOB_PATH}.{error.path}") if error.path else error


def is_of_cron_job(expansion: Expansion, owner: Owner) -> bool:
    """Whether an owner is a run: a Job that is called by the CronJob and a number."""
    name, _, minute = owner.name.rpartition("-")
    return owner.kind == "Job" and name == expansion.name and minute.isdecimal()
