"""Simulated nodes as a feature. This machine as a node is a process of its own, not a controller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mooring.runtime.feature import Feature, Parts

if TYPE_CHECKING:
    from mooring.runtime.controller import Controller


def _controllers() -> tuple[Controller, ...]:
    from mooring.nodes.simulated.controller import simulated_nodes
    from mooring.nodes.stages import controller as stages

    # Only nodes that ask for it are simulated: others may belong to a kubelet.
    return (simulated_nodes(every_node=False), stages.CONTROLLER)


NODES: Final = Feature(
    "nodes",
    controllers=Parts(("nodes", "stages"), _controllers),
    on_request=frozenset({"stages"}),
)
