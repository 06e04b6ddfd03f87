"""Devices that were found, as a claim's status has them: results, configurations, the nodes they can be used from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from mooring.api.core.types import NodeSelector, NodeSelectorTerm, Requirement
from mooring.api.resource.views import (
    MAX_ALTERNATIVES,
    AllocationResult,
    DeviceAllocationConfiguration,
    DeviceAllocationResult,
    DeviceClass,
    DeviceRequestAllocationResult,
    ResourceClaim,
)
from mooring.placement.devices.allocator import Allocated


def allocation_result(
    claim: ResourceClaim,
    devices: Sequence[Allocated],
    alternatives: Sequence[int],
    classes: Mapping[str, DeviceClass],
) -> AllocationResult:
    results = tuple(
        DeviceRequestAllocationResult(found.reference, *found.device.id, admin_access=True if found.admin else None)
        for found in devices
    )
    config = (*_class_configs(claim, alternatives, classes), *_claim_configs(claim, alternatives))
    return AllocationResult(DeviceAllocationResult(results, config or None), _nodes(devices))


def _class_configs(
    claim: ResourceClaim, alternatives: Sequence[int], classes: Mapping[str, DeviceClass]
) -> list[DeviceAllocationConfiguration]:
    """The configurations of each class once, with all requests of that class."""
    requests: dict[str, list[str]] = {}
    for request, index in zip(claim.spec.devices.requests or (), alternatives, strict=True):
        if request.first_available:
            chosen = request.first_available[index]
            requests.setdefault(chosen.device_class_name, []).append(f"{request.name}/{chosen.name}")
        elif request.exactly is not None:
            requests.setdefault(request.exactly.device_class_name, []).append(request.name)
    return [
        DeviceAllocationConfiguration("FromClass", tuple(names), config.opaque)
        for name, names in requests.items()
        for config in classes[name].spec.config or ()
    ]


def _claim_configs(claim: ResourceClaim, alternatives: Sequence[int]) -> list[DeviceAllocationConfiguration]:
    """The claim's own, for all requests or those they name; one per request that is named."""
    found = []
    for config in claim.spec.devices.config or ():
        entry = DeviceAllocationConfiguration("FromClaim", config.requests, config.opaque)
        if not config.requests:
            found.append(entry)
            continue
        for request, index in zip(claim.spec.devices.requests or (), alternatives, strict=True):
            names = {request.name}
            if request.first_available:
                names.add(f"{request.name}/{request.first_available[index].name}")
            if names & set(config.requests):
                found.append(entry)
    return found


def _nodes(devices: Sequence[Allocated]) -> NodeSelector | None:
    """Where all devices can be used; None for everywhere."""
    fields: list[Requirement] = []
    expressions: list[Requirement] = []
    for found in devices:
        offer = found.device.offer
        if offer.node_name:
            here = Requirement("metadata.name", "In", (offer.node_name,))
            return NodeSelector((NodeSelectorTerm(match_fields=(here,)),))
        for term in offer.node_selector.node_selector_terms or () if offer.node_selector else ():
            _add(fields, term.match_fields)
            _add(expressions, term.match_expressions)
    if not fields and not expressions:
        return None
    return NodeSelector((NodeSelectorTerm(tuple(expressions) or None, tuple(fields) or None),))


def _add(requirements: list[Requirement], more: tuple[Requirement, ...] | None) -> None:
    known = {(r.key, r.operator, frozenset(r.values or ())) for r in requirements}
    requirements.extend(r for r in more or () if (r.key, r.operator, frozenset(r.values or ())) not in known)


def preference(claim: ResourceClaim, allocation: AllocationResult) -> int:
    """How early in their lists the alternatives stand that a claim got."""
    got = {result.request for result in allocation.devices.results or ()}
    return sum(
        MAX_ALTERNATIVES - index
        for request in claim.spec.devices.requests or ()
        for index, alternative in enumerate(request.first_available or ())
        if request.exactly is None and f"{request.name}/{alternative.name}" in got
    )


def plain(selector: NodeSelector) -> dict[str, object]:
    """A node selector as the API writes it: what is not set is left out."""
    return {
        "nodeSelectorTerms": [
            {key: value for key, value in msgspec.to_builtins(term).items() if value is not None}
            for term in selector.node_selector_terms or ()
        ]
    }
