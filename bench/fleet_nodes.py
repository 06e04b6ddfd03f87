"""The nodes of a generated fleet: their pools, and what is still free on each."""

from __future__ import annotations

import random
from typing import NamedTuple

from bench.fleet_workloads import PARTS, START, TEAMS, FleetWorkload, uid
from mooring.kube.objects import Object

ZONES = ("eu-west-1a", "eu-west-1b", "eu-west-1c")


class NodeShape(NamedTuple):
    """A kind of node: its share of the fleet and what it offers."""

    pool: str
    share: float
    cpu: int
    memory_gi: int
    gpus: int
    product: str


SHAPES = (
    NodeShape("general", 0.70, 16, 64, 0, ""),
    NodeShape("memory", 0.15, 32, 256, 0, ""),
    NodeShape("a100", 0.10, 96, 1024, 8, "NVIDIA-A100-SXM4-80GB"),
    NodeShape("h100", 0.05, 192, 2048, 8, "NVIDIA-H100-80GB-HBM3"),
)


class FleetNode:
    """A node and what is still free on it."""

    def __init__(self, name: str, shape: NodeShape, zone: str) -> None:
        self.name, self.shape, self.zone = name, shape, zone
        self.cpu_m = int(shape.cpu * 960)
        self.memory_mi = int(shape.memory_gi * 960)
        self.gpus = shape.gpus
        self.pods = 110

    def take(self, workload: FleetWorkload) -> bool:
        if workload.pool != self.shape.pool or self.pods == 0 or self.gpus < workload.gpus:
            return False
        if self.cpu_m < workload.cpu_m or self.memory_mi < workload.memory_mi:
            return False
        self.cpu_m -= workload.cpu_m
        self.memory_mi -= workload.memory_mi
        self.gpus -= workload.gpus
        self.pods -= 1
        return True


def fleet_node(number: int, total: int) -> FleetNode:
    position, edge = number / total, 0.0
    for shape in SHAPES:
        edge += shape.share
        if position < edge:
            break
    name = f"ip-10-{number >> 14}-{number >> 6 & 255}-{number & 63}.eu-west-1.compute.internal"
    return FleetNode(name, shape, ZONES[number % len(ZONES)])


def node(host: FleetNode, number: int, rng: random.Random) -> Object:
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
