"""Devices that a claim asks for in vain: a class or a value that is misspelt, too many of them, too large ones.

An expression is understood where it compares one attribute with a text, or one capacity with an amount; any other can
be dropped as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final, TypeVar

import msgspec
import numpy as np

from mooring.api.core.types import Node
from mooring.api.resource.views import (
    ALL,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    ExactDeviceRequest,
    ResourcePool,
    ResourceSlice,
    ResourceSliceSpec,
)
from mooring.kube.errors import QuantityError
from mooring.kube.quantities import parse_quantity
from mooring.placement.advise.devices.claims import ClaimSource, claim_sources, claims_changed
from mooring.placement.advise.model import Advice, AdviceKind, Edit
from mooring.placement.advise.nearest import meant
from mooring.placement.advise.nodes.new_node import LIFTED, plain_node, twin_of
from mooring.placement.advise.others.residents import short_for_now
from mooring.placement.advise.search import MAX_TRIES, Search
from mooring.placement.causes.devices import supply
from mooring.placement.devices.dynamic_resources import CANNOT_ALLOCATE, DynamicResources, device_check
from mooring.placement.devices.inventory import DeviceInfo
from mooring.placement.plugins.node_checks import DYNAMIC_RESOURCES

_Member = TypeVar("_Member", DeviceAttribute, DeviceCapacity)

_ATTRIBUTE: Final = re.compile(r'device\.attributes\["([^"]+)"\]\.(\w+)\s*==\s*"([^"]*)"')
_CAPACITY: Final = re.compile(r'device\.capacity\["([^"]+)"\]\.(\w+)\.compareTo\(quantity\("([^"]+)"\)\)\s*>=?\s*0')


def devices(search: Search) -> Iterator[Advice]:
    """Changes of claims, where nothing but devices rejects some node."""
    if search.info.claims and search.only(CANNOT_ALLOCATE).any():
        yield from _Requests(search).changes()


def device_classes(search: Search) -> Iterator[Advice]:
    """A class that does not exist, where another was meant."""
    rejected = search.explanation.rejected
    if rejected is not None and rejected.plugin == DYNAMIC_RESOURCES:
        yield from _Requests(search).classes()


def node_with_devices(search: Search) -> Iterator[Advice]:
    """One more node like one whose devices are taken, with devices of its own."""
    if not search.info.claims:
        return
    near = search.in_order(search.only(CANNOT_ALLOCATE, *LIFTED, *short_for_now(search)))
    inventory = search.cluster.devices.inventory
    for slot in search.imitable(near)[:MAX_TRIES].tolist():
        model = search.cluster.nodes[slot]
        assert model is not None
        twin = twin_of(search, model)
        slices = [
            _slice_of(twin.metadata.name, number, info.pool.driver, info.devices)
            for number, info in enumerate(inventory.of_node(model.metadata.name))
        ]
        for view in slices:
            inventory.set_slice(view)
        try:
            nodes, count = search.after((twin,)) if slices and _has_devices(search, twin) else ((), 0)
        finally:
            for view in slices:
                inventory.remove_slice(view.metadata.name)
        if count:
            added = [Edit("cluster", "addNode", "/nodes/-", None, plain_node(twin))]
            added += [
                Edit("devices", "addSlice", "/resourceslices/-", None, msgspec.to_builtins(view)) for view in slices
            ]
            title = f"Add one more node like {model.metadata.name}, with devices of its own"
            yield Advice(AdviceKind.ADD_NODE, title, tuple(added), (), nodes, count)
            return


def _has_devices(search: Search, twin: Node) -> bool:
    """Whether the twin alone has what the pod claims: asking the whole cluster takes long."""
    with search.cluster.pretending((twin,)):
        check = device_check(search.cluster, search.info)
        return isinstance(check, DynamicResources) and not check.at(search.cluster.slots[twin.metadata.name])


def _slice_of(node: str, number: int, driver: str, devices: Iterable[DeviceInfo]) -> ResourceSlice:
    offered = tuple(Device(each.id.device, each.attributes, each.capacity) for each in devices)
    pool = ResourcePool(f"{node}-{number}", 1, 1)
    spec = ResourceSliceSpec(driver=driver, node_name=node, pool=pool, devices=offered)
    made = ResourceSlice(spec=spec)
    return msgspec.structs.replace(made, metadata=msgspec.structs.replace(made.metadata, name=f"{node}-{number}"))


class _Requests:
    """The requests of a pod's claims that are no choice between alternatives."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._devices = search.cluster.devices
        self._sources = claim_sources(self._devices, search.info, search.spec)

    def classes(self) -> Iterator[Advice]:
        known = sorted(self._devices.classes)
        for source, index, name, request in self._all():
            before = request.device_class_name
            other = None if before in known else meant(before, known)
            if other is not None:
                title = f'Correct deviceClassName of request {name} in {source.words} from "{before}" to "{other}"'
                edit = source.edit("replace", ("requests", index, "exactly", "deviceClassName"), before, other)
                yield from self._tried(AdviceKind.CORRECT, title, edit)

    def changes(self) -> Iterator[Advice]:
        for source, index, name, request in self._all():
            for number, selector in enumerate(request.selectors or ()):
                path = ("requests", index, "exactly", "selectors", number)
                expression = selector.cel.expression if selector.cel is not None else ""
                where = f"request {name} in {source.words}"
                yield from self._expression(source, (*path, "cel", "expression"), expression, where)
                dropped = source.edit("drop", path, {"cel": {"expression": expression}}, None)
                yield from self._tried(AdviceKind.DROP, f"Drop the selector {expression} of {where}", dropped)
            if request.allocation_mode != ALL:
                yield from self._count(source, index, name, request)

    def _all(self) -> Iterator[tuple[ClaimSource, int, str, ExactDeviceRequest]]:
        for source in self._sources:
            for index, request in enumerate(source.claim.spec.devices.requests or ()):
                if request.exactly is not None:
                    yield source, index, request.name, request.exactly

    def _expression(
        self, source: ClaimSource, path: tuple[str | int, ...], expression: str, where: str
    ) -> Iterator[Advice]:
        for found in _ATTRIBUTE.finditer(expression):
            domain, name, value = found.groups()
            other = meant(value, self._texts(domain, name))
            if other is not None:
                changed = expression[: found.start(3)] + other + expression[found.end(3) :]
                title = f'Correct {name} in the selector of {where} from "{value}" to "{other}"'
                yield from self._tried(AdviceKind.CORRECT, title, source.edit("replace", path, expression, changed))
        for found in _CAPACITY.finditer(expression):
            domain, name, value = found.groups()
            for amount in self._amounts(domain, name, value):
                changed = expression[: found.start(3)] + amount + expression[found.end(3) :]
                title = f"Lower {name} in the selector of {where} from {value} to {amount}"
                lowered = list(self._tried(AdviceKind.LOWER, title, source.edit("lower", path, expression, changed)))
                if lowered:
                    yield from lowered
                    break

    def _count(self, source: ClaimSource, index: int, name: str, request: ExactDeviceRequest) -> Iterator[Advice]:
        """As many devices as one node has, where it has some."""

        def edit(count: int) -> Edit:
            return source.edit("lower", ("requests", index, "exactly", "count"), request.count, count)

        filters = self._search.filters
        if filters.checks.devices is None:
            return
        near = np.flatnonzero(self._search.only(CANNOT_ALLOCATE)).tolist()
        count = max((supply(filters, filters.checks.devices, request, slot).free for slot in near), default=0)
        # Constraints and other requests may leave fewer than are free.
        count = min(count, request.count - 1)
        while count > 0:
            title = f"Lower count of request {name} in {source.words} from {request.count} to {count}"
            lowered = list(self._tried(AdviceKind.LOWER, title, edit(count)))
            if lowered:
                yield from lowered
                return
            count //= 2

    def _tried(self, kind: AdviceKind, title: str, edit: Edit) -> Iterator[Advice]:
        with claims_changed(self._devices, self._sources, (edit,)):
            nodes, count = self._search.after()
        if count:
            yield Advice(kind, title, (edit,), (), nodes, count)

    @cached_property
    def _offered(self) -> list[DeviceInfo]:
        return [device for info in self._devices.inventory.slices() for device in info.devices]

    def _texts(self, domain: str, name: str) -> list[str]:
        """The texts that an attribute has on some device."""
        found = (_of(device.attributes, domain, name, device) for device in self._offered)
        return sorted({each.string_value for each in found if each is not None and each.string_value is not None})

    def _amounts(self, domain: str, name: str, asked: str) -> list[str]:
        """The capacities that devices have and that are less than what is asked for, the largest first."""
        try:
            limit = parse_quantity(asked)
        except QuantityError:
            return []
        found = (_of(device.capacity, domain, name, device) for device in self._offered)
        amounts = {str(each.value): parse_quantity(str(each.value)) for each in found if each is not None}
        less = [(amount, text) for text, amount in amounts.items() if amount < limit]
        return [text for _, text in sorted(less, reverse=True)][:MAX_TRIES]


def _of(members: Mapping[str, _Member], domain: str, name: str, device: DeviceInfo) -> _Member | None:
    """A member by its name, which stands without a domain where that is the driver's."""
    return members.get(f"{domain}/{name}") or (members.get(name) if domain == device.id.driver else None)
