"""Plays a case, step by step, in any cluster. Pods of one owner are as good as each other, whatever their names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mooring.kube.objects import Object
from tests.builtin.settled.clusters import Cluster

# When everything happened, so that no backoff is still to be sat out.
LONG_AGO = "2020-01-01T00:00:00Z"
INDEX = "batch.kubernetes.io/job-completion-index"


def do(cluster: Cluster, step: Object) -> str:
    """One step; what was refused."""
    match step["do"]:
        case "create":
            return cluster.create(step["obj"])
        case "patch":
            return cluster.patch(step["kind"], step["name"], step["body"], step.get("sub", ""))
        case "delete":
            return cluster.delete(step["kind"], step["name"], step.get("propagation"))
        case "ready":
            return "".join(_ready(cluster, step["count"]))
        case "end":
            return "".join(_end(cluster, step))
        case "gone":
            return "".join(_gone(cluster))
        case "lose":
            chosen = [pods[0] for pods in _groups(cluster) if pods]
            return "".join(cluster.delete("Pod", pod["metadata"]["name"]) for pod in chosen)
        case "touch":
            pods = [pod for group in _groups(cluster) for pod in group]
            return cluster.patch("Pod", pods[0]["metadata"]["name"], step["body"]) if pods else ""
    raise ValueError(step["do"])


def _groups(cluster: Cluster) -> Iterator[list[Object]]:
    """The pods of each owner that have not ended, in an order that means the same in every cluster."""
    groups: dict[str, list[Object]] = {}
    for pod in cluster.list("Pod"):
        if pod["status"].get("phase") in ("Succeeded", "Failed") or "deletionTimestamp" in pod["metadata"]:
            continue
        owners = pod["metadata"].get("ownerReferences", [{"uid": ""}])
        groups.setdefault(owners[0]["uid"], []).append(pod)
    for uid in sorted(groups, key=lambda each: _rank(groups[each][0])):
        yield sorted(groups[uid], key=_rank)


def _rank(pod: Object) -> tuple[Any, ...]:
    meta = pod["metadata"]
    image = pod["spec"]["containers"][0]["image"]
    place = meta.get("annotations", {}).get(INDEX, "")
    given = "" if "generateName" in meta else meta["name"]
    return image, not _is_ready(pod), place, node_of(pod), pod["spec"].get("nodeName", ""), given, meta["name"]


def node_of(pod: Object) -> str:
    """The node that a pod is made for; any other pod goes to the first one."""
    affinity = pod["spec"].get("affinity", {}).get("nodeAffinity", {})
    terms = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms", [])
    return next((field["values"][0] for term in terms for field in term.get("matchFields", ())), "n0")


def _is_ready(pod: Object) -> bool:
    return any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"].get("conditions", ()))


def _ready(cluster: Cluster, count: int) -> Iterator[str]:
    """So many pods of each owner are ready, and the others run and are not."""
    addresses = 0
    for pods in _groups(cluster):
        for number, pod in enumerate(pods):
            addresses += 1
            name = pod["metadata"]["name"]
            if not pod["spec"].get("nodeName"):
                yield cluster.bind(name, node_of(pod))
            body = _running(pod, number < count)
            yield cluster.patch("Pod", name, {"status": body}, "status")


def _running(pod: Object, ready: bool) -> Object:
    status = "True" if ready else "False"
    conditions = [
        {"type": kind, "status": status, "lastTransitionTime": LONG_AGO} for kind in ("ContainersReady", "Ready")
    ]
    container = pod["spec"]["containers"][0]
    state = {"running": {"startedAt": LONG_AGO}}
    told = {"name": container["name"], "image": "x", "imageID": "", "ready": ready, "restartCount": 0, "state": state}
    return {"phase": "Running", "startTime": LONG_AGO, "conditions": conditions, "containerStatuses": [told]}


def _end(cluster: Cluster, step: Object) -> Iterator[str]:
    """So many pods of each owner end with a code, and with `lost` because of a disruption."""
    code = step["code"]
    for pods in _groups(cluster):
        for pod in pods[: step["count"]]:
            status = _ended(pod, code)
            if step.get("lost"):
                status["conditions"].append(
                    {"type": "DisruptionTarget", "status": "True", "reason": "X", "lastTransitionTime": LONG_AGO}
                )
            if not pod["spec"].get("nodeName"):
                yield cluster.bind(pod["metadata"]["name"], node_of(pod))
            yield cluster.patch("Pod", pod["metadata"]["name"], {"status": status}, "status")


def _ended(pod: Object, code: int) -> Object:
    container = pod["spec"]["containers"][0]
    state = {"terminated": {"exitCode": code, "finishedAt": LONG_AGO, "startedAt": LONG_AGO, "reason": "End"}}
    told = {"name": container["name"], "image": "x", "imageID": "", "ready": False, "restartCount": 0}
    conditions = [{"type": "Ready", "status": "False", "lastTransitionTime": LONG_AGO}]
    phase = "Failed" if code else "Succeeded"
    return {"phase": phase, "containerStatuses": [told | {"state": state}], "conditions": conditions}


def _gone(cluster: Cluster) -> Iterator[str]:
    """Pods that were deleted have stopped; those that are held run to their end first."""
    for pod in cluster.list("Pod"):
        meta = pod["metadata"]
        if "deletionTimestamp" not in meta:
            continue
        if meta.get("finalizers") and pod["status"].get("phase") not in ("Succeeded", "Failed"):
            yield cluster.patch("Pod", meta["name"], {"status": _ended(pod, 143)}, "status")
        else:
            yield cluster.delete("Pod", meta["name"], None, 0)
