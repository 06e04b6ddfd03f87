"""Workloads, each with its pods, conditions and events, and the logs of its pods."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec

from mooring.catalog import CATALOG
from mooring.kube.objects import Object
from mooring.placement.workloads.kinds import WorkloadKind
from mooring.runway.fleet.records import FleetPod
from mooring.runway.operations.pod_logs import pod_log_query
from mooring.runway.operations.workloads import delete_workload
from mooring.runway.rest.errors import ErrorDetail, RestError
from mooring.runway.rest.mirror.fleet_topics import WORKLOADS
from mooring.runway.rest.mirror.sources import EVENTS
from mooring.runway.rest.route import RestCall, Route
from mooring.runway.rest.routes.fleet import listed
from mooring.runway.shown import Shown
from mooring.runway.workloads.events import EventSummary
from mooring.runway.workloads.records import ConditionShown
from mooring.runway.workloads.summary import WorkloadSummary

__all__ = ["WORKLOAD_ROUTES"]

TAIL_LINES: Final = 100
MAX_TAIL_LINES: Final = 10_000


class WorkloadsShown(Shown, frozen=True):
    workloads: tuple[WorkloadSummary, ...]


class WorkloadPodShown(Shown, frozen=True):
    """`reason` and `message` are there where something is wrong, `group` where pods are of use only together."""

    name: str
    node: str
    phase: str
    ready: bool
    restarts: int
    gpus: int
    created_at: str
    reason: str = ""
    message: str = ""
    group: str = ""


class WorkloadScale(Shown, frozen=True):
    """Where the number of pods stands, how many there are to be, and with which verb of `apply` that is changed."""

    verb: Literal["scale", "patch"]
    path: str
    replicas: int


class WorkloadDetail(Shown, frozen=True):
    """`manifest` is the object as the API server has it, without managed fields. A kind that scales has a `scale`."""

    workload: WorkloadSummary
    pods: tuple[WorkloadPodShown, ...]
    conditions: tuple[ConditionShown, ...]
    events: tuple[EventSummary, ...]
    manifest: dict[str, Any]
    scale: WorkloadScale | None = None


class DeleteQuery(msgspec.Struct, frozen=True):
    """`uid` is that of the object which was looked at: another one of the same name stays."""

    uid: str = ""


class WorkloadDeleted(Shown, frozen=True):
    message: str


class LogsQuery(msgspec.Struct, frozen=True, rename="camel"):
    """Without `pod` it is the first pod of the workload; `tailLines` counts from the end."""

    pod: str = ""
    container: str = ""
    tail_lines: Annotated[int, msgspec.Meta(ge=1, le=MAX_TAIL_LINES)] = TAIL_LINES
    timestamps: bool = False


class LogsShown(Shown, frozen=True):
    logs: str
    pod_name: str
    container: str | None = None


async def _workloads(call: RestCall) -> Any:
    return await listed(call, WORKLOADS)


async def _detail(call: RestCall) -> WorkloadDetail:
    uid, summary = await _found(call)
    path, fleet = call.path, call.caller.mirror.fleet
    api_version = CATALOG.workloads()[path["kind"]].api_version
    manifest = await call.caller.transport.get(api_version, path["kind"], path["namespace"], path["name"])
    pods = fleet.pods_of(uid)
    record = fleet.workloads.get(uid)
    return WorkloadDetail(
        summary,
        tuple(_pod(pod, path["kind"]) for pod in pods),
        record.conditions if record is not None else (),
        await _events_about(call, pods),
        _without_managed_fields(manifest),
        _scale(manifest),
    )


def _scale(manifest: Object) -> WorkloadScale | None:
    if not CATALOG.workloads()[manifest["kind"]].scales:
        return None
    spec = manifest.get("spec") or {}
    if manifest["kind"] == "Job":
        return WorkloadScale("patch", "/spec/parallelism", spec.get("parallelism", 1))
    return WorkloadScale("scale", "/spec/replicas", spec.get("replicas", 1))


async def _delete(call: RestCall) -> WorkloadDeleted:
    kind, namespace, name = call.path["kind"], call.path["namespace"], call.path["name"]
    await delete_workload(call.caller.transport, _kind(kind).api_version, kind, namespace, name, call.query.uid)
    return WorkloadDeleted(f"{kind} {namespace}/{name} is being deleted")


def _kind(name: str) -> WorkloadKind:
    if name not in CATALOG.workloads():
        known = ", ".join(CATALOG.workloads())
        raise RestError(404, f'there are no workloads of kind "{name}"; there are {known}')
    return CATALOG.workloads()[name]


async def _found(call: RestCall) -> tuple[str, WorkloadSummary]:
    path = call.path
    _kind(path["kind"])
    await call.caller.topic(WORKLOADS)
    fleet = call.caller.mirror.fleet
    uid = fleet.find(path["kind"], path["namespace"], path["name"])
    summary = None if uid is None else fleet.workload(uid)
    if uid is None or summary is None:
        raise RestError(404, f'{path["kind"]} "{path["name"]}" not found in namespace {path["namespace"]}')
    return uid, summary


async def _events_about(call: RestCall, pods: list[FleetPod]) -> tuple[EventSummary, ...]:
    """Of the workload and of its pods, as far as the caller may read events."""
    topic = await call.caller.topic(EVENTS)
    namespace, kind, name = call.path["namespace"], call.path["kind"], call.path["name"]
    about = {(kind, name), *(("Pod", pod.name) for pod in pods)}
    events = (element.value for element in topic.elements.values())
    found = [
        each for each in events if each.object.namespace == namespace and (each.object.kind, each.object.name) in about
    ]
    return tuple(sorted(found, key=lambda event: (event.last_seen, event.id)))


def _pod(pod: FleetPod, kind: str) -> WorkloadPodShown:
    gpus, unit = sum(pod.gpus.values()), CATALOG.workloads()[kind].unit
    return WorkloadPodShown(
        pod.name,
        pod.node,
        pod.phase,
        pod.ready,
        pod.restarts,
        gpus,
        pod.created,
        pod.reason,
        pod.message,
        unit.of(pod.labels) if unit is not None else "",
    )


def _without_managed_fields(obj: Object) -> Object:
    metadata = {name: value for name, value in obj["metadata"].items() if name != "managedFields"}
    return {**obj, "metadata": metadata}


async def _logs(call: RestCall) -> LogsShown:
    uid, _ = await _found(call)
    pods = [pod.name for pod in call.caller.mirror.fleet.pods_of(uid)]
    asked: LogsQuery = call.query
    pod = asked.pod or next(iter(pods), "")
    if not pod:
        raise RestError(404, f"{call.path['kind']} {call.path['name']} has no pods yet, and so no logs")
    if pod not in pods:
        problem = f'"{pod}" is no pod of {call.path["kind"]} {call.path["name"]}'
        raise RestError(400, f"pod: {problem}", [ErrorDetail("pod", problem)])
    query = pod_log_query(asked.tail_lines, asked.container, asked.timestamps)
    text = await call.caller.transport.log(call.path["namespace"], pod, query)
    return LogsShown(text, pod, asked.container or None)


_ONE: Final = "/api/workloads/{kind}/{namespace}/{name}"
WORKLOAD_ROUTES: Final = (
    Route("GET", "/api/workloads", "Everything that makes pods, one entry each.", _workloads, WorkloadsShown),
    Route("GET", _ONE, "One workload with its pods, conditions and events.", _detail, WorkloadDetail),
    Route("DELETE", _ONE, "Delete it with its pods.", _delete, WorkloadDeleted, DeleteQuery, writes=True),
    Route("GET", f"{_ONE}/logs", "The log of one of its pods.", _logs, LogsShown, query=LogsQuery),
)
