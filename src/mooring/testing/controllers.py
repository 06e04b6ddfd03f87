"""The controllers that a cluster in memory runs in tests."""

from __future__ import annotations

from mooring.builtin.controllers import control_plane
from mooring.builtin.volumes import claims, matching, phases
from mooring.nodes.simulated.controller import simulated_nodes
from mooring.nodes.stages import controller as stages
from mooring.nodes.storage import deleter, provisioner, resizer
from mooring.runtime.controller import Controller

__all__ = ["STORAGE", "whole_control_plane"]

PROVISIONERS = (provisioner.CONTROLLER, resizer.CONTROLLER, deleter.CONTROLLER)
STORAGE = (claims.CONTROLLER, matching.CONTROLLER, phases.CONTROLLER, *PROVISIONERS)
"""The controllers that bind claims, and those that make volumes for them."""


def whole_control_plane() -> tuple[Controller, ...]:
    """The control plane with its nodes, all of them simulated."""
    return (*control_plane(), simulated_nodes(every_node=True), stages.CONTROLLER, *PROVISIONERS)
