"""The Node object of this machine."""

from __future__ import annotations

from mooring.nodes.process.machine_info import machine_info
from mooring.nodes.process.node_object import node_object


def test_the_node_carries_its_labels_and_its_taint() -> None:
    machine = machine_info()
    node = node_object(machine)
    assert node["spec"]["taints"] == [{"key": "mooring.dev/process", "value": "true", "effect": "NoSchedule"}]
    assert node["metadata"]["labels"]["kubernetes.io/hostname"] == machine.name
    assert machine.cpus >= 1
    assert machine.memory > 1 << 26
