"""Why a node cannot give a pod its devices, in words that name the claim, the request and what is there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mooring.api.resource.views import ALL, DeviceSubRequest, ExactDeviceRequest, ResourceClaim
from mooring.placement.devices.allocator import AllocationError, all_select
from mooring.placement.devices.dynamic_resources import CANNOT_ALLOCATE, UNAVAILABLE, DynamicResources
from mooring.placement.filters import Filters
from mooring.placement.verdicts import ERROR, Reason


class _Supply(NamedTuple):
    """What a node has for a request: devices that match, and those of them that are free."""

    matching: int
    free: int


def device_parts(filters: Filters) -> NDArray[np.int64]:
    """Numbers that are equal for nodes which have the same to offer."""
    parts = np.zeros(filters.cluster.size, dtype=np.int64)
    check = filters.checks.devices
    if check is None:
        return parts
    known: dict[tuple[_Supply, ...], int] = {}
    for slot in filters.cluster.order.tolist():
        supplies = tuple(supply(filters, check, wanted, slot) for _, _, wanted in _requests(check))
        parts[slot] = known.setdefault(supplies, len(known))
    return parts


def device_causes(filters: Filters, reason: Reason, slot: int) -> list[str]:
    """The causes on a node that stands for others like it."""
    check = filters.checks.devices
    if check is None:
        return [reason.text]
    if reason == UNAVAILABLE:
        return [f"the devices of claim {claim.metadata.name} cannot be used here" for claim in check.unavailable(slot)]
    if reason == CANNOT_ALLOCATE:
        found = list(_lacking(filters, check, slot))
        return found or ["devices match each request, but not all of them together"]
    if reason.code == ERROR:
        return [text.text for text in check.at(slot)] or [reason.text]
    return [reason.text]


def _requests(check: DynamicResources) -> Iterator[tuple[ResourceClaim, str, ExactDeviceRequest | DeviceSubRequest]]:
    """The requests of claims without devices, by name; of alternatives, each."""
    for claim in check.waiting:
        for request in claim.spec.devices.requests or ():
            if request.exactly is not None:
                yield claim, request.name, request.exactly
            for alternative in request.first_available or ():
                yield claim, f"{request.name}/{alternative.name}", alternative


def supply(
    filters: Filters, check: DynamicResources, wanted: ExactDeviceRequest | DeviceSubRequest, slot: int
) -> _Supply:
    devices = filters.cluster.devices
    selectors = devices.classes[wanted.device_class_name].spec.selectors
    matching = free = 0
    for pool in check.pools(slot):
        for device in pool.devices:
            try:
                if not all_select("", selectors, device) or not all_select("", wanted.selectors, device):
                    continue
            except AllocationError:
                continue
            matching += 1
            free += not devices.is_taken(device.id)
    return _Supply(matching, free)


def _lacking(filters: Filters, check: DynamicResources, slot: int) -> Iterator[str]:
    for claim, name, wanted in _requests(check):
        matching, free = supply(filters, check, wanted, slot)
        everything = wanted.allocation_mode == ALL
        needed = matching if everything else wanted.count
        if matching and free >= needed:
            continue
        asked = "all devices" if everything else "1 device" if needed == 1 else f"{needed} devices"
        there = f"of {matching} here that match, {free or 'none'} {'is' if free == 1 else 'are'} free"
        what = f"{asked} of class {wanted.device_class_name}"
        yield f"claim {claim.metadata.name}, request {name}: {what}; {there if matching else 'none here matches'}"
