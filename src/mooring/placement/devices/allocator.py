"""The search for devices: for every claim, request by request, device by device, until all have what they ask for.

The first solution is taken. The order is the scheduler's, and so are two faults of it that decide what pods get:
- What a second alternative matches when it asks for all devices is answered from what the first one matched, because
  its place in the list is only noted after it was looked at.
- After the first device of an alternative that asks for all devices, the search goes on with the first alternative.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from mooring.api.resource.views import (
    ALL,
    EXACT_COUNT,
    MAX_RESULTS,
    DeviceClass,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    ExactDeviceRequest,
    ResourceClaim,
)
from mooring.placement.devices.constraints import MatchAttribute
from mooring.placement.devices.inventory import DeviceID, DeviceInfo, DevicePool
from mooring.placement.devices.selectors import SelectorFailure, selects

# Devices that are looked at for one node. The scheduler gives up after ten seconds; nobody waits as long here.
MAX_LOOKS = 50_000
TIMED_OUT = "timed out trying to allocate devices"
INVALID_POOLS = "invalid resource pools were encountered"


class AllocationError(Exception):
    """What ends the whole attempt to schedule a pod."""


class TooManyDevicesError(AllocationError):
    """The devices of a claim do not fit into its status; another alternative may need fewer."""

    def __init__(self) -> None:
        super().__init__("allocation max size exceeded")


class NodeFailure(Exception):
    """Why nothing can be allocated for one node, where that is more than that there are not enough devices."""


class Allocated(NamedTuple):
    """A device for a request; `parent` is the request that an alternative belongs to."""

    request: str
    parent: str
    device: DeviceInfo
    admin: bool

    @property
    def reference(self) -> str:
        return f"{self.parent}/{self.request}" if self.parent else self.request


class Solution(NamedTuple):
    """The devices of each claim, and which alternative each of its requests got."""

    devices: tuple[tuple[Allocated, ...], ...]
    alternatives: tuple[tuple[int, ...], ...]


class _Wanted(NamedTuple):
    """A request, or one of its alternatives, with what is known of it before the search."""

    request: ExactDeviceRequest | DeviceSubRequest
    name: str
    parent: str
    device_class: DeviceClass
    needed: int
    # All devices that match, where all of them are asked for.
    everything: tuple[DeviceInfo, ...]

    @property
    def admin(self) -> bool:
        return isinstance(self.request, ExactDeviceRequest) and bool(self.request.admin_access)


class _Place(NamedTuple):
    """Where the search is: the n-th device of an alternative of a request of a claim."""

    claim: int
    request: int = 0
    alternative: int = 0
    device: int = 0


class Allocation:
    """One search, for one node."""

    def __init__(
        self,
        pools: Sequence[DevicePool],
        claims: Sequence[ResourceClaim],
        classes: Mapping[str, DeviceClass],
        taken: Callable[[DeviceID], bool],
        max_looks: int = MAX_LOOKS,
    ) -> None:
        self._pools = pools
        self._claims = claims
        self._classes = classes
        self._taken = taken
        self._wanted: dict[tuple[int, int, int], _Wanted] = {}
        self._matches: dict[tuple[DeviceID, int, int, int], bool] = {}
        self._constraints: list[list[MatchAttribute]] = []
        # Devices taken so far, each with the claims that have it: with admin access there may be several.
        self._taking: dict[DeviceID, set[int]] = {}
        self._results: list[list[Allocated]] = [[] for _ in claims]
        self._selected: dict[tuple[int, int], int] = {}
        # How many more devices may be looked at.
        self._looks_left = max_looks

    def solve(self) -> Solution | None:
        """The devices, or None where there are not enough. Raises AllocationError and NodeFailure."""
        for index, claim in enumerate(self._claims):
            self._prepare(index, claim)
        self._matches.clear()
        try:
            found = self._next(_Place(0), inside=False)
        except RecursionError:
            # Hundreds of devices for one pod: deeper than this search can go.
            raise NodeFailure(TIMED_OUT) from None
        if not found:
            if any(pool.invalid for pool in self._pools):
                raise NodeFailure(INVALID_POOLS)
            return None
        alternatives = (
            tuple(self._selected.get((i, j), 0) for j in range(len(claim.spec.devices.requests or ())))
            for i, claim in enumerate(self._claims)
        )
        return Solution(tuple(map(tuple, self._results)), tuple(alternatives))

    # Before the search

    def _prepare(self, index: int, claim: ResourceClaim) -> None:
        fewest = 0
        for i, request in enumerate(claim.spec.devices.requests or ()):
            fewest += self._prepare_request(index, i, claim, request)
        if fewest > MAX_RESULTS:
            limit = f"exceeds the claim limit of {MAX_RESULTS}"
            raise AllocationError(f"claim {claim.key}: number of requested devices {fewest} {limit}")
        constraints = claim.spec.devices.constraints or ()
        for i, constraint in enumerate(constraints):
            if constraint.match_attribute is None:
                kind = "empty constraint (unsupported constraint type?)"
                raise AllocationError(f"claim {claim.key}, constraint #{i}: {kind}")
        self._constraints.append([MatchAttribute(constraint) for constraint in constraints])

    def _prepare_request(self, index: int, i: int, claim: ResourceClaim, request: DeviceRequest) -> int:
        """How many devices the request needs at least."""
        if not request.first_available:
            assert request.exactly is not None
            wanted = self._look_at(claim, request.exactly, request.name, "", (index, i, 0))
            self._wanted[index, i, 0] = wanted
            return wanted.needed
        fewest = []
        for j, alternative in enumerate(request.first_available):
            # The scheduler sets the place of an alternative after it has looked at it: the second one finds the first
            # one's answers.
            place = (index, i, max(j - 1, 0))
            self._wanted[index, i, j] = self._look_at(claim, alternative, alternative.name, request.name, place)
            fewest.append(self._wanted[index, i, j].needed)
        return min(fewest)

    def _look_at(
        self,
        claim: ResourceClaim,
        request: ExactDeviceRequest | DeviceSubRequest,
        name: str,
        parent: str,
        place: tuple[int, int, int],
    ) -> _Wanted:
        where = f"claim {claim.key}, request {name}"
        for i, selector in enumerate(request.selectors or ()):
            if selector.cel is None:
                problem = "CEL expression empty (unsupported selector type?)"
                raise AllocationError(f"{where}, selector #{i}: {problem}")
        found = self._classes.get(request.device_class_name)
        if found is None:
            missing = f'deviceclass.resource.k8s.io "{request.device_class_name}" not found'
            raise AllocationError(f"{where}: could not retrieve device class {request.device_class_name}: {missing}")
        wanted = _Wanted(request, name, parent, found, request.count, ())
        if request.allocation_mode == EXACT_COUNT:
            return wanted
        if request.allocation_mode != ALL:
            raise AllocationError(f"{where}: unsupported count mode {request.allocation_mode}")
        everything: list[DeviceInfo] = []
        for pool in self._pools:
            if pool.incomplete or pool.invalid:
                state = "currently being updated" if pool.incomplete else "currently invalid"
                raise AllocationError(f"{where}: asks for all devices, but resource pool {pool.id} is {state}")
            everything.extend(device for device in pool.devices if self._selectable(wanted, place, device))
        return wanted._replace(needed=len(everything), everything=tuple(everything))

    # The search

    def _next(self, place: _Place, inside: bool) -> bool:
        """Whether everything from a place on can be had. `inside` an alternative, the others are not tried."""
        if place.claim >= len(self._claims):
            return True
        claim = self._claims[place.claim]
        if place.request >= len(claim.spec.devices.requests or ()):
            try:
                return self._next(_Place(place.claim + 1), inside=False)
            except TooManyDevicesError:
                # Other devices for this claim may let the next one take an alternative that needs fewer.
                return False
        wanted = self._wanted[place.claim, place.request, place.alternative]
        if not inside and wanted.parent:
            return self._first_available(place)
        everything = wanted.request.allocation_mode == ALL
        if everything and not wanted.everything:
            return False
        if place.device >= wanted.needed:
            return self._next(_Place(place.claim, place.request + 1), inside=False)
        if len(self._results[place.claim]) + wanted.needed - place.device > MAX_RESULTS:
            raise TooManyDevicesError
        if everything:
            # Which alternative this is gets lost here, as it does in the scheduler.
            after = _Place(place.claim, place.request, 0, place.device + 1)
            device = wanted.everything[place.device]
            return self._try(place, wanted, device, must=True) and self._go_on(after, inside, place, wanted, device)
        return self._any(place, wanted, inside)

    def _first_available(self, place: _Place) -> bool:
        requests = self._claims[place.claim].spec.devices.requests or ()
        too_many = True
        for index in range(len(requests[place.request].first_available or ())):
            try:
                found = self._next(place._replace(alternative=index), inside=True)
            except TooManyDevicesError:
                continue
            too_many = False
            if found:
                self._selected[place.claim, place.request] = index
                return True
        if too_many:
            raise TooManyDevicesError
        return False

    def _any(self, place: _Place, wanted: _Wanted, inside: bool) -> bool:
        """One device after another, from every pool that can be taken from."""
        key = (place.claim, place.request, place.alternative)
        if place.device == 0 and not self._enough(place.claim, wanted, key):
            return False
        after = place._replace(device=place.device + 1)
        for pool in self._pools:
            for device in pool.devices:
                self._looks_left -= 1
                if self._looks_left < 0:
                    raise NodeFailure(TIMED_OUT)
                if self._in_use(device.id, place.claim, wanted.admin) or not self._selectable(wanted, key, device):
                    continue
                if self._try(place, wanted, device, must=False) and self._go_on(after, inside, place, wanted, device):
                    return True
        return False

    def _enough(self, claim: int, wanted: _Wanted, key: tuple[int, int, int]) -> bool:
        """Whether there are as many devices as are asked for.

        The scheduler finds out by trying them in every order, which takes it ten seconds from eleven devices on. It
        looks at the same devices for that, so that an error comes up here where it does there.
        """
        missing = wanted.needed
        for pool in self._pools:
            for device in pool.devices:
                if not self._in_use(device.id, claim, wanted.admin) and self._selectable(wanted, key, device):
                    missing -= 1
                    if missing <= 0:
                        return True
        return False

    def _go_on(self, after: _Place, inside: bool, place: _Place, wanted: _Wanted, device: DeviceInfo) -> bool:
        """The rest of the search with a device taken, which is put back if it comes to nothing."""
        found = False
        try:
            found = self._next(after, inside)
        finally:
            if not found:
                self._put_back(place, wanted, device)
        return found

    def _try(self, place: _Place, wanted: _Wanted, device: DeviceInfo, must: bool) -> bool:
        """Take a device if it is free and the claim's constraints allow it."""
        if self._in_use(device.id, place.claim, wanted.admin):
            return False
        request, alternative = (wanted.parent, wanted.name) if wanted.parent else (wanted.name, "")
        constraints = self._constraints[place.claim]
        for i, constraint in enumerate(constraints):
            if constraint.add(request, alternative, device):
                continue
            if must:
                reason = "because a claim constraint would not be satisfied"
                where = f"claim {self._claims[place.claim].key}, request {wanted.name}"
                raise AllocationError(f"{where}: cannot add device {device.id} {reason}")
            for earlier in constraints[:i]:
                earlier.remove(request, alternative)
            return False
        self._taking.setdefault(device.id, set()).add(place.claim)
        self._results[place.claim].append(Allocated(wanted.name, wanted.parent, device, wanted.admin))
        return True

    def _put_back(self, place: _Place, wanted: _Wanted, device: DeviceInfo) -> None:
        request, alternative = (wanted.parent, wanted.name) if wanted.parent else (wanted.name, "")
        for constraint in self._constraints[place.claim]:
            constraint.remove(request, alternative)
        self._taking[device.id].discard(place.claim)
        self._results[place.claim].pop()

    def _in_use(self, device: DeviceID, claim: int, admin: bool) -> bool:
        """Admin access is to devices in use too, though not twice in one claim."""
        taking = self._taking.get(device)
        if admin:
            return taking is not None and claim in taking
        return bool(taking) or self._taken(device)

    def _selectable(self, wanted: _Wanted, place: tuple[int, int, int], device: DeviceInfo) -> bool:
        key = (device.id, *place)
        found = self._matches.get(key)
        if found is None:
            found = self._matches[key] = self._is_selected(wanted, place[0], device)
        return found

    def _is_selected(self, wanted: _Wanted, claim: int, device: DeviceInfo) -> bool:
        name = f"class {wanted.device_class.metadata.name}"
        if not all_select(name, wanted.device_class.spec.selectors, device):
            return False
        return all_select(f"claim {self._claims[claim].key}", wanted.request.selectors, device)


def all_select(owner: str, selectors: tuple[DeviceSelector, ...] | None, device: DeviceInfo) -> bool:
    """Whether a device is what every selector asks for. Raises AllocationError, which names the owner of them."""
    for i, selector in enumerate(selectors or ()):
        assert selector.cel is not None
        try:
            if not selects(selector.cel.expression, device):
                return False
        except SelectorFailure as failure:
            raise AllocationError(f"{owner}: selector #{i}: {failure}") from None
    return True
