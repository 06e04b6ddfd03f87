"""The expressions that select devices: what they can ask about one."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mooring.kube.cel.environment import Environment

__all__ = ["device_environment"]

_FIELDS: Final = {
    "driver": "string",
    "attributes": "map<string,map<string,dyn>>",
    "capacity": "map<string,map<string,kubernetes.Quantity>>",
}


@cache
def device_environment() -> Environment:
    # Every process checks claims, and few have one with an expression in it.
    from mooring.kube.cel.environment import Environment
    from mooring.kube.cel.types import object_type, parse_type

    fields = {name: parse_type(kind) for name, kind in _FIELDS.items()}
    return Environment({"device": object_type("kubernetes.DRADevice", fields)}, bindings=True)
