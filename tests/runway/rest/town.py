"""A cluster with something of everything that the REST API tells of, and answers without what differs by run."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from mooring.catalog import CATALOG
from mooring.kube.objects import Object
from mooring.testing.groups import leader_worker_set
from mooring.testing.hosts import byo_host
from mooring.testing.http import Api
from mooring.testing.installations import helm_chart, installation
from mooring.testing.notebooks import notebook_job
from mooring.testing.scaled_pools import scaled_pool
from mooring.testing.workspaces import workspace

THEN: Final = "2026-01-01T00:00:00Z"
GPU: Final = {
    "node.kubernetes.io/pool": "gpu",
    "nvidia.com/gpu.present": "true",
    "nvidia.com/gpu.product": "NVIDIA-H200",
    "nvidia.com/gpu.count": "8",
    "nvidia.com/gpu.memory": "143771",
    "apps": "llm",
}
_TIME: Final = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_UID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TOKEN_VOLUME: Final = re.compile(r"kube-api-access-\w{5}")
_DROPPED: Final = frozenset({"managedFields", "resourceVersion", "timestamp"})
# Lists in the order in which watches told of their elements.
_UNORDERED: Final = frozenset({"workloads", "nodes", "events", "hosts", "notebooks", "installation", "pools"})


def settled(value: Any, url: str) -> Any:
    """An answer without times, uids, versions and the address of the server."""
    match value:
        case dict():
            found = {name: settled(part, url) for name, part in value.items() if name not in _DROPPED}
            return {name: _sorted(part) if name in _UNORDERED else part for name, part in found.items()}
        case list():
            return [settled(part, url) for part in value]
        case str():
            text = _TOKEN_VOLUME.sub("kube-api-access", _UID.sub("UID", value.replace(url, "URL")))
            return _TIME.sub(lambda found: found[0] if found[0] == THEN else "TIME", text)
        case _:
            return value


def _sorted(part: Any) -> Any:
    return sorted(part, key=lambda each: json.dumps(each, sort_keys=True)) if isinstance(part, list) else part


def _node(name: str, gpus: int, labels: Object, *, ready: bool = True, cordoned: bool = False) -> Object:
    amounts = {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": str(gpus)}
    condition = {"type": "Ready", "status": str(ready), "lastTransitionTime": THEN, "reason": "Kubelet", "message": ""}
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", **labels}},
        "spec": {"unschedulable": cordoned} if cordoned else {},
        "status": {"capacity": amounts, "allocatable": amounts, "conditions": [condition]},
    }


def _pod(name: str, gpus: int, node: str, status: Object, owner: Object | None = None, **labels: str) -> Object:
    limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    metadata: Object = {"name": name, "labels": labels}
    if owner is not None:
        reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"]}
        metadata["ownerReferences"] = [{**reference, "uid": owner["metadata"]["uid"], "controller": True}]
    container = {"name": "main", "image": "x:1", "resources": {"limits": limits, "requests": {"cpu": "1", **limits}}}
    spec = {"containers": [container], **({"nodeName": node} if node else {})}
    return {"kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


RUNNING: Final = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
WAITING: Final = {
    "phase": "Pending",
    "conditions": [
        {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.",
        }
    ],
}
PULLING: Final = {
    "phase": "Pending",
    "containerStatuses": [
        {
            "name": "main",
            "image": "x:1",
            "imageID": "",
            "ready": False,
            "restartCount": 2,
            "state": {"waiting": {"reason": "ImagePullBackOff", "message": "registry.example.com says no"}},
        }
    ],
}


def _event(name: str, kind: str, about: str, reason: str, message: str, kind_of: str = "Normal") -> Object:
    involved = {"kind": kind, "namespace": "default", "name": about}
    told = {"reason": reason, "message": message, "type": kind_of, "count": 2}
    times = {"firstTimestamp": THEN, "lastTimestamp": THEN}
    return {"kind": "Event", "metadata": {"name": name}, "involvedObject": involved, **told, **times}


_CORE: Final = "/api/v1"
_PATHS: Final = {
    "Node": f"{_CORE}/nodes",
    "Pod": f"{_CORE}/namespaces/default/pods",
    "Event": f"{_CORE}/namespaces/default/events",
    "Deployment": "/apis/apps/v1/namespaces/default/deployments",
    "ReplicaSet": "/apis/apps/v1/namespaces/default/replicasets",
    "Job": "/apis/batch/v1/namespaces/default/jobs",
    "Secret": f"{_CORE}/namespaces/default/secrets",
}


def _path(obj: Object) -> str:
    if obj["kind"] in _PATHS:
        return _PATHS[obj["kind"]]
    (plural,) = {each.plural for each in CATALOG.resources() if each.kind == obj["kind"]}
    where = "" if obj["kind"] == "Installation" else "/namespaces/default"
    return f"/apis/{obj['apiVersion']}{where}/{plural}"


def _put(api: Api, obj: Object) -> Object:
    path = _path(obj)
    answer = api.post(path, obj)
    assert answer.code == 201, answer.body
    if "status" in obj and obj["kind"] != "Event":
        name = obj["metadata"]["name"]
        changed = api.patch(f"{path}/{name}/status", "merge", {"status": obj["status"]})
        assert changed.code == 200, changed.body
        if obj["kind"] == "Node":
            assert api.patch(f"{path}/{name}", "merge", {"spec": {"taints": None}}).code == 200
    made: Object = answer.body
    return made


def _replicas(name: str, kind: str, owner: Object | None, status: Object) -> Object:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "x:1"}]}}
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    metadata: Object = {"name": name, "labels": labels}
    if owner is not None:
        reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": owner["metadata"]["name"]}
        metadata["ownerReferences"] = [{**reference, "uid": owner["metadata"]["uid"], "controller": True}]
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec, "status": status}


def settle_in(api: Api) -> None:
    """Nodes, pods, workloads in all states, hosts, a job with results, an installation under way, events."""
    for definition in CATALOG.definitions():
        answer = api.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        assert answer.code in (201, 409)
    account = f"{_CORE}/namespaces/default/serviceaccounts"
    assert api.post(account, {"metadata": {"name": "default"}}).code in (201, 409)
    for node in (
        _node("gpu-1", 8, GPU),
        _node("gpu-2", 8, GPU, cordoned=True),
        _node("cpu-1", 0, {"topology.kubernetes.io/zone": "z1"}, ready=False),
    ):
        _put(api, node)
    web = _put(api, _replicas("web", "Deployment", None, {"replicas": 2, "readyReplicas": 1}))
    hashed = _put(api, _replicas("web-1", "ReplicaSet", web, {"replicas": 2}))
    served = _put(api, workspace("llm", preset="phi-4", count=1))
    groups = leader_worker_set("serve", replicas=2, size=2)
    groups["metadata"]["labels"] = {"runway.mooring.dev/provider": "mooring"}
    lws = _put(api, {**groups, "status": {"readyReplicas": 1}})
    group = {"leaderworkerset.sigs.k8s.io/name": "serve", "leaderworkerset.sigs.k8s.io/group-index": "0"}
    for pod in (
        _pod("web-1-a", 0, "gpu-1", RUNNING, hashed),
        _pod("web-1-b", 0, "gpu-1", PULLING, hashed),
        _pod("llm-0", 2, "gpu-1", RUNNING, served, **{"kaito.sh/workspace": "llm"}),
        _pod("serve-0", 1, "gpu-2", RUNNING, lws, **group),
        _pod("serve-0-1", 1, "", WAITING, lws, **group),
        _pod("giant", 16, "", WAITING),
        _pod("done", 1, "gpu-1", {"phase": "Succeeded"}),
    ):
        _put(api, pod)
    _put(api, byo_host("h1", labels={"purpose": "gpu"}, gpu=1))
    healthy = {"type": "HostHealthy", "status": "False", "reason": "Silent", "message": "m", "lastTransitionTime": THEN}
    claim = {"kind": "ByoMachine", "name": "m1", "uid": "u", "namespace": "default"}
    _put(api, {**byo_host("h2"), "status": {"machineRef": claim, "phase": "Silent", "conditions": [healthy]}})
    results = [{"cellIndex": 0, "status": "Success"}, {"cellIndex": 1, "status": "Failure", "errorMessage": "no"}]
    _put(api, {**notebook_job(), "status": {"phase": "Failed", "message": "1 of 2", "results": results}})
    step = {"name": "release-kaito", "title": "Install", "state": "Running", "startedAt": THEN, "output": "..."}
    status = {"phase": "Installing", "message": "kaito is installed", "steps": [step]}
    releases = [{"name": "a", "revision": 1, "status": "pending-install"}]
    _put(api, {**installation("other", helm_chart()), "status": {**status, "releases": releases}})
    _put(api, scaled_pool("gpu", 1, most=3))
    _put(api, {"kind": "Secret", "metadata": {"name": "hub"}, "stringData": {"HF_TOKEN": "hf_secret"}})
    _put(api, _event("e1", "Pod", "giant", "FailedScheduling", "0/3 nodes are available", "Warning"))
    _put(api, _event("e2", "MachineDeployment", "gpu-pool", "SuccessfulScale", "Scaled up MachineSet x from 0 to 1"))
    _put(api, _event("e3", "Deployment", "web", "ScalingReplicaSet", "Scaled up web-1"))
