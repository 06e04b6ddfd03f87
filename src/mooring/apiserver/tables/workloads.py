"""Rows of what keeps pods running: the kinds of apps, batch and autoscaling, replication controllers and budgets."""

from datetime import datetime
from typing import Any, Final

from mooring.apiserver.tables.durations import human_duration, parsed, since
from mooring.apiserver.tables.printing import (
    NONE,
    Cells,
    age,
    containers,
    items,
    joined_labels,
    joined_selector,
    name,
    part,
    printer,
)
from mooring.kube.errors import SelectorError
from mooring.kube.objects import Object
from mooring.kube.selectors import selector_from_dict

__all__: list[str] = []

# The first of these that is true names the state of a job; deletion comes between the two groups.
_JOB_ENDS: Final = ("Complete", "Failed")
_JOB_STATES: Final = ("Suspended", "FailureTarget", "SuccessCriteriaMet")


def _count(obj: Object, section: str, field: str) -> int:
    return part(obj, section).get(field) or 0


def _pod_spec(obj: Object) -> Any:
    return part(obj, "spec", "template", "spec")


@printer("apps/v1", "Deployment", "Name, Ready, Up-to-date, Available, Age, Containers+, Images+, Selector+")
def _deployment(obj: Object, now: datetime) -> Cells:
    try:
        selector = str(selector_from_dict(part(obj, "spec").get("selector")))
    except SelectorError:
        selector = "<invalid>"
    return [
        name(obj),
        f"{_count(obj, 'status', 'readyReplicas')}/{_count(obj, 'spec', 'replicas')}",
        _count(obj, "status", "updatedReplicas"),
        _count(obj, "status", "availableReplicas"),
        age(obj, now),
        *containers(_pod_spec(obj)),
        selector,
    ]


def _replicas(obj: Object, now: datetime) -> Cells:
    return [
        name(obj),
        _count(obj, "spec", "replicas"),
        _count(obj, "status", "replicas"),
        _count(obj, "status", "readyReplicas"),
        age(obj, now),
        *containers(_pod_spec(obj)),
    ]


_REPLICAS: Final = "Name, Desired:integer, Current:integer, Ready:integer, Age, Containers+, Images+, Selector+"


@printer("apps/v1", "ReplicaSet", _REPLICAS)
def _replica_set(obj: Object, now: datetime) -> Cells:
    return [*_replicas(obj, now), joined_selector(part(obj, "spec").get("selector"))]


@printer("v1", "ReplicationController", _REPLICAS)
def _replication_controller(obj: Object, now: datetime) -> Cells:
    return [*_replicas(obj, now), joined_labels(part(obj, "spec", "selector"))]


@printer("apps/v1", "StatefulSet", "Name, Ready, Age, Containers+, Images+")
def _stateful_set(obj: Object, now: datetime) -> Cells:
    ready = f"{_count(obj, 'status', 'readyReplicas')}/{_count(obj, 'spec', 'replicas')}"
    return [name(obj), ready, age(obj, now), *containers(_pod_spec(obj))]


@printer(
    "apps/v1",
    "DaemonSet",
    "Name, Desired:integer, Current:integer, Ready:integer, Up-to-date:integer, Available:integer, Node Selector, Age,"
    "Containers+, Images+, Selector+",
)
def _daemon_set(obj: Object, now: datetime) -> Cells:
    return [
        name(obj),
        _count(obj, "status", "desiredNumberScheduled"),
        _count(obj, "status", "currentNumberScheduled"),
        _count(obj, "status", "numberReady"),
        _count(obj, "status", "updatedNumberScheduled"),
        _count(obj, "status", "numberAvailable"),
        joined_labels(part(_pod_spec(obj), "nodeSelector")),
        age(obj, now),
        *containers(_pod_spec(obj)),
        joined_selector(part(obj, "spec").get("selector")),
    ]


@printer("apps/v1", "ControllerRevision", "Name, Controller, Revision, Age")
def _controller_revision(obj: Object, now: datetime) -> Cells:
    owner = next((each for each in items(part(obj, "metadata"), "ownerReferences") if each.get("controller")), None)
    return [name(obj), NONE if owner is None else _owner(owner), obj.get("revision") or 0, age(obj, now)]


def _owner(owner: Object) -> str:
    group, slash, _ = owner["apiVersion"].rpartition("/")
    return f"{owner['kind']}{'.' if slash else ''}{group}".lower() + f"/{owner['name']}"


@printer("batch/v1", "Job", "Name, Status, Completions, Duration, Age, Containers+, Images+, Selector+")
def _job(obj: Object, now: datetime) -> Cells:
    return [
        name(obj),
        _job_status(obj),
        _completions(obj),
        _job_duration(part(obj, "status"), now),
        age(obj, now),
        *containers(_pod_spec(obj)),
        joined_selector(part(obj, "spec").get("selector")),
    ]


def _job_status(obj: Object) -> str:
    conditions = {each.get("type"): each.get("status") for each in items(part(obj, "status"), "conditions")}
    true = [kind for kind in (*_JOB_ENDS, *_JOB_STATES) if conditions.get(kind) == "True"]
    if true and true[0] in _JOB_ENDS:
        return true[0]
    if part(obj, "metadata").get("deletionTimestamp"):
        return "Terminating"
    return true[0] if true else "Running"


def _completions(obj: Object) -> str:
    spec, done = part(obj, "spec"), _count(obj, "status", "succeeded")
    if spec.get("completions") is not None:
        return f"{done}/{spec['completions']}"
    parallelism = spec.get("parallelism") or 0
    return f"{done}/1 of {parallelism}" if parallelism > 1 else f"{done}/1"


def _job_duration(status: Object, now: datetime) -> str:
    start, end = status.get("startTime"), status.get("completionTime")
    if not start:
        return ""
    return human_duration((parsed(end) if end else now) - parsed(start))


@printer(
    "batch/v1",
    "CronJob",
    "Name, Schedule, Timezone, Suspend:boolean, Active:integer, Last Schedule, Age, Containers+, Images+, Selector+",
)
def _cron_job(obj: Object, now: datetime) -> Cells:
    spec, status = part(obj, "spec"), part(obj, "status")
    zone, suspend, last = spec.get("timeZone"), spec.get("suspend"), status.get("lastScheduleTime")
    job = part(spec, "jobTemplate", "spec")
    return [
        name(obj),
        spec.get("schedule") or "",
        NONE if zone is None else zone,
        "<unset>" if suspend is None else str(suspend),
        len(items(status, "active")),
        since(last, now) if last else NONE,
        age(obj, now),
        *containers(part(job, "template", "spec")),
        joined_selector(job.get("selector")),
    ]


@printer(
    "policy/v1",
    "PodDisruptionBudget",
    "Name, Min Available, Max Unavailable, Allowed Disruptions:integer, Age",
)
def _disruption_budget(obj: Object, now: datetime) -> Cells:
    spec = part(obj, "spec")
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    return [
        name(obj),
        "N/A" if least is None else str(least),
        "N/A" if most is None else str(most),
        _count(obj, "status", "disruptionsAllowed"),
        age(obj, now),
    ]


@printer("autoscaling/v1", "Scale", "Name, Desired:integer, Available:integer, Age")
def _scale(obj: Object, now: datetime) -> Cells:
    return [name(obj), _count(obj, "spec", "replicas"), _count(obj, "status", "replicas"), age(obj, now)]
