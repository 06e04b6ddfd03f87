"""Fleets and workloads that do not fit together, by seed: what people get wrong, alone and in twos and threes."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from mooring.kube.objects import Object
from mooring.testing.builders import GPU, HOSTNAME, ZONE, deployment, node, pod
from mooring.testing.groups import leader_worker_set
from mooring.testing.homes import simulated
from mooring.testing.workspaces import workspace
from tests.e2e.advice.storage import mount

NAME = "web"
LABELS = {"app": NAME}
TAINTS = ("team=ml:NoSchedule", "old:NoSchedule", "nvidia.com/gpu=present:NoSchedule")
KINDS = (
    "Deployment",
    "StatefulSet",
    "Job",
    "Pod",
    "LeaderWorkerSet",
    "ReplicaSet",
    "DaemonSet",
    "Workspace",
)
# How the workload is asked about: as it stands in the cluster, or as a file that nobody has applied yet.
LIVE, FILE = "live", "file"


class BrokenScene(NamedTuple):
    """Nodes, pods that run on them, and a workload of which some pods have no place."""

    namespace: str
    form: str
    nodes: list[Object]
    residents: list[Object]
    storage: list[Object]
    workload: Object


def broken_scene(seed: int) -> BrokenScene:
    rng = random.Random(seed)
    namespace = f"proof-{seed}"
    nodes = [_node(rng, f"s{seed}-n{number}") for number in range(rng.choice([1, 2, 2, 3, 4]))]
    residents = [_resident(rng, number, namespace, rng.choice(nodes)) for number in range(rng.randint(0, 3))]
    workload = _workload(rng, namespace)
    storage = mount(rng, namespace, nodes, workload) if rng.random() < 0.25 else []
    # A Workspace that has no nodes is refused, so it is asked about before it is applied.
    form = FILE if workload["kind"] == "Workspace" else rng.choice([LIVE, LIVE, FILE])
    return BrokenScene(namespace, form, nodes, residents, storage, workload)


def _some(rng: random.Random, words: list[Any], odds: float) -> list[Any]:
    return [word for word in words if rng.random() < odds]


def _node(rng: random.Random, name: str) -> Object:
    return simulated(
        node(
            name,
            cpu=rng.choice(["2", "4", "8"]),
            gpu=rng.choice([0, 4, 8]),
            pods=rng.choice([3, 110, 110]),
            zone=rng.choice(["east", "west", None]),
            labels=dict(_some(rng, [("tier", rng.choice(["gold", "silver"])), ("disk", "ssd"), ("apps", NAME)], 0.5)),
            taints=_some(rng, list(TAINTS), 0.35),
            unschedulable=rng.random() < 0.25,
        )
    )


def _resident(rng: random.Random, number: int, namespace: str, where: Object) -> Object:
    return pod(
        f"resident-{number}",
        namespace=namespace,
        cpu=rng.choice(["500m", "1", "2"]),
        node=where["metadata"]["name"],
        labels={"app": rng.choice([NAME, "db"]), "resident": "true"},
        host_port=rng.choice([None, None, 80]),
    )


def _workload(rng: random.Random, namespace: str) -> Object:
    template = _pod(rng, namespace)
    replicas = rng.choice([1, 2, 3, 5])
    kind = rng.choice(KINDS)
    metadata = {"name": NAME, "namespace": namespace}
    body = {"metadata": {"labels": LABELS}, "spec": template["spec"]}
    if kind == "Pod":
        return template
    if kind == "Deployment":
        return deployment(NAME, template, replicas=replicas)
    if kind == "StatefulSet":
        spec: Object = {
            "replicas": replicas,
            "selector": {"matchLabels": LABELS},
            "template": body,
            "serviceName": NAME,
        }
        spec["podManagementPolicy"] = rng.choice(["OrderedReady", "Parallel"])
        return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec}
    if kind in ("ReplicaSet", "DaemonSet"):
        # By the labels of residents alone it would adopt them.
        body["metadata"]["labels"] = own = {**LABELS, "made-by": kind}
        spec = {"selector": {"matchLabels": own}, "template": body}
        if kind == "ReplicaSet":
            spec["replicas"] = replicas
        return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec}
    if kind == "Workspace":
        # What chooses its nodes is the Workspace's own.
        template["spec"].pop("affinity", None)
        return workspace(
            NAME, namespace=namespace, labels={"apps": NAME}, inference={"template": {"spec": template["spec"]}}
        )
    if kind == "Job":
        body["spec"]["restartPolicy"] = "Never"
        spec = {"parallelism": replicas, "completions": replicas, "template": body}
        return {"apiVersion": "batch/v1", "kind": kind, "metadata": metadata, "spec": spec}
    made = leader_worker_set(NAME, namespace=namespace, replicas=rng.choice([1, 2]), size=2)
    made["spec"]["leaderWorkerTemplate"]["workerTemplate"] = body
    if rng.random() < 0.5:
        leader = {"metadata": {"labels": LABELS}, "spec": {"containers": template["spec"]["containers"]}}
        made["spec"]["leaderWorkerTemplate"]["leaderTemplate"] = leader
    return made


def _pod(rng: random.Random, namespace: str) -> Object:
    more: Object = {}
    if rng.random() < 0.5:
        wanted = [("tier", rng.choice(["gold", "glod"])), ("disk", "ssd"), ("dsik", "ssd"), ("pool", "x")]
        more["nodeSelector"] = dict(_some(rng, wanted, 0.35))
    if rng.random() < 0.25:
        more["topologySpreadConstraints"] = [_spread(rng)]
    if affinity := _affinity(rng):
        more["affinity"] = affinity
    made = pod(
        NAME,
        namespace=namespace,
        cpu=rng.choice([None, "500m", "1", "2", "6"]),
        gpu=rng.choice([0, 0, 1, 4, 6]),
        labels=LABELS,
        host_port=rng.choice([None, None, None, 80]),
        tolerations=_some(rng, list(TAINTS), 0.25),
        **more,
    )
    resources = made["spec"]["containers"][0]["resources"]
    if rng.random() < 0.4:
        # As most people write it: the requests follow.
        resources["limits"] = resources.pop("requests")
    if GPU in resources["limits"] and rng.random() < 0.15:
        resources["limits"]["nvidia.com/gpuu"] = resources["limits"].pop(GPU)
        resources.get("requests", {}).pop(GPU, None)
    for part in ("requests", "limits"):
        if not resources.get(part, True):
            del resources[part]
    if not made["spec"]["tolerations"]:
        del made["spec"]["tolerations"]
    return made


def _spread(rng: random.Random) -> Object:
    return {
        "maxSkew": 1,
        "topologyKey": rng.choice([ZONE, HOSTNAME]),
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": LABELS},
    }


def _affinity(rng: random.Random) -> Object:
    found: Object = {}
    if rng.random() < 0.25:
        requirement = rng.choice(
            [
                {"key": "tier", "operator": "In", "values": [rng.choice(["gold", "glod"])]},
                {"key": "disk", "operator": "Exists"},
                {"key": "disk", "operator": "DoesNotExist"},
            ]
        )
        term = {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}
        found["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": term}
    if rng.random() < 0.2:
        near = {"topologyKey": rng.choice([ZONE, HOSTNAME]), "labelSelector": {"matchLabels": {"app": "db"}}}
        found["podAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [near]}
    if rng.random() < 0.25:
        far = {"topologyKey": rng.choice([ZONE, HOSTNAME]), "labelSelector": {"matchLabels": LABELS}}
        found["podAntiAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [far]}
    return found
