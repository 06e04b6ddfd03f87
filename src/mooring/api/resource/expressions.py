"""The expressions that select devices: what they can ask about one."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mooring.kube.cel.environment import Environment

__all__ = ["device_environment"]

_VARIABLES: Final = {
    "device.driver": "string",
    "device.attributes": "map<string,map<string,dyn>>",
    "device.capacity": "map<string,map<string,kubernetes.Quantity>>",
}


@cache
def device_environment() -> Environment:
    # Every process checks claims, and few have one with an expression in it.
    from mooring.kube.cel.environment import Environment

    return Environment(_VARIABLES)
