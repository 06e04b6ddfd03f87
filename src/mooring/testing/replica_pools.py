"""Builders of replicas that ask for nodes of their own, and of the policy by which they get them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mooring.kube.objects import Object
from mooring.testing.builders import pod
from mooring.testing.hosts import CLUSTER, byo_host
from mooring.testing.machines import BOOTSTRAP

KEY = "example.com/node-group"
SIZE = "example.com/size"
POLICY = {
    "labelKeys": KEY,
    "hostSelector": "purpose=serving",
    "clusterName": CLUSTER,
    "bootstrapConfigRef": f"BootstrapKubeconfig/{BOOTSTRAP}",
    "version": "v1.34.1",
    "groupSizeAnnotation": SIZE,
    "maxPools": "4",
    "maxHosts": "8",
}


def replica_policy(**changes: str | None) -> Object:
    """The ConfigMap; a key that is None is left out."""
    data = {key: text for key, text in {**POLICY, **changes}.items() if text is not None}
    metadata = {"name": "mooring-replica-pools", "namespace": "kube-system"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def serving_host(name: str, *, gpu: int = 1, labels: Mapping[str, str] | None = None, **parts: Any) -> Object:
    return byo_host(name, labels={"purpose": "serving", **(labels or {})}, gpu=gpu, **parts)


def replica_pod(leader: str, index: int = 0, *, size: int = 0, key: str = KEY, **parts: Any) -> Object:
    """One pod of a replica: the leader itself, or worker number `index`."""
    name = f"{leader}-{index}" if index else leader
    asked = {"gpu": 1, "nodeSelector": {key: leader}, "tolerations": [f"{key}={leader}:NoSchedule"], **parts}
    made = pod(name, **asked)
    if size:
        made["metadata"]["annotations"] = {SIZE: str(size)}
    return made


def replica_pods(leader: str, size: int = 2, **parts: Any) -> list[Object]:
    return [replica_pod(leader, index, size=size, **parts) for index in range(size)]
