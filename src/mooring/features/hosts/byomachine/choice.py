"""Which host a ByoMachine chooses, and what is said where there is none.

Among several hosts the order is: the highest priority; the least that is left over, GPUs first, so that a pool without
GPUs takes a host without; the longest since its last release; the name. Machines that wait for the same hosts take
them in their own order, so that those that decide at the same moment do not all choose the first host.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from mooring.features.hosts.api.hosts import HostClaim
from mooring.features.hosts.api.kinds import BYO_HOST, BYO_MACHINE, pool_of
from mooring.features.hosts.api.machines import ByoMachine, ByoMachineSpec
from mooring.features.hosts.api.matching import fits, host_selector
from mooring.features.hosts.api.names import GPU
from mooring.kube.quantities import milli_value
from mooring.runtime.view import View
from mooring.workloads.near_labels import nearest_labels

__all__ = ["Shortage", "choose_host", "hosts_of", "matching_hosts", "shortage"]

# Resources in the order in which what is left over of them counts.
_SCARCEST_FIRST = (GPU, "memory", "cpu")


class Shortage(NamedTuple):
    """Why there is no host: how many match, and a sentence."""

    matching: int
    message: str


def choose_host(view: View, machine: ByoMachine) -> HostClaim | None:
    """The host that this ByoMachine claims next. Raises SelectorError."""
    selector = host_selector(machine.spec)
    free = [
        host
        for host in hosts_of(view, machine.metadata.namespace, machine.spec, "free")
        if selector.matches(host.metadata.labels) and fits(host, machine.spec.capacity_requirements)
    ]
    untaken = [host for host in free if not _is_chosen(view, host)]
    if not untaken:
        return None
    untaken.sort(key=lambda host: _order(host, machine.spec.capacity_requirements))
    waiting = sorted(
        view.list(BYO_MACHINE, "waiting", pool_of(machine)),
        key=lambda each: (each.metadata.creation_timestamp or "", each.metadata.name),
    )
    turn = next((i for i, each in enumerate(waiting) if each.metadata.uid == machine.metadata.uid), 0)
    return untaken[turn % len(untaken)]


def hosts_of(view: View, namespace: str, spec: ByoMachineSpec, index: str) -> tuple[HostClaim, ...]:
    """Hosts that may match, by one label of the selector, so that changes of other hosts wake nobody."""
    labels = (spec.selector.match_labels if spec.selector is not None else None) or {}
    if not labels:
        return view.list(BYO_HOST, index, namespace)
    key = min(labels)
    return view.list(BYO_HOST, index, f"{namespace}/{key}={labels[key]}")


def matching_hosts(view: View, namespace: str, spec: ByoMachineSpec) -> list[HostClaim]:
    """Hosts that the selector and the requirements match, whether they are free or not. Raises SelectorError."""
    selector = host_selector(spec)
    return [
        host
        for host in hosts_of(view, namespace, spec, "label")
        if selector.matches(host.metadata.labels) and fits(host, spec.capacity_requirements)
    ]


def shortage(view: View, namespace: str, spec: ByoMachineSpec) -> Shortage:
    """Why no host is left, in one sentence with the way out. Raises SelectorError."""
    matching = matching_hosts(view, namespace, spec)
    if matching:
        claimed = sum(host.status.machine_ref is not None for host in matching)
        rest = len(matching) - claimed
        told = f"{claimed} of {len(matching)} matching hosts are claimed"
        if rest:
            told += f" and {rest} cannot be: silent, paused or not clean"
        return Shortage(len(matching), f"{told}; free one of them or label another host")
    labels = (spec.selector.match_labels if spec.selector is not None else None) or {}
    everyone = view.list(BYO_HOST, "label", namespace)
    if not everyone:
        return Shortage(0, f"there is no ByoHost in namespace {namespace}; register one with an agent")
    selector = host_selector(spec)
    too_small = [host.metadata.name for host in everyone if selector.matches(host.metadata.labels)]
    if too_small:
        wanted = ", ".join(f"{name}={size}" for name, size in sorted(spec.capacity_requirements.items()))
        return Shortage(0, f"no host that matches has {wanted}: {', '.join(sorted(too_small)[:3])} have less")
    near = nearest_labels(labels, everyone)
    return Shortage(0, f"no ByoHost matches {selector}{near}; label a host, or correct spec.selector")


def _is_chosen(view: View, host: HostClaim) -> bool:
    return bool(view.list(BYO_MACHINE, "host", f"{host.metadata.namespace}/{host.metadata.name}"))


def _order(host: HostClaim, required: Mapping[str, str | int]) -> tuple[int, tuple[int, ...], str, str]:
    spare = tuple(_left_over(host, required, _SCARCEST_FIRST))
    return -(host.spec.priority or 0), spare, host.status.last_released_time or "", host.metadata.name


def _left_over(host: HostClaim, required: Mapping[str, str | int], names: Iterable[str]) -> Iterable[int]:
    for name in names:
        yield milli_value(host.spec.capacity.get(name, 0)) - milli_value(required.get(name, 0))
