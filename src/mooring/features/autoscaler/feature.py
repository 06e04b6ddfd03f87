"""The autoscaler as a feature: what the product must know of it, and nothing that takes long to load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mooring.features.autoscaler.flags import FLAGS
from mooring.runtime.feature import Feature, Parts

if TYPE_CHECKING:
    from mooring.runtime.controller import Controller


def _controllers() -> tuple[Controller, ...]:
    from mooring.features.autoscaler.controller import CONTROLLER

    return (CONTROLLER,)


AUTOSCALER: Final = Feature(
    "autoscaler",
    controllers=Parts(("cluster-autoscaler",), _controllers),
    settings=FLAGS,
    # A cluster may have the other one, and two of them would undo each other's work.
    on_request=frozenset({"cluster-autoscaler"}),
)
