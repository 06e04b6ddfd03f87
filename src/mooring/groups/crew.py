"""The controllers of this package together, and the definitions that they need."""

from __future__ import annotations

from typing import Final

from mooring.api.leaderworkerset_definition import leader_worker_set_definition
from mooring.groups import controller, members
from mooring.runtime.decision import Object

CONTROLLERS: Final = (controller.CONTROLLER, members.CONTROLLER)


def definitions() -> tuple[Object, ...]:
    """The CustomResourceDefinitions, ready to be applied. They are shared and must not be changed."""
    return (leader_worker_set_definition(),)
