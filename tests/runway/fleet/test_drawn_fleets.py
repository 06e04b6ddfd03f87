"""Fleets that are drawn: what is told of every node, workload, host, job and event, and how many GPUs are free."""

from __future__ import annotations

import json
from random import Random
from typing import Any, Final

import msgspec

from mooring.kube.objects import Object
from mooring.runway.capacity import cluster_capacity
from mooring.runway.feature_views.hosts import host_record
from mooring.runway.feature_views.installations import installation_record
from mooring.runway.feature_views.notebooks import notebook_detail, notebook_record
from mooring.runway.fleet.records import FleetPod, NodeRecord, node_record, pod_record
from mooring.runway.fleet.state import FleetState
from mooring.runway.model_fit import with_fits
from mooring.runway.models.catalogue import all_models
from mooring.runway.workloads.events import cluster_event
from mooring.runway.workloads.records import workload_record
from tests.runway.clusters import snapshot
from tests.runway.fleet.objects import raw
from tests.support.golden import same_as_recorded

FLEETS: Final = 60
COUNTS: Final = {"totalCells": 4, "matchedCells": 3, "mismatchedCells": 1}
CREATED: Final = "2026-01-01T00:00:00Z"
WORKLOADS: Final = {
    "Deployment": "apps/v1", "ReplicaSet": "apps/v1", "StatefulSet": "apps/v1", "DaemonSet": "apps/v1",
    "Job": "batch/v1",
    "CronJob": "batch/v1", "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1", "Workspace": "kaito.sh/v1beta1",
    "NotebookValidationJob": "mlops.mlops.dev/v1alpha1",
}  # fmt: skip
CONDITIONS: Final = ("Placeable", "ResourceReady", "Ready", "Available", "ReplicaFailure", "Complete", "Failed")
POOLS: Final = ("node.kubernetes.io/pool", "karpenter.sh/nodepool", "agentpool", "eks.amazonaws.com/nodegroup", "other")
REASONS: Final = ("CrashLoopBackOff", "ImagePullBackOff", "ContainerCreating", "PodInitializing", "", "Completed")


def _status(dice: Random) -> str:
    return dice.choice(("True", "False", "Unknown"))


def drawn_node(dice: Random, name: str) -> Object:
    amounts = {"cpu": dice.choice(("16", "7910m")), "memory": dice.choice(("64Gi", "65000Ki")), "pods": "10"}
    for kind, counts in (
        ("nvidia.com/gpu", (0, 1, 8)),
        ("nvidia.com/mig-1g.5gb", (0, 0, 3)),
        ("google.com/tpu", (0, 0, 4)),
    ):
        amounts |= {kind: str(dice.choice(counts))}
    labels = {dice.choice(POOLS): dice.choice(("a", "b", "")), "kubernetes.io/hostname": name}
    if dice.random() < 0.7:
        labels |= {"nvidia.com/gpu.product": dice.choice(("H200", "A100")), "nvidia.com/gpu.count": "8"}
        labels["nvidia.com/gpu.memory"] = dice.choice(("81920", "143771", "x", ""))
    if dice.random() < 0.5:
        labels["topology.kubernetes.io/zone"] = "z1"
    spec: Object = {"unschedulable": True} if dice.random() < 0.15 else {}
    if dice.random() < 0.3:
        key = dice.choice(("gpu", "node.kubernetes.io/not-ready"))
        spec["taints"] = [{"key": key, "effect": "NoSchedule", **({"value": "v"} if dice.random() < 0.5 else {})}]
    status: Object = {"allocatable": amounts, "capacity": amounts}
    if dice.random() < 0.9:
        ready = {"type": "Ready", "status": "True" if dice.random() < 0.8 else _status(dice)}
        since = {"lastTransitionTime": "2026-01-02T00:00:00Z"} if dice.random() < 0.8 else {}
        status["conditions"] = [{"type": "DiskPressure", "status": "False"}, {**ready, **since}]
    metadata = {"name": name, "uid": f"node-{name}", "labels": labels, "creationTimestamp": CREATED}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status}


def _owner(dice: Random, owners: list[Object]) -> Object:
    if not owners or dice.random() < 0.2:
        return {}
    owner = dice.choice(owners)
    meta = owner["metadata"]
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": meta["name"], "uid": meta["uid"]}
    return {"ownerReferences": [{**reference, "controller": dice.random() < 0.9}]}


def drawn_workload(dice: Random, name: str, owners: list[Object]) -> Object:
    kind = dice.choice([*WORKLOADS])
    metadata: Object = {"name": name, "namespace": "team", "uid": f"uid-{name}", "creationTimestamp": CREATED}
    metadata |= _owner(dice, owners)
    if dice.random() < 0.06:
        metadata["deletionTimestamp"] = CREATED
    conditions = [
        {"type": each, "status": _status(dice), "reason": "Why", "message": dice.choice((f"{each} waits", ""))}
        for each in dice.sample(CONDITIONS, dice.choice((0, 0, 1, 2, 3)))
    ]
    spec = {field: dice.choice((0, 1, 2, 3)) for field in ("replicas", "parallelism") if dice.random() < 0.7}
    if dice.random() < 0.4:
        spec["completions"] = dice.choice((1, 4))
    status = {
        "conditions": conditions,
        "desiredNumberScheduled": dice.choice((0, 2)),
        "succeeded": dice.choice((0, 1, 3)),
    }
    return {"apiVersion": WORKLOADS[kind], "kind": kind, "metadata": metadata, "spec": spec, "status": status}


def _container_status(dice: Random) -> Object:
    state = dice.choice(({"waiting": {"reason": dice.choice(REASONS), "message": "no image"}}, {}, {}))
    if dice.random() < 0.3:
        state = {"terminated": {"reason": dice.choice(("OOMKilled", "Error", "Completed")), "message": "it ended"}}
    return {"restartCount": dice.choice((0, 2)), "state": state}


def drawn_pod(dice: Random, name: str, nodes: list[str], owners: list[Object]) -> Object:
    gpus = {dice.choice(("nvidia.com/gpu", "nvidia.com/mig-1g.5gb", "google.com/tpu")): str(dice.choice((0, 1, 2)))}
    resources = {"requests": {"cpu": "500m", "memory": "1Gi", **gpus}, "limits": gpus}
    node = dice.choice((*nodes, "", "gone"))
    conditions = [{"type": "Ready", "status": dice.choice(("True", "True", "False"))}]
    if not node and dice.random() < 0.7:
        why = dice.choice(("0/3 nodes are available: 3 Insufficient nvidia.com/gpu.", ""))
        reason = dice.choice(("Unschedulable", "SchedulingGated", ""))
        conditions.append({"type": "PodScheduled", "status": "False", "reason": reason, "message": why})
    phase = dice.choice(("Running", "Running", "Pending", "Failed", "Succeeded", "")) if node else "Pending"
    status: Object = {"phase": phase, "conditions": conditions}
    if dice.random() < 0.6:
        status[dice.choice(("containerStatuses", "initContainerStatuses"))] = [_container_status(dice)]
    if dice.random() < 0.1:
        status |= {"reason": "Evicted", "message": "the node was low on memory"}
    metadata: Object = {"name": name, "namespace": dice.choice(("team", "other")), "uid": f"uid-{name}"}
    metadata |= {"creationTimestamp": f"2026-01-01T00:00:0{dice.randint(0, 9)}Z", **_owner(dice, owners)}
    labels = {"leaderworkerset.sigs.k8s.io/group-index": str(dice.randint(0, 1)), "app": "x"}
    metadata["labels"] = labels if dice.random() < 0.7 else None
    if dice.random() < 0.07:
        metadata["deletionTimestamp"] = CREATED
    spec = {"nodeName": node, "containers": [{"name": "main", "image": "x", "resources": resources}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def shown(value: Any) -> str:
    return json.dumps(msgspec.to_builtins(value), indent=0, sort_keys=True)


def _later(dice: Random, record: Any, nodes: list[str], workloads: list[Object]) -> Any:
    """The same object some time later; now and then another one has its name."""
    match record:
        case NodeRecord():
            return node_record(raw(drawn_node(dice, record.name)))
        case FleetPod():
            made = drawn_pod(dice, record.name, nodes, workloads)
            made["metadata"] |= {"namespace": record.namespace, "uid": dice.choice((record.uid, record.uid, "new"))}
            return pod_record(raw(made))
        case _:
            made = drawn_workload(dice, record.name, [])
            kept = {"kind": record.kind, "apiVersion": record.api_version}
            made["metadata"]["uid"] = dice.choice((record.uid, record.uid, f"{record.uid}-new"))
            return workload_record({**made, **kept})


def told_of(number: int) -> dict[str, str]:
    dice = Random(f"fleet/{number}")
    nodes = [drawn_node(dice, f"n{each}") for each in range(dice.randint(1, 4))]
    workloads: list[Object] = []
    for each in range(dice.randint(0, 5)):
        workloads.append(drawn_workload(dice, f"w{each}", workloads))
    names = [each["metadata"]["name"] for each in nodes]
    pods = [drawn_pod(dice, f"p{each}", names, workloads) for each in range(dice.randint(0, 8))]
    state = FleetState()
    changes: list[tuple[Any, Any]] = [(state.node_changed, node_record(raw(each))) for each in nodes]
    changes += [(state.workload_changed, workload_record(each)) for each in workloads]
    changes += [(state.pod_changed, pod_record(raw(each))) for each in pods]
    dice.shuffle(changes)
    for take, record in changes:
        take(None, record)
    dice.shuffle(changes)
    for take, record in changes[:2]:
        take(record, None)
    for take, record in changes[2:]:
        if dice.random() < 0.4:
            take(record, _later(dice, record, names, workloads))
    uids = [each["metadata"]["uid"] for each in (*workloads, *pods)]
    found = {f"node {name}": shown(state.node(name)) for name in names}
    found |= {f"workload {uid}": shown(state.workload(uid)) for uid in uids}
    found["changed"] = f"{sorted(state.changed_nodes)} {sorted(state.changed_workloads)}"
    for pod in pods:
        pod["metadata"]["labels"] = {}
    cluster = snapshot(*nodes, *pods).cluster
    found["capacity"] = shown(cluster_capacity(cluster))
    fits = with_fits(all_models()[:: 1 + number % 4], cluster)
    found["fits"] = "\n".join(f"{each.id} {shown(each.fit)}" for each in fits)
    return found


def test_every_drawn_fleet_is_told_as_recorded() -> None:
    found = {f"{number} {name}": told for number in range(FLEETS) for name, told in told_of(number).items()}
    same_as_recorded("runway-fleets", found)


def drawn_event(dice: Random) -> Object:
    found: Object = {"metadata": {"name": "e", "namespace": "team", "creationTimestamp": CREATED}}
    found |= {"involvedObject": {"kind": "Pod", "namespace": "team", "name": "p"}, "reason": "R", "message": "M"}
    parts: dict[str, Any] = {
        "type": "Warning",
        "count": 3,
        "firstTimestamp": "2026-01-01T01:00:00Z",
        "lastTimestamp": "2026-01-01T02:00:00Z",
        "eventTime": "2026-01-01T03:00:00.000001Z",
        "series": dice.choice(({"count": 9, "lastObservedTime": "2026-01-01T04:00:00Z"}, {"count": 2})),
        "source": {"component": "kubelet"},
        "reportingComponent": "scheduler",
    }
    found |= {name: value for name, value in parts.items() if dice.random() < 0.5}
    if dice.random() < 0.5:
        found["metadata"]["uid"] = "u"
    return found


def drawn_host(dice: Random) -> Object:
    conditions = [
        {"type": each, "status": _status(dice), "reason": "R", "message": "m", "lastTransitionTime": CREATED}
        for each in ("HostHealthy", "HostClean")
        if dice.random() < 0.7
    ]
    status: Object = {"conditions": conditions, "phase": dice.choice(("Available", "Claimed", "Cleaning", "Silent"))}
    if dice.random() < 0.5:
        status["machineRef"] = {"kind": "ByoMachine", "name": "m1"}
        status["network"] = [{"macAddr": "m", "ipAddrs": ["10.0.0.1/24", "10.0.0.2/24"]}]
    if dice.random() < 0.7:
        status["hostinfo"] = dice.choice(({"osname": "linux"}, {"osname": "linux", "osimage": "Ubuntu"}))
    spec = {"capacity": {"cpu": "8", "memory": "1Gi"}, "labels": {"a": "b"}}
    metadata = {"name": "h", "namespace": "team", **({"creationTimestamp": CREATED} if dice.random() < 0.5 else {})}
    return {"metadata": metadata, "spec": spec, "status": status}


def drawn_job(dice: Random) -> Object:
    results = [{"cellIndex": each, "status": dice.choice(("Success", "Failure", "Skipped"))} for each in range(4)]
    status: Object = {"results": results[: dice.randint(0, 4)], "phase": dice.choice(("", "Running", "Succeeded"))}
    if dice.random() < 0.5:
        status |= {"startTime": CREATED, "completionTime": CREATED, "message": "done", "retryCount": 2}
        status |= {
            "validationPodName": "p",
            "comparisonResult": {"strategy": "exact", "result": dice.choice(("matched", "failed")), **COUNTS},
        }
    git = {"url": "https://git.example.com/a.git", "ref": "main"}
    spec = {"notebook": {"git": git, "path": "a.ipynb"}, "podConfig": {"containerImage": "x"}}
    return {"metadata": {"name": "j", "namespace": "team"}, "spec": spec, "status": status}


def drawn_installation(dice: Random) -> Object:
    charts = [{"name": "a", "chart": "a", "version": "1.0.0", "namespace": "a"}]
    status: Object = {"phase": dice.choice(("Pending", "Installed", "Failed")), "message": "m"}
    if dice.random() < 0.5:
        status["steps"] = [{"name": "s", "state": "Done", "startedAt": CREATED, "output": "o"}]
        status["releases"] = [{"name": "a", "revision": 2, "status": "deployed"}]
        status["conditions"] = [{"type": "Ready", "status": "True", "reason": "R", "message": "m"}]
    spec = {"repository": {"name": "r", "url": "https://r.example.com"}, "charts": charts[: dice.randint(0, 1)]}
    gone = {"deletionTimestamp": CREATED} if dice.random() < 0.2 else {}
    return {"metadata": {"name": "i", "creationTimestamp": CREATED, **gone}, "spec": spec, "status": status}


def test_every_drawn_object_of_a_feature_is_shown_as_recorded() -> None:
    found = {}
    for number in range(40):
        dice = Random(f"shown/{number}")
        job = drawn_job(dice)
        found[f"event {number}"] = shown(cluster_event(raw(drawn_event(dice))))
        found[f"host {number}"] = shown(host_record(raw(drawn_host(dice))))
        found[f"job {number}"] = f"{shown(notebook_record(raw(job)))}\n{shown(notebook_detail(job))}"
        found[f"installation {number}"] = shown(installation_record(raw(drawn_installation(dice))))
    same_as_recorded("runway-shown", found)
