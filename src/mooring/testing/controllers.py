"""The controllers that a cluster in memory runs in tests."""

from __future__ import annotations

from mooring.builtin.controllers import control_plane
from mooring.nodes.simulated.controller import simulated_nodes
from mooring.nodes.stages import controller as stages
from mooring.runtime.controller import Controller

__all__ = ["whole_control_plane"]


def whole_control_plane() -> tuple[Controller, ...]:
    """The control plane with its nodes, all of them simulated."""
    return (*control_plane(), simulated_nodes(every_node=True), stages.CONTROLLER)
