"""Simulated nodes and their storage as a feature. This machine as a node is a process of its own, not a controller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mooring.runtime.feature import Feature, Parts

if TYPE_CHECKING:
    from mooring.runtime.controller import Controller


def _controllers() -> tuple[Controller, ...]:
    from mooring.nodes.simulated.controller import simulated_nodes
    from mooring.nodes.stages import controller as stages
    from mooring.nodes.storage import deleter, provisioner, resizer

    storage = (provisioner.CONTROLLER, resizer.CONTROLLER, deleter.CONTROLLER)
    # Only nodes that ask for it are simulated: others may belong to a kubelet.
    return (simulated_nodes(every_node=False), stages.CONTROLLER, *storage)


NODES: Final = Feature(
    "nodes",
    controllers=Parts(("nodes", "stages", "volume-provisioner", "volume-resizer", "volume-deleter"), _controllers),
    on_request=frozenset({"stages"}),
)
