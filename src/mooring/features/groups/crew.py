"""The controllers of this package together, and the definitions that they need."""

from __future__ import annotations

from typing import Final

from mooring.features.groups import controller
from mooring.features.groups import group_controller as members
from mooring.features.groups.definition import leader_worker_set_definition
from mooring.kube.objects import Object

CONTROLLERS: Final = (controller.CONTROLLER, members.CONTROLLER)


def definitions() -> tuple[Object, ...]:
    """The CustomResourceDefinitions, ready to be applied. They are shared and must not be changed."""
    return (leader_worker_set_definition(),)
