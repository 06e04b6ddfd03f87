"""The expressions that select devices: what they can ask about one."""

from functools import cache
from typing import Final

from mooring.kube.cel.environment import Environment

__all__ = ["device_environment"]

_VARIABLES: Final = {
    "device.driver": "string",
    "device.attributes": "map<string,map<string,dyn>>",
    "device.capacity": "map<string,map<string,kubernetes.Quantity>>",
}


@cache
def device_environment() -> Environment:
    return Environment(_VARIABLES)
