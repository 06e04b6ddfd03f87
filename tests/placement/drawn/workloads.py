"""Drawn workloads around a drawn pod, as people apply them, and as a cluster has them whose pods wait."""

from __future__ import annotations

import copy

from mooring.kube.objects import Object
from tests.placement.drawn.dice import Dice
from tests.placement.drawn.nodes import GPU

KINDS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicationController")
GROUPS = {"Job": "batch/v1", "CronJob": "batch/v1", "ReplicationController": "v1"}


def draw_workload(dice: Dice, pod: Object, name: str, kind: str = "") -> Object:
    """A workload whose pods are like the given one."""
    kind = kind or dice.pick(KINDS)
    template = _template(pod)
    spec: Object = {"template": template}
    labels = {"app": template["metadata"]["labels"]["app"]}
    if kind in ("Job", "CronJob"):
        template["spec"]["restartPolicy"] = "Never"
        spec |= dice.pick(({}, {"parallelism": 3}, {"parallelism": 2, "completions": 5}, {"completions": 2}))
        if "completions" in spec and dice.chance(0.4):
            spec["completionMode"] = "Indexed"
        if dice.chance(0.1):
            spec["suspend"] = True
        if dice.chance(0.3):
            template["metadata"]["annotations"] = {"mooring.dev/duration": dice.pick(("90s", "2h", "soon"))}
    else:
        spec["selector"] = labels if kind == "ReplicationController" else {"matchLabels": labels}
        if kind != "DaemonSet" and dice.chance(0.9):
            spec["replicas"] = dice.pick((0, 1, 2, 3, 5))
    if kind == "StatefulSet":
        spec["serviceName"] = dice.pick(("", "peers"))
        if dice.chance(0.3):
            spec["ordinals"] = {"start": 2}
        if dice.chance(0.4):
            spec["podManagementPolicy"] = "Parallel"
        if dice.chance(0.4):
            claim: Object = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "7Gi"}}}
            if dice.chance(0.7):
                claim["storageClassName"] = dice.pick(("here", "zonal", "tight", "local", "absent"))
            spec["volumeClaimTemplates"] = [{"metadata": {"name": "data-0"}, "spec": claim}]
    if kind == "CronJob":
        spec = {"schedule": "0 3 * * *", "jobTemplate": {"spec": spec}}
    namespace = pod["metadata"]["namespace"]
    metadata = {"name": name, **({"namespace": namespace} if dice.chance(0.8) else {})}
    return {"apiVersion": GROUPS.get(kind, "apps/v1"), "kind": kind, "metadata": metadata, "spec": spec}


def _template(pod: Object) -> Object:
    spec = copy.deepcopy(pod["spec"])
    # A template holds what people write: admission fills in the rest.
    for field in ("priority", "overhead"):
        spec.pop(field, None)
    return {"metadata": {"labels": dict(pod["metadata"]["labels"])}, "spec": spec}


def live_workload(dice: Dice, pod: Object, name: str) -> list[Object]:
    """A workload as a cluster has it: with its controller in between where there is one, and with pods that wait."""
    kind = dice.pick(("Deployment", "Deployment", "StatefulSet", "ReplicaSet", "Job"))
    workload = draw_workload(dice, pod, name, kind)
    namespace = workload["metadata"]["namespace"] = pod["metadata"]["namespace"]
    workload["metadata"]["uid"] = f"uid-{name}"
    found = [workload]
    owner = workload
    if kind == "Deployment":
        between: Object = {**workload, "kind": "ReplicaSet"}
        metadata = {"name": f"{name}-6d5f", "namespace": namespace, "uid": f"uid-{name}-6d5f"}
        between["metadata"] = {**metadata, "ownerReferences": [_reference(workload)]}
        found.append(between)
        owner = between
    spec = {**copy.deepcopy(pod["spec"])}
    for number in range(dice.randint(1, 3)):
        metadata = {"name": f"{name}-{number}", "namespace": namespace, "labels": pod["metadata"]["labels"]}
        one: Object = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
        metadata |= {"ownerReferences": [_reference(owner)], "uid": f"uid-{name}-{number}"}
        one["status"] = {"phase": "Pending"}
        found.append(one)
    return found


def _reference(owner: Object) -> Object:
    metadata = owner["metadata"]
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
    }


def draw_pool(dice: Dice) -> list[Object]:
    """A pool of machines that may be raised as long as hosts are free."""
    label = {"pool": dice.pick(("gpu", "batch", "extra"))}
    taints = dice.pick(([], [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule", "propagation": "Always"}]))
    owned = {"cluster.x-k8s.io/cluster-name": "lab"}
    spec: Object = {
        "clusterName": "lab",
        "replicas": 1,
        "selector": {"matchLabels": owned},
        "template": {
            "metadata": {"labels": {**owned, **label}},
            "spec": {
                "clusterName": "lab",
                "infrastructureRef": {
                    "apiGroup": "infrastructure.cluster.x-k8s.io",
                    "kind": "ByoMachineTemplate",
                    "name": "hosts",
                },
                "taints": taints,
            },
        },
    }
    metadata: Object = {"name": "pool-1", "namespace": "default"}
    if dice.chance(0.3):
        metadata["annotations"] = {"cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size": "2"}
    done = {"replicas": 1, "readyReplicas": 1, "availableReplicas": 1, "upToDateReplicas": 1}
    infrastructure = "infrastructure.cluster.x-k8s.io/v1beta1"
    hosts = [
        {
            "apiVersion": infrastructure,
            "kind": "ByoHost",
            "metadata": {"name": f"host-{number}", "namespace": "default", "labels": label},
            "spec": {"capacity": {"cpu": "16", "memory": "64Gi", GPU: dice.pick(("2", "8"))}},
            "status": {"conditions": [{"type": "HostHealthy", "status": "True"}]},
        }
        for number in range(dice.randint(0, 3))
    ]
    return [
        {
            "apiVersion": "cluster.x-k8s.io/v1beta2",
            "kind": "MachineDeployment",
            "metadata": metadata,
            "spec": spec,
            "status": done,
        },
        {
            "apiVersion": infrastructure,
            "kind": "ByoMachineTemplate",
            "metadata": {"name": "hosts", "namespace": "default"},
            "spec": {"template": {"spec": {"selector": {"matchLabels": label}}}},
        },
        *hosts,
    ]
