"""What TPU runtimes read from the environment: the hosts of a slice in order, and the place of a pod among them.

Every container that asks for TPUs is a process of its own. With subgroups a slice is a subgroup, and only one
container of a pod is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from mooring.features.groups.api import LEADER_EXCLUDED, LEADER_REQUESTS_TPUS, SUBGROUP_TYPE, TPU
from mooring.features.groups.pods.env import all_containers, value_of, variable, with_containers
from mooring.kube.errors import QuantityError
from mooring.kube.objects import Object
from mooring.kube.quantities import parse_quantity

HOSTNAMES: Final = "TPU_WORKER_HOSTNAMES"
WORKER_ID: Final = "TPU_WORKER_ID"
NAME: Final = "TPU_NAME"
ADDRESSES: Final = "TPU_PROCESS_ADDRESSES"
PORT: Final = "TPU_PROCESS_PORT"
DEFAULT_PORT: Final = 8476


class Member(NamedTuple):
    """The pod in its group: its leader, its number (the leader is 0), the group's size, and subgroups if there are."""

    leader: str
    worker: int
    size: int
    subgroup_size: int = 0
    subgroup: int = 0


def requests_tpus(spec: Object) -> bool:
    return any(map(_wants_tpus, all_containers(spec)))


def with_tpu_env(spec: Object, annotations: Mapping[str, str], member: Member) -> Object:
    """A pod's spec with these variables behind its own; as it is if it has none to give or has got them already."""
    wanting = [container for container in all_containers(spec) if _wants_tpus(container)]
    if not wanting or any(value_of(wanting[0], name) is not None for name in (HOSTNAMES, WORKER_ID)):
        return spec
    in_slice = annotations.get(SUBGROUP_TYPE) != LEADER_EXCLUDED
    with_leader = member.worker == 0 or (in_slice and annotations.get(LEADER_REQUESTS_TPUS) == "true")
    subdomain = spec.get("subdomain", "")
    if member.subgroup_size:
        wanting = wanting[:1]
        place, numbers = _in_subgroup(member, with_leader)
    else:
        place = member.worker if with_leader else member.worker - 1
        numbers = [*((0,) if with_leader else ()), *range(1, member.size)]
    ports = [value_of(each, PORT) or str(DEFAULT_PORT + slot) for slot, each in enumerate(wanting)]
    hosts = [_host(member.leader, number, subdomain) for number in numbers]
    names = ",".join(host for host in hosts for _ in ports)
    addresses = ",".join(f"{host}:{port}" for host in hosts for port in ports)
    slots = {id(container): slot for slot, container in enumerate(wanting)}

    def put(container: Object) -> Object:
        slot = slots.get(id(container))
        if slot is None:
            return container
        added = [
            variable(HOSTNAMES, names),
            variable(WORKER_ID, str(place * len(wanting) + slot)),
            variable(NAME, member.leader),
            variable(ADDRESSES, addresses),
        ]
        if value_of(container, PORT) is None:
            added.append(variable(PORT, ports[slot]))
        return {**container, "env": [*(container.get("env") or ()), *added]}

    return with_containers(spec, put)


def _in_subgroup(member: Member, with_leader: bool) -> tuple[int, list[int]]:
    """The pod's place in its subgroup, and the numbers of those in it."""
    part, subgroup = member.subgroup_size, member.subgroup
    if member.worker == 0:
        return 0, list(range(part))
    if not with_leader:
        subgroup = (member.worker - 1) // part
        return (member.worker - 1) % part, list(range(part * subgroup + 1, part * (subgroup + 1) + 1))
    # The leader takes a place in the first subgroup, and all others move up by one.
    return member.worker % part, list(range(part * subgroup, part * (subgroup + 1)))


def _host(leader: str, number: int, subdomain: str) -> str:
    return f"{leader if number == 0 else f'{leader}-{number}'}.{subdomain}"


def _wants_tpus(container: Object) -> bool:
    resources = container.get("resources") or {}
    return any(_is_some((resources.get(field) or {}).get(TPU)) for field in ("limits", "requests"))


def _is_some(amount: Any) -> bool:
    if amount is None:
        return False
    try:
        return bool(parse_quantity(str(amount)))
    except QuantityError:
        # The API refuses the pod for it in a moment.
        return False
