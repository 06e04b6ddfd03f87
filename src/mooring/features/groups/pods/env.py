"""Environment variables that every container of a group finds: who leads it, how large it is, who it is itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from mooring.kube.objects import Object

# The leader's address stands first, so that whatever follows may refer to it.
LEADER_ADDRESS: Final = "LWS_LEADER_ADDRESS"
GROUP_SIZE: Final = "LWS_GROUP_SIZE"
WORKER_INDEX: Final = "LWS_WORKER_INDEX"


def with_group_env(spec: Object, leader_address: str, size: str, worker: str) -> Object:
    """A pod's spec in which these three come first in every container, whatever the user gave them."""
    ours = [variable(LEADER_ADDRESS, leader_address), variable(GROUP_SIZE, size), variable(WORKER_INDEX, worker)]
    names = {each["name"] for each in ours}

    def put(container: Object) -> Object:
        theirs = [each for each in container.get("env") or () if each.get("name") not in names]
        return {**container, "env": [*ours, *theirs]}

    return with_containers(spec, put)


def variable(name: str, value: str) -> Object:
    return {"name": name, "value": value}


def value_of(container: Object, name: str) -> str | None:
    """The value that a container gives to a variable; None where it does not have it."""
    for each in container.get("env") or ():
        if each.get("name") == name:
            return str(each.get("value", ""))
    return None


def with_containers(spec: Object, change: Callable[[Object], Object]) -> Object:
    """A pod's spec with every container and init container changed."""
    changed = {**spec}
    for field in ("initContainers", "containers"):
        if spec.get(field):
            changed[field] = [change(container) for container in spec[field]]
    return changed


def all_containers(spec: Object) -> Sequence[Object]:
    """Containers first, then init containers."""
    return [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
