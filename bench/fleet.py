"""Generates a believable cluster as `kubectl get nodes,pods,... -A -o yaml` prints it.

Load time and memory depend on what the file is like: how many replicas share a template, how much of each object is
status and volumes that placement never reads. So the fleet has a few hundred workloads of uneven size, complete pods
as an API server returns them, and nodes with conditions and image lists; pods are bound within capacity. The same seed
gives the same bytes.

    python bench/fleet.py --nodes 5000 --pods 50000 --format yaml --out cluster.yaml
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mooring.kube.objects import Object
from mooring.manifests.blocks import BlockReader
from mooring.manifests.emit import to_yaml

ZONES = ("eu-west-1a", "eu-west-1b", "eu-west-1c")
START = "2026-03-02T08:15:{:02d}Z"
TEAMS = ("search", "vision", "speech", "ranking", "fraud", "agents", "data", "platform", "evals", "robotics")
PARTS = ("api", "worker", "gateway", "ingest", "index", "cache", "trainer", "embedder", "router", "queue", "frontend")


class Shape(NamedTuple):
    """A kind of machine: its share of the fleet and what it offers."""

    pool: str
    share: float
    cpu: int
    memory_gi: int
    gpus: int
    product: str


SHAPES = (
    Shape("general", 0.70, 16, 64, 0, ""),
    Shape("memory", 0.15, 32, 256, 0, ""),
    Shape("a100", 0.10, 96, 1024, 8, "NVIDIA-A100-SXM4-80GB"),
    Shape("h100", 0.05, 192, 2048, 8, "NVIDIA-H100-80GB-HBM3"),
)


class Machine:
    """A node and what is still free on it."""

    def __init__(self, name: str, shape: Shape, zone: str) -> None:
        self.name, self.shape, self.zone = name, shape, zone
        self.cpu_m = int(shape.cpu * 960)
        self.memory_mi = int(shape.memory_gi * 960)
        self.gpus = shape.gpus
        self.pods = 110

    def take(self, workload: Workload) -> bool:
        if workload.pool != self.shape.pool or self.pods == 0 or self.gpus < workload.gpus:
            return False
        if self.cpu_m < workload.cpu_m or self.memory_mi < workload.memory_mi:
            return False
        self.cpu_m -= workload.cpu_m
        self.memory_mi -= workload.memory_mi
        self.gpus -= workload.gpus
        self.pods -= 1
        return True


class Workload(NamedTuple):
    """A Deployment or StatefulSet: all its pods come from one template."""

    name: str
    namespace: str
    kind: str
    replicas: int
    pool: str
    cpu_m: int
    memory_mi: int
    gpus: int
    style: int


def fleet(nodes: int, pods: int, seed: int = 1) -> Iterator[str]:
    """The items of the List, as YAML documents."""
    yield from (to_yaml(item) for item in fixed_objects())
    for text, _ in rendered(nodes, pods, seed):
        yield text


def fixed_objects() -> Iterator[Object]:
    for team in (*TEAMS, "default", "kube-system"):
        labels = {"kubernetes.io/metadata.name": team}
        yield {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": team, "labels": labels, "uid": "00000000-0000-4000-8000-" + team.encode().hex()[:12]},
            "spec": {"finalizers": ["kubernetes"]},
            "status": {"phase": "Active"},
        }


def rendered(nodes: int, pods: int, seed: int) -> Iterator[tuple[str, str]]:
    """Every node, owner, service and pod as (text, kind); pods are their workload's text, filled in."""
    rng = random.Random(seed)
    machines = [machine(i, nodes) for i in range(nodes)]
    for number, host in enumerate(machines):
        yield to_yaml(node(host, number, rng)), "Node"
    by_pool = {shape.pool: [m for m in machines if m.shape is shape] for shape in SHAPES}
    cursor = dict.fromkeys(by_pool, 0)
    for workload in workloads(pods, rng, {pool for pool, hosts in by_pool.items() if hosts}):
        owner = controller(workload)
        yield to_yaml(owner), owner["kind"]
        yield to_yaml(service(workload)), "Service"
        template = to_yaml(pod(workload))
        pending = to_yaml(pod(workload, bound=False))
        for replica in range(workload.replicas):
            hosts = by_pool[workload.pool]
            for step in range(len(hosts)):
                host = hosts[(cursor[workload.pool] + step) % len(hosts)]
                if host.take(workload):
                    cursor[workload.pool] = (cursor[workload.pool] + step + 1) % len(hosts)
                    yield fill(template, workload, replica, host.name, rng), "Pod"
                    break
            else:
                yield fill(pending, workload, replica, "", rng), "Pod"


def machine(number: int, total: int) -> Machine:
    position, edge = number / total, 0.0
    for shape in SHAPES:
        edge += shape.share
        if position < edge:
            break
    name = f"ip-10-{number >> 14}-{number >> 6 & 255}-{number & 63}.eu-west-1.compute.internal"
    return Machine(name, shape, ZONES[number % len(ZONES)])


def workloads(pods: int, rng: random.Random, pools: set[str]) -> Iterator[Workload]:
    """Uneven sizes: many small services, a few with hundreds of replicas."""
    left, number = pods, 0
    while left:
        replicas = min(left, max(1, int(rng.paretovariate(0.9) * 12)), max(8, pods // 25))
        team, part = rng.choice(TEAMS), rng.choice(PARTS)
        pool = rng.choices(("general", "memory", "a100", "h100"), (82, 12, 4, 2))[0]
        if pool not in pools:
            pool = "general"
        gpus = rng.choice((1, 1, 2, 4)) if pool in ("a100", "h100") else 0
        replicas = min(replicas, 40) if gpus else replicas
        cpu_m = rng.choice((100, 250, 500, 500, 1000, 1000, 2000))
        memory_mi = rng.choice((256, 512, 1024, 2048))
        kind = "StatefulSet" if rng.random() < 0.15 else "ReplicaSet"
        name = f"{part}-{number:03d}"
        yield Workload(name, team, kind, replicas, pool, cpu_m, memory_mi, gpus, rng.randrange(8))
        left, number = left - replicas, number + 1


def node(host: Machine, number: int, rng: random.Random) -> Object:
    shape = host.shape
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": host.name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": f"{shape.pool}.{shape.cpu}x",
        "mooring.example.com/pool": shape.pool,
        "topology.kubernetes.io/region": "eu-west-1",
        "topology.kubernetes.io/zone": host.zone,
    }
    capacity: Object = {
        "cpu": str(shape.cpu),
        "ephemeral-storage": "104845292Ki",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "memory": f"{shape.memory_gi * 1024 * 1024 - number % 977}Ki",
        "pods": "110",
    }
    allocatable = {**capacity, "cpu": f"{shape.cpu * 960}m", "memory": f"{shape.memory_gi * 960}Mi"}
    spec: Object = {
        "podCIDR": f"10.{number >> 8 & 255}.{number & 255}.0/24",
        "providerID": f"aws:///{host.zone}/i-{number:017x}",
    }
    if shape.gpus:
        labels |= {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.product": shape.product}
        capacity["nvidia.com/gpu"] = allocatable["nvidia.com/gpu"] = str(shape.gpus)
        spec["taints"] = [{"effect": "NoSchedule", "key": "nvidia.com/gpu", "value": "present"}]
    if number % 97 == 41:
        spec["unschedulable"] = True
        spec["taints"] = [
            *spec.get("taints", []),
            {"effect": "NoSchedule", "key": "node.kubernetes.io/unschedulable", "timeAdded": START.format(number % 60)},
        ]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "annotations": {
                "node.alpha.kubernetes.io/ttl": "0",
                "volumes.kubernetes.io/controller-managed-attach-detach": "true",
            },
            "creationTimestamp": START.format(number % 60),
            "labels": labels,
            "name": host.name,
            "resourceVersion": str(900_000_000 + number),
            "uid": uid(rng),
        },
        "spec": spec,
        "status": {
            "addresses": [
                {"address": f"10.0.{number >> 8}.{number & 255}", "type": "InternalIP"},
                {"address": host.name, "type": "Hostname"},
            ],
            "allocatable": allocatable,
            "capacity": capacity,
            "conditions": [
                condition(
                    "MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"
                ),
                condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
                condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
                condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
            ],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "images": [image(rng) for _ in range(14)],
            "nodeInfo": {
                "architecture": "amd64",
                "bootID": uid(rng),
                "containerRuntimeVersion": "containerd://2.1.4",
                "kernelVersion": "6.12.40-64.114.amzn2023.x86_64",
                "kubeProxyVersion": "",
                "kubeletVersion": "v1.35.2",
                "machineID": uid(rng).replace("-", ""),
                "operatingSystem": "linux",
                "osImage": "Amazon Linux 2023.8.20260301",
                "systemUUID": uid(rng),
            },
        },
    }


def image(rng: random.Random) -> Object:
    team, part, tag = rng.choice(TEAMS), rng.choice(PARTS), rng.randrange(40)
    name = f"registry.example.com/{team}/{part}"
    digest = random.Random(f"{name}:{tag}").randbytes(32).hex()
    return {"names": [f"{name}@sha256:{digest}", f"{name}:1.{tag}.0"], "sizeBytes": 40_000_000 + tag * 1_234_567}


def condition(kind: str, status: str, reason: str, message: str) -> Object:
    return {
        "lastHeartbeatTime": START.format(7),
        "lastTransitionTime": START.format(3),
        "message": message,
        "reason": reason,
        "status": status,
        "type": kind,
    }


def labels_of(workload: Workload) -> dict[str, str]:
    return {
        "app.kubernetes.io/name": workload.name,
        "app.kubernetes.io/part-of": workload.namespace,
        "app.kubernetes.io/version": f"1.{workload.style}.0",
    }


def name_of_revision(workload: Workload) -> str:
    return f"{workload.name}-{hash_of(workload)}"


def controller(workload: Workload) -> Object:
    name = workload.name if workload.kind == "StatefulSet" else f"{workload.name}-{hash_of(workload)}"
    return {
        "apiVersion": "apps/v1",
        "kind": workload.kind,
        "metadata": {
            "creationTimestamp": START.format(7),
            "labels": labels_of(workload),
            "name": name,
            "namespace": workload.namespace,
            "uid": controller_reference(workload)["uid"],
        },
        "spec": {
            "replicas": workload.replicas,
            "selector": {"matchLabels": labels_of(workload)},
            "template": {"metadata": {"labels": labels_of(workload)}, "spec": pod(workload, bound=False)["spec"]},
        },
        "status": {"replicas": workload.replicas, "availableReplicas": workload.replicas}
        | ({"updateRevision": name_of_revision(workload)} if workload.kind == "StatefulSet" else {}),
    }


def service(workload: Workload) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "creationTimestamp": START.format(8),
            "labels": labels_of(workload),
            "name": workload.name,
            "namespace": workload.namespace,
            "uid": uid(random.Random(f"service {workload.name}")),
        },
        "spec": {
            "clusterIP": "None",
            "clusterIPs": ["None"],
            "ports": [{"name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080}],
            "selector": {"app.kubernetes.io/name": workload.name},
            "type": "ClusterIP",
        },
        "status": {"loadBalancer": {}},
    }


# Words that stand in a rendered template for what differs between replicas.
SLOTS = re.compile(r"slot(Name|Uid|Node|Ip|Suffix|Second|Version|Container|Index)tols")


def slot(name: str) -> str:
    return f"slot{name}tols"


def fill(template: str, workload: Workload, replica: int, host: str, rng: random.Random) -> str:
    suffix = "".join(rng.choices("bcdfghjklmnpqrstvwxz2456789", k=5))
    stateful = workload.kind == "StatefulSet"
    name = f"{workload.name}-{replica}" if stateful else f"{workload.name}-{hash_of(workload)}-{suffix}"
    values = {
        "Name": name,
        "Uid": uid(rng),
        "Node": host,
        "Ip": f"10.{rng.randrange(256)}.{rng.randrange(256)}.{rng.randrange(256)}",
        "Suffix": suffix,
        "Second": f"{rng.randrange(60):02d}",
        "Version": f'"{rng.randrange(10**8, 10**9)}"',
        "Container": rng.randbytes(32).hex(),
        "Index": f'"{replica}"',
    }
    return SLOTS.sub(lambda found: values[found[1]], template)


def pod(workload: Workload, bound: bool = True) -> Object:
    labels = labels_of(workload)
    stateful = workload.kind == "StatefulSet"
    labels["pod-template-hash" if not stateful else "apps.kubernetes.io/pod-index"] = (
        slot("Index") if stateful else hash_of(workload)
    )
    if stateful:
        labels["controller-revision-hash"] = name_of_revision(workload)
    owner = controller_reference(workload)
    spec: Object = {
        "containers": [container(workload)],
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
        "priority": 0,
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {"fsGroup": 2000, "runAsNonRoot": True},
        "serviceAccount": workload.name,
        "serviceAccountName": workload.name,
        "terminationGracePeriodSeconds": 30,
        "tolerations": tolerations(workload),
        "volumes": [
            {
                "name": f"kube-api-access-{slot('Suffix')}",
                "projected": {
                    "defaultMode": 420,
                    "sources": [
                        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                        {"configMap": {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": "kube-root-ca.crt"}},
                    ],
                },
            }
        ],
    }
    spec |= placement(workload)
    if not bound:
        # A template has no token: each pod gets its own.
        del spec["volumes"]
        spec["containers"] = [{k: v for k, v in c.items() if k != "volumeMounts"} for c in spec["containers"]]
    if bound:
        spec["nodeName"] = slot("Node")
    if stateful:
        spec["hostname"] = slot("Name")
        spec["subdomain"] = workload.name
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "annotations": {"prometheus.io/scrape": "true", "kubectl.kubernetes.io/restartedAt": START.format(9)},
            "creationTimestamp": f"2026-03-02T08:15:{slot('Second')}Z",
            "generateName": f"{owner['name']}-",
            "labels": labels,
            "name": slot("Name"),
            "namespace": workload.namespace,
            "ownerReferences": [owner],
            "resourceVersion": slot("Version"),
            "uid": slot("Uid"),
        },
        "spec": spec,
        "status": running(workload) if bound else pending_status(),
    }


def controller_reference(workload: Workload) -> Object:
    name = workload.name if workload.kind == "StatefulSet" else f"{workload.name}-{hash_of(workload)}"
    return {
        "apiVersion": "apps/v1",
        "blockOwnerDeletion": True,
        "controller": True,
        "kind": workload.kind,
        "name": name,
        "uid": uid(random.Random(name)),
    }


def container(workload: Workload) -> Object:
    amounts = {"cpu": f"{workload.cpu_m}m", "memory": f"{workload.memory_mi}Mi"}
    if workload.gpus:
        amounts["nvidia.com/gpu"] = str(workload.gpus)
    probe = {
        "failureThreshold": 3,
        "httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"},
        "periodSeconds": 10,
        "successThreshold": 1,
        "timeoutSeconds": 1,
    }
    return {
        "args": ["--listen=:8080", f"--team={workload.namespace}"],
        "env": [
            {"name": "POD_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}},
            {"name": "LOG_LEVEL", "value": "info"},
            {"name": "CONCURRENCY", "value": "8"},
        ],
        "image": f"registry.example.com/{workload.namespace}/{workload.name.split('-')[0]}:1.{workload.style}.0",
        "imagePullPolicy": "IfNotPresent",
        "livenessProbe": probe,
        "name": "main",
        "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}],
        "readinessProbe": probe,
        "resources": {"limits": amounts, "requests": amounts},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "volumeMounts": [
            {
                "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
                "name": f"kube-api-access-{slot('Suffix')}",
                "readOnly": True,
            }
        ],
    }


def tolerations(workload: Workload) -> list[Object]:
    usual = [
        {"effect": "NoExecute", "key": f"node.kubernetes.io/{key}", "operator": "Exists", "tolerationSeconds": 300}
        for key in ("not-ready", "unreachable")
    ]
    return [*usual, {"effect": "NoSchedule", "key": "nvidia.com/gpu", "operator": "Exists"}] if workload.gpus else usual


def placement(workload: Workload) -> Object:
    """Of eight workloads, two spread over zones, one keeps apart by host, one insists on a zone by affinity."""
    fields: Object = {"nodeSelector": {"mooring.example.com/pool": workload.pool}}
    selector = {"matchLabels": {"app.kubernetes.io/name": workload.name}}
    if workload.style in (1, 2):
        fields["topologySpreadConstraints"] = [
            {
                "labelSelector": selector,
                "maxSkew": 1,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "DoNotSchedule" if workload.style == 1 else "ScheduleAnyway",
            }
        ]
    if workload.style == 3:
        term = {"labelSelector": selector, "topologyKey": "kubernetes.io/hostname"}
        preferred = [{"podAffinityTerm": term, "weight": 100}]
        fields["affinity"] = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    if workload.style == 4:
        zones = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": list(ZONES[:2])}
        terms = {"nodeSelectorTerms": [{"matchExpressions": [zones]}]}
        fields["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    return fields


def running(workload: Workload) -> Object:
    return {
        "conditions": [
            {"lastProbeTime": None, "lastTransitionTime": START.format(11), "status": "True", "type": kind}
            for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
        ],
        "containerStatuses": [
            {
                "containerID": f"containerd://{slot('Container')}",
                "image": container(workload)["image"],
                "imageID": f"registry.example.com/{workload.namespace}@sha256:{'ab' * 32}",
                "lastState": {},
                "name": "main",
                "ready": True,
                "restartCount": 0,
                "started": True,
                "state": {"running": {"startedAt": START.format(10)}},
            }
        ],
        "hostIP": "10.0.3.7",
        "hostIPs": [{"ip": "10.0.3.7"}],
        "phase": "Running",
        "podIP": slot("Ip"),
        "podIPs": [{"ip": slot("Ip")}],
        "qosClass": "Guaranteed",
        "startTime": f"2026-03-02T08:15:{slot('Second')}Z",
    }


def pending_status() -> Object:
    return {
        "conditions": [
            {
                "lastProbeTime": None,
                "lastTransitionTime": START.format(11),
                "message": "no nodes available to schedule pods",
                "reason": "Unschedulable",
                "status": "False",
                "type": "PodScheduled",
            }
        ],
        "phase": "Pending",
        "qosClass": "Guaranteed",
    }


def uid(rng: random.Random) -> str:
    text = rng.randbytes(16).hex()
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"


def hash_of(workload: Workload) -> str:
    return "".join(random.Random(workload.name).choices("bcdfghjklmnpqrstvwxz2456789", k=9)) + "f"


def write(out: Path, nodes: int, pods: int, seed: int, form: str) -> None:
    with out.open("w", encoding="utf-8") as file:
        if form == "yaml":
            file.write("apiVersion: v1\nitems:\n")
            for text in fleet(nodes, pods, seed):
                file.write("- " + text.replace("\n", "\n  ").rstrip(" "))
            file.write('kind: List\nmetadata:\n  resourceVersion: ""\n')
            return
        file.write('{\n    "apiVersion": "v1",\n    "items": [\n')
        separator, reader = "", BlockReader()
        for text in fleet(nodes, pods, seed):
            body = json.dumps(reader.mapping(text.removesuffix("\n"), 0), indent=4)
            file.write(separator + "        " + body.replace("\n", "\n        "))
            separator = ",\n"
        file.write('\n    ],\n    "kind": "List",\n    "metadata": {\n        "resourceVersion": ""\n    }\n}\n')


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(description="Generate a cluster snapshot of any size.")
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=50000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--format", choices=("yaml", "json"), default="yaml")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(argv)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    write(options.out, options.nodes, options.pods, options.seed, options.format)


if __name__ == "__main__":
    main(sys.argv[1:])
