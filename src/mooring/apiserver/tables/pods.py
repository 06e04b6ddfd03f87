"""The row of a pod: how many containers are ready, and the one word that says best how the pod is doing.

That word comes from whichever container tells most: an init container that blocks, a container that waits or has
stopped, and above all the deletion of the pod.
"""

from datetime import datetime
from typing import Any, Final, NamedTuple

from mooring.apiserver.tables.durations import parsed, since
from mooring.apiserver.tables.printing import NONE, PRINTERS, Cells, Printer, age, columns, items, name, part
from mooring.kube.objects import Object

__all__ = ["pod_cells"]

_COLUMNS: Final = columns(
    "Name, Ready, Status, Restarts, Age, IP+, Node+, Nominated Node+, Readiness Gates+",
)
_ENDED: Final = {
    "Succeeded": "The pod has completed successfully.",
    "Failed": "The pod failed.",
}


class _Progress(NamedTuple):
    """What the containers say: the word for the pod, how many are ready, restarts and when the last of them was."""

    word: str
    ready: int
    restarts: int
    restarted: str


def pod_cells(pod: Object, now: datetime) -> Cells:
    spec, status = part(pod, "spec"), part(pod, "status")
    sidecars = {each["name"] for each in items(spec, "initContainers") if each.get("restartPolicy") == "Always"}
    progress = _progress(pod, sidecars)
    restarts = str(progress.restarts)
    if progress.restarts and progress.restarted:
        restarts = f"{restarts} ({since(progress.restarted, now)} ago)"
    addresses = items(status, "podIPs")
    return [
        name(pod),
        f"{progress.ready}/{len(items(spec, 'containers')) + len(sidecars)}",
        _final_word(pod, progress.word),
        restarts,
        age(pod, now),
        (addresses[0].get("ip") if addresses else "") or NONE,
        spec.get("nodeName") or NONE,
        status.get("nominatedNodeName") or NONE,
        _gates(items(spec, "readinessGates"), items(status, "conditions")),
    ]


def _final_word(pod: Object, word: str) -> str:
    status = part(pod, "status")
    if not part(pod, "metadata").get("deletionTimestamp"):
        return word
    if status.get("reason") == "NodeLost":
        return "Unknown"
    return word if status.get("phase") in _ENDED else "Terminating"


def _progress(pod: Object, sidecars: set[str]) -> _Progress:
    status = part(pod, "status")
    conditions = items(status, "conditions")
    word = status.get("reason") or status.get("phase") or ""
    if any(each.get("type") == "PodScheduled" and each.get("reason") == "SchedulingGated" for each in conditions):
        word = "SchedulingGated"
    total = len(items(part(pod, "spec"), "initContainers"))
    first = items(status, "initContainerStatuses")
    blocker, start = _initializing(first, sidecars, total, word)
    if blocker is not None and not _is_true(conditions, "Initialized"):
        return start
    # An init container that has done its work says nothing about restarts any more; a sidecar still does.
    looked_at = first if blocker is None else first[: blocker + 1]
    counted = [each for each in looked_at if each.get("name") in sidecars]
    own = items(status, "containerStatuses")
    restarts = sum(each.get("restartCount") or 0 for each in (*counted, *own))
    word, running = _running(own, start.word, _is_true(conditions, "Ready"))
    return _Progress(word, start.ready + running, restarts, _last_stop([*counted, *own]))


def _initializing(statuses: list[Any], sidecars: set[str], total: int, word: str) -> tuple[int | None, _Progress]:
    """Which init container holds the pod up, if one does, and how far the pod has come."""
    ready = restarts = 0
    for index, each in enumerate(statuses):
        restarts += each.get("restartCount") or 0
        ended = part(each, "state").get("terminated")
        if ended is not None and not ended.get("exitCode"):
            continue
        if each.get("name") in sidecars and each.get("started"):
            ready += bool(each.get("ready"))
            continue
        waits = part(each, "state", "waiting").get("reason")
        if ended is not None:
            word = f"Init:{_why(ended)}"
        elif waits and waits != "PodInitializing":
            word = f"Init:{waits}"
        else:
            word = f"Init:{index}/{total}"
        return index, _Progress(word, ready, restarts, _last_stop(statuses[: index + 1]))
    return None, _Progress(word, ready, restarts, "")


def _running(statuses: list[Any], word: str, pod_ready: bool) -> tuple[str, int]:
    """The word of the containers, the first of them speaking last, and how many are ready."""
    ready, failure = 0, ""
    for each in reversed(statuses):
        state = part(each, "state")
        waits = part(state, "waiting").get("reason")
        ended = state.get("terminated")
        if waits:
            word = waits
        elif ended is not None:
            word = _why(ended)
            failure = word if ended.get("exitCode") else failure
        elif each.get("ready") and state.get("running") is not None:
            ready += 1
    if word != "Completed":
        return word, ready
    if ready and pod_ready:
        return "Running", ready
    return failure or ("NotReady" if ready else word), ready


def _why(ended: Object) -> str:
    if ended.get("reason"):
        return str(ended["reason"])
    return f"Signal:{ended['signal']}" if ended.get("signal") else f"ExitCode:{ended.get('exitCode') or 0}"


def _last_stop(statuses: list[Any]) -> str:
    stops = [part(each, "lastState", "terminated").get("finishedAt") for each in statuses]
    return max(filter(None, stops), key=parsed, default="")


def _is_true(conditions: list[Any], kind: str) -> bool:
    return any(each.get("type") == kind and each.get("status") == "True" for each in conditions)


def _gates(gates: list[Any], conditions: list[Any]) -> str:
    if not gates:
        return NONE
    met = sum(_is_true(conditions, gate.get("conditionType")) for gate in gates)
    return f"{met}/{len(gates)}"


def _ended(pod: Object) -> list[Object]:
    phase = part(pod, "status").get("phase")
    if phase not in _ENDED:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": _ENDED[phase]}]


PRINTERS["v1", "Pod"] = Printer(_COLUMNS, pod_cells, _ended)
