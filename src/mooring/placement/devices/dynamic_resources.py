"""DynamicResources: whether the claims of a pod can be had on a node, and with which devices.

A claim that is allocated already ties the pod to the nodes from which its devices can be used; one that is not gets its
devices on each node that is looked at, as if the pod went there.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mooring.api.resource.views import MAX_RESERVED_FOR, AllocationResult, ResourceClaim, ResourceClaimConsumerReference
from mooring.kube.nodeselectors import NodeSelector
from mooring.placement.devices.allocator import (
    INVALID_POOLS,
    MAX_LOOKS,
    TIMED_OUT,
    Allocation,
    AllocationError,
    NodeFailure,
)
from mooring.placement.devices.dra_manager import ClaimWrite
from mooring.placement.devices.inventory import DevicePool, compiled
from mooring.placement.devices.pod_claims import resolve
from mooring.placement.devices.results import allocation_result, preference
from mooring.placement.plugins.node_checks import DYNAMIC_RESOURCES, UNCHANGED, NodeChange, NodeCheck
from mooring.placement.pods import PodInfo
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.placement.verdicts import ERROR, UNRESOLVABLE, Reason, Rejection, Verdicts

Slots = NDArray[np.int64]

CANNOT_ALLOCATE = Reason(DYNAMIC_RESOURCES, UNRESOLVABLE, "cannot allocate all claims")
UNAVAILABLE = Reason(DYNAMIC_RESOURCES, UNRESOLVABLE, "resourceclaim not available on the node")
BROKEN_POOLS = Reason(DYNAMIC_RESOURCES, UNRESOLVABLE, INVALID_POOLS)
GAVE_UP = Reason(DYNAMIC_RESOURCES, UNRESOLVABLE, TIMED_OUT)
_FAILURES = {INVALID_POOLS: BROKEN_POOLS, TIMED_OUT: GAVE_UP}

# What its part after filtering says.
STILL_UNSCHEDULABLE = "still not schedulable"
DEALLOCATED = "deallocation of ResourceClaim completed"


# How often the search on the next node is cut to half of what it may take.
MAX_HALVINGS = 7


class _Outcome(NamedTuple):
    reasons: tuple[Reason, ...] = ()
    allocations: tuple[AllocationResult, ...] = ()


class PostFilter(NamedTuple):
    """What is done about claims when no node takes the pod."""

    text: str
    # The claim whose devices are taken back.
    deallocated: str = ""


class DynamicResources(NodeCheck):
    plugin: ClassVar[str] = DYNAMIC_RESOURCES
    reasons: ClassVar[tuple[Reason, ...]] = (CANNOT_ALLOCATE, UNAVAILABLE, BROKEN_POOLS, GAVE_UP)

    def __init__(self, cluster: SchedulerCache, pod: PodInfo, claims: list[ResourceClaim]) -> None:
        self._cluster = cluster
        self._pod = pod
        self.claims = claims
        self.waiting = [claim for claim in claims if claim.status.allocation is None]
        self._selectors: list[NodeSelector | None] = [
            compiled(claim.status.allocation.node_selector) if claim.status.allocation else None for claim in claims
        ]
        self._outcomes: dict[int, _Outcome] = {}
        # Nodes on which the search was given up; where one takes too long, the next is like it more often than not.
        self._given_up = 0

    def at(self, slot: int, change: NodeChange = UNCHANGED) -> tuple[Reason, ...]:
        """Pods that come and go on the node change nothing: devices belong to claims."""
        return self._outcome(slot).reasons

    def _outcome(self, slot: int) -> _Outcome:
        found = self._outcomes.get(slot)
        if found is None:
            found = self._outcomes[slot] = self._judge(slot)
        return found

    def _judge(self, slot: int) -> _Outcome:
        allocations: tuple[AllocationResult, ...] = ()
        if self.waiting:
            devices, classes = self._cluster.devices, self._cluster.devices.classes
            looks = MAX_LOOKS >> min(self._given_up, MAX_HALVINGS)
            try:
                solution = Allocation(self.pools(slot), self.waiting, classes, devices.is_taken, looks).solve()
            except NodeFailure as failure:
                self._given_up += str(failure) == TIMED_OUT
                return _Outcome((_FAILURES[str(failure)],))
            except AllocationError as error:
                return _Outcome((self.error(str(error)),))
            if solution is None:
                return _Outcome((CANNOT_ALLOCATE,))
            allocations = tuple(
                allocation_result(claim, found, chosen, classes)
                for claim, found, chosen in zip(self.waiting, solution.devices, solution.alternatives, strict=True)
            )
        return _Outcome((UNAVAILABLE,) if self.unavailable(slot) else (), allocations)

    def pools(self, slot: int) -> tuple[DevicePool, ...]:
        """The pools with devices for a node."""
        return self._cluster.devices.pools(*self._node(slot), self._cluster.nodes_version)

    def _node(self, slot: int) -> tuple[str, dict[str, str]]:
        node = self._cluster.nodes[slot]
        assert node is not None
        return node.metadata.name, node.metadata.labels or {}

    def unavailable(self, slot: int) -> list[ResourceClaim]:
        """Allocated claims whose devices cannot be used from a node."""
        name, labels = self._node(slot)
        return [
            claim
            for claim, selector in zip(self.claims, self._selectors, strict=True)
            if selector is not None and not selector.matches(labels, name)
        ]

    def post_filter(self, verdicts: Verdicts, order: Slots) -> PostFilter:
        """What is done about claims after every node was rejected."""
        rejected = [s for s in order.tolist() if verdicts.first(int(verdicts.bits[s]))[0].plugin == DYNAMIC_RESOURCES]
        claim = self._to_deallocate(rejected)
        return PostFilter(STILL_UNSCHEDULABLE) if claim is None else PostFilter(DEALLOCATED, claim.key)

    def _to_deallocate(self, rejected: list[int]) -> ResourceClaim | None:
        """A claim to take the devices from, given the nodes that were rejected here and by no one before.

        One that was in the way and that nobody else uses. The scheduler takes any; here it is the first.
        """
        in_the_way = {
            claim.key for slot in rejected if self.at(slot) == (UNAVAILABLE,) for claim in self.unavailable(slot)
        }
        for claim in self.claims:
            users = claim.status.reserved_for or ()
            is_own = not users or claim.is_reserved_for(self._pod.name, self._pod.uid)
            if claim.key in in_the_way and is_own and len(users) <= 1:
                return claim
        return None

    def score(self, slot: int) -> int:
        """How much of what was preferred the pod gets; nothing where no claim is allocated in this attempt."""
        allocations = self._outcome(slot).allocations
        return sum(preference(claim, found) for claim, found in self._allocated(allocations)) if allocations else 0

    def writes(self, slot: int) -> list[ClaimWrite]:
        """What the claims' statuses become if the pod goes to a node."""
        found = []
        for claim, allocation in self._allocated(self._outcome(slot).allocations):
            if not claim.is_reserved_for(self._pod.name, self._pod.uid):
                user = ResourceClaimConsumerReference("pods", self._pod.name, self._pod.uid)
                users = (*(claim.status.reserved_for or ()), user)
                found.append(ClaimWrite(claim.key, allocation, claim.status.allocation is None, users))
        return found

    def write_error(self, writes: tuple[ClaimWrite, ...]) -> str:
        """Why the API server refuses the first of some writes that it refuses; empty where it takes all."""
        return next(filter(None, map(_write_error, writes)), "")

    def _allocated(self, new: tuple[AllocationResult, ...]) -> list[tuple[ResourceClaim, AllocationResult]]:
        """Every claim with its devices, those it had and those it gets."""
        fresh = iter(new)
        return [(claim, claim.status.allocation or next(fresh)) for claim in self.claims]


def _write_error(write: ClaimWrite) -> str:
    """Why the API server refuses a write; empty where it takes it."""
    if len(write.reserved_for) <= MAX_RESERVED_FOR:
        return ""
    action = "add allocation and reservation" if write.allocated else "add reservation"
    name = write.claim.partition("/")[2]
    problem = f"Too many: {len(write.reserved_for)}: must have at most {MAX_RESERVED_FOR} items"
    refusal = f'ResourceClaim.resource.k8s.io "{name}" is invalid: status.reservedFor: {problem}'
    return f'running PreBind plugin "{DYNAMIC_RESOURCES}": {action} to claim {write.claim}: {refusal}'


def pre_enqueue(cluster: SchedulerCache, pod: PodInfo) -> Rejection | None:
    """Why a pod is not even tried: its claims are not there. Nothing is told of that, no event and no condition."""
    found = _claims(cluster, pod) if pod.claims else []
    return found if isinstance(found, Rejection) else None


def _claims(cluster: SchedulerCache, pod: PodInfo) -> list[ResourceClaim] | Rejection:
    found = resolve(pod.namespace, pod.name, pod.uid, pod.claims, cluster.devices.claims)
    return Rejection(DYNAMIC_RESOURCES, UNRESOLVABLE, found) if isinstance(found, str) else found


def device_check(cluster: SchedulerCache, pod: PodInfo) -> DynamicResources | Rejection | None:
    """The check of a pod with claims, or why it is turned away; None where it has none after all."""
    claims = _claims(cluster, pod)
    if isinstance(claims, Rejection):
        return claims
    for claim in claims:
        if claim.status.allocation is None and (rejection := _missing_class(cluster, claim)):
            return rejection
    return DynamicResources(cluster, pod, claims) if claims else None


def _missing_class(cluster: SchedulerCache, claim: ResourceClaim) -> Rejection | None:
    for request in claim.spec.devices.requests or ():
        wanted = {}
        if request.exactly is not None:
            wanted[request.name] = request.exactly.device_class_name
        elif request.first_available:
            wanted = {f"{request.name}/{one.name}": one.device_class_name for one in request.first_available}
        else:
            text = f"resource claim {claim.key}, request {request.name}: unknown request type"
            return Rejection(DYNAMIC_RESOURCES, UNRESOLVABLE, text)
        for name, class_name in wanted.items():
            if not class_name:
                text = f'running PreFilter plugin "{DYNAMIC_RESOURCES}": request {name}: unsupported request type'
                return Rejection(DYNAMIC_RESOURCES, ERROR, text)
            if class_name not in cluster.devices.classes:
                text = f"request {name}: device class {class_name} does not exist"
                return Rejection(DYNAMIC_RESOURCES, UNRESOLVABLE, text)
    return None
