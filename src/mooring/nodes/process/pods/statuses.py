"""The status of a pod as a kubelet would write it: phase, conditions, and the state of each container."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from mooring.kube.conditions import find_condition, set_conditions
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.nodes.process.pods import backoff
from mooring.nodes.process.pods.model import ContainerRecord, End, PodRecord
from mooring.nodes.process.pods.resizes import resize_conditions, resources_of
from mooring.nodes.process.pods.specs import (
    ephemeral_containers,
    full_name,
    init_containers,
    is_ephemeral,
    is_sidecar,
    main_containers,
    restarts,
    sidecars,
)

__all__ = ["initialized", "overdue", "phase_of", "status_of"]


RUNTIME: Final = "process"
_NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)
_OURS: Final = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")


def initialized(spec: Object, pod: PodRecord) -> bool:
    """Whether a main container has run: from then on the pod counts as initialized whatever happens."""
    return any(_has_run(pod.container(each["name"])) for each in main_containers(spec))


def overdue(spec: Object, pod: PodRecord) -> datetime | None:
    """When the pod's time is over."""
    seconds = spec["spec"].get("activeDeadlineSeconds")
    return None if seconds is None else pod.begun + timedelta(seconds=seconds)


def status_of(spec: Object, pod: PodRecord, now: datetime, *, address: str) -> Object:
    """The status to write. Conditions that others wrote stay as they are."""
    phase = phase_of(spec, pod)
    status: Object = {
        "phase": phase,
        "startTime": timestamp(pod.begun),
        "hostIP": address,
        "hostIPs": [{"ip": address}],
        "containerStatuses": [container_status(spec, each, pod, now) for each in main_containers(spec)],
        "conditions": _conditions(spec, pod, phase, now),
    }
    if init_containers(spec):
        status["initContainerStatuses"] = [container_status(spec, each, pod, now) for each in init_containers(spec)]
    if debugging := ephemeral_containers(spec):
        status["ephemeralContainerStatuses"] = [container_status(spec, each, pod, now) for each in debugging]
    if pod.prepared == "yes":
        status |= {"podIP": address, "podIPs": [{"ip": address}]}
    if generation := spec["metadata"].get("generation"):
        status["observedGeneration"] = generation
    if pod.failure is not None:
        status["reason"], status["message"] = pod.failure
    return status


def phase_of(spec: Object, pod: PodRecord) -> str:
    if pod.failure is not None:
        return "Failed"
    for each in init_containers(spec):
        known = pod.container(each["name"])
        if is_sidecar(each, spec):
            if not (known.process == "running" and known.started) and not initialized(spec, pod):
                return "Pending"
        elif known.end is None or known.process != "ended":
            return "Pending"
        elif known.end.code:
            return "Pending" if restarts(each, spec, known.end.code) and not pod.over else "Failed"
    mains = [(each, pod.container(each["name"])) for each in main_containers(spec)]
    if any(not _has_run(known) for _, known in mains) and not pod.over:
        return "Pending"
    if any(_is_up(known) for _, known in mains) or not pod.over:
        return "Running"
    return "Succeeded" if all(known.end is not None and not known.end.code for _, known in mains) else "Failed"


# Containers


def _has_run(known: ContainerRecord) -> bool:
    return known.since is not None or known.attempt > 0 or known.end is not None


def _is_up(known: ContainerRecord) -> bool:
    return known.process == "running"


def container_status(spec: Object, container: Object, pod: PodRecord, now: datetime) -> Object:
    known = pod.container(container["name"])
    state, last = _states(spec, container, pod, now)
    prepares = any(container is each for each in init_containers(spec)) and not is_sidecar(container, spec)
    done = prepares and known.process == "ended" and known.end is not None and known.end.code == 0
    running = known.process == "running"
    starting_again = known.process == "starting" and known.attempt > 0
    status: Object = {
        "name": container["name"],
        "image": container.get("image", ""),
        "imageID": "",
        "ready": done or (running and known.ready and not prepares and not is_ephemeral(container, spec)),
        "started": running and known.started,
        "restartCount": known.attempt - 1 if starting_again else known.attempt,
        "state": state,
        "lastState": {} if last is None else {"terminated": _terminated(last)},
    }
    if known.id:
        status["containerID"] = f"{RUNTIME}://{known.id}"
    if _has_run(known):
        allocated = pod.allocated.get(container["name"], resources_of(container))
        status["resources"] = (known.resources if running else None) or allocated
        if allocated.get("requests"):
            status["allocatedResources"] = allocated["requests"]
    return status


def _states(spec: Object, container: Object, pod: PodRecord, now: datetime) -> tuple[Object, End | None]:
    known = pod.container(container["name"])
    if known.process == "running":
        return {"running": {"startedAt": timestamp(known.since or now)}}, known.last
    if known.process == "ended" and known.end is not None:
        return _ended(spec, container, pod, known, now)
    if known.process == "starting" and known.last is not None:
        return {"terminated": _terminated(known.last)}, None
    if known.blocker is not None:
        return {"waiting": {"reason": known.blocker.reason, "message": known.blocker.message}}, None
    reason = "PodInitializing" if init_containers(spec) and pod.prepared == "yes" else "ContainerCreating"
    return {"waiting": {"reason": reason}}, None


def _ended(
    spec: Object, container: Object, pod: PodRecord, known: ContainerRecord, now: datetime
) -> tuple[Object, End | None]:
    assert known.end is not None
    comes_back = not pod.over and pod.ending is None and restarts(container, spec, known.end.code)
    if comes_back and known.blocker is not None:
        return {"waiting": {"reason": known.blocker.reason, "message": known.blocker.message}}, known.end
    if comes_back and backoff.due(known) > now:
        pause = backoff.in_words(known.pause)
        message = f"back-off {pause} restarting failed container={container['name']} pod={full_name(spec)}"
        return {"waiting": {"reason": "CrashLoopBackOff", "message": message}}, known.end
    return {"terminated": _terminated(known.end)}, known.last


def _terminated(end: End) -> Object:
    found: Object = {
        "exitCode": end.code,
        "reason": end.reason,
        "startedAt": timestamp(end.started or _NEVER),
        "finishedAt": timestamp(end.finished),
    }
    if end.message:
        found["message"] = end.message
    if end.id:
        found["containerID"] = f"{RUNTIME}://{end.id}"
    return found


# Conditions


def _conditions(spec: Object, pod: PodRecord, phase: str, now: datetime) -> list[Object]:
    known, resizes = resize_conditions(spec, pod)
    ready = _containers_ready(spec, pod, phase)
    wanted = {
        "PodReadyToStartContainers": _condition(pod.prepared == "yes" and not pod.over),
        "Initialized": _initialized_condition(spec, pod, phase),
        "Ready": _gated(spec, known, ready),
        "ContainersReady": ready,
        # Told by whoever bound the pod, and true of what it has become since: it is here.
        "PodScheduled": _condition(True),
    }
    common: Object = {"lastProbeTime": None}
    if generation := spec["metadata"].get("generation"):
        common["observedGeneration"] = generation
    ours = [{"type": kind, **common, **found} for kind, found in wanted.items()]
    made = set_conditions(known, [*ours, *resizes], timestamp(now)) or known
    # A kubelet's own conditions stand before those of others.
    return sorted(made, key=lambda condition: condition["type"] not in wanted)


def _condition(good: bool, reason: str = "", message: str = "") -> Object:
    made = {"status": "True" if good else "False"}
    return made | ({"reason": reason} if reason else {}) | ({"message": message} if message else {})


def _initialized_condition(spec: Object, pod: PodRecord, phase: str) -> Object:
    if phase == "Succeeded":
        return _condition(True, "PodCompleted")
    incomplete = []
    for each in init_containers(spec):
        known = pod.container(each["name"])
        if is_sidecar(each, spec):
            good = known.process == "running" and known.started
        else:
            good = known.process == "ended" and known.end is not None and known.end.code == 0
        if not good:
            incomplete.append(each["name"])
    if initialized(spec, pod) or not incomplete:
        return _condition(True)
    listed = " ".join(incomplete)
    return _condition(False, "ContainersNotInitialized", f"containers with incomplete status: [{listed}]")


def _containers_ready(spec: Object, pod: PodRecord, phase: str) -> Object:
    if phase == "Succeeded":
        return _condition(False, "PodCompleted")
    if phase == "Failed":
        return _condition(False, "PodFailed")
    unready = [
        each["name"]
        for each in (*sidecars(spec), *main_containers(spec))
        if not (pod.container(each["name"]).process == "running" and pod.container(each["name"]).ready)
    ]
    if unready:
        return _condition(False, "ContainersNotReady", f"containers with unready status: [{' '.join(unready)}]")
    return _condition(True)


def _gated(spec: Object, known: list[Object], ready: Object) -> Object:
    """Whether the pod is ready, where others have a say in it too."""
    if ready["status"] != "True":
        return ready
    missing = []
    for gate in spec["spec"].get("readinessGates") or ():
        kind = gate["conditionType"]
        found = find_condition(known, kind)
        if found is None:
            missing.append(f'corresponding condition of pod readiness gate "{kind}" does not exist.')
        elif found.get("status") != "True":
            missing.append(f'the status of pod readiness gate "{kind}" is not "True", but {found.get("status")}')
    return _condition(False, "ReadinessGatesNotReady", ", ".join(missing)) if missing else ready
