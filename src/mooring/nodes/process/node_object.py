"""The Node object of this machine, as it is registered, and its status."""

from __future__ import annotations

from typing import Final

from mooring.kube.objects import Object
from mooring.nodes.process.gpus import gpu_labels
from mooring.nodes.process.machine_info import MachineInfo

__all__ = ["LABEL", "TAINT", "hostname_label", "node_annotations", "node_object", "node_status"]


LABEL: Final = "mooring.dev/process"
LOCAL_VOLUMES: Final = "mooring.dev/local-volumes"
TAINT: Final = {"key": LABEL, "value": "true", "effect": "NoSchedule"}


def node_object(machine: MachineInfo) -> Object:
    """The node as it is created. Later changes to its labels and taints are kept."""
    labels = {
        "kubernetes.io/arch": machine.architecture,
        "kubernetes.io/hostname": hostname_label(machine),
        "kubernetes.io/os": machine.system,
        LABEL: "true",
        **gpu_labels(machine.gpus),
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": machine.name, "labels": labels, "annotations": node_annotations(machine)},
        "spec": {"taints": [TAINT]},
    }


def hostname_label(machine: MachineInfo) -> str:
    """A label is shorter than a name may be."""
    return machine.name[:63].rstrip(".-")


def node_annotations(machine: MachineInfo) -> dict[str, str]:
    """What provisioners of volumes are told of the node."""
    return {LOCAL_VOLUMES: machine.local_volumes} if machine.local_volumes else {}


def node_status(machine: MachineInfo, port: int, conditions: list[Object]) -> Object:
    """The status that the node writes. The API server reaches its logs on this machine's own loopback address."""
    return {
        "addresses": [
            {"type": "InternalIP", "address": machine.address},
            {"type": "Hostname", "address": machine.name},
            {"type": "InternalDNS", "address": "localhost"},
        ],
        "capacity": machine.capacity,
        "allocatable": machine.allocatable,
        "conditions": conditions,
        "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
        "nodeInfo": {
            "architecture": machine.architecture,
            "bootID": machine.boot_id,
            "containerRuntimeVersion": "process://1.0.0",
            "kernelVersion": machine.kernel,
            "kubeProxyVersion": "",
            "kubeletVersion": "v1.35.0",
            "machineID": machine.machine_id,
            "operatingSystem": machine.system,
            "osImage": machine.image,
            "systemUUID": machine.machine_id,
        },
    }
