"""Which hosts a ByoMachine wants: the selector and the requirements of its spec, asked of one host."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from mooring.features.hosts.api.hosts import HostClaim
from mooring.features.hosts.api.machines import ByoMachineSpec
from mooring.kube.errors import SelectorError
from mooring.kube.quantities import milli_value
from mooring.kube.selectors import EVERYTHING, Selector, selector_from_dict

__all__ = ["fits", "host_selector", "suits"]


def host_selector(spec: ByoMachineSpec) -> Selector:
    """The selector of hosts; without one it is any host. Raises SelectorError."""
    if spec.selector is None:
        return EVERYTHING
    return selector_from_dict({name: part for name, part in msgspec.to_builtins(spec.selector).items() if part})


def suits(host: HostClaim, spec: ByoMachineSpec) -> bool:
    """Whether a host is one of those that are wanted; none is where the selector cannot be read."""
    try:
        return host_selector(spec).matches(host.metadata.labels) and fits(host, spec.capacity_requirements)
    except SelectorError:
        return False


def fits(host: HostClaim, required: Mapping[str, str | int]) -> bool:
    """Whether a host has everything that is required. Labels are for equality alone; quantities count here."""
    capacity = host.spec.capacity
    return all(name in capacity and milli_value(capacity[name]) >= milli_value(required[name]) for name in required)
