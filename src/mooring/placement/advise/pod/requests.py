"""Ask for less: the largest amount of one resource that fits some node; or for a resource that exists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mooring.api.core.resources import is_overcommit_allowed
from mooring.kube.objects import Object
from mooring.kube.quantities import canonical, milli_value, value
from mooring.placement.advise.model import Advice, AdviceKind, Edit
from mooring.placement.advise.nearest import meant_key
from mooring.placement.advise.others.residents import held
from mooring.placement.advise.pointers import pointer, resolve
from mooring.placement.advise.search import Search
from mooring.placement.filters import TOO_MANY_PODS, Need
from mooring.placement.pods import PodInfo
from mooring.placement.scheduler_cache import Amounts

# A part of an NVIDIA GPU as a resource: so many of its slices and so much of its memory.
_MIG_PROFILE = re.compile(r"nvidia\.com/mig-(?P<slices>[0-9]+)g\.(?P<memory>[0-9]+)gb(\.me)?")
_BYTES = (("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10))


class _ContainerRequest(NamedTuple):
    """A container, or the pod itself, that requests a resource."""

    holder: str
    path: tuple[str | int, ...]
    amount: int


def requests(search: Search) -> Iterator[Advice]:
    for need in search.filters.needs():
        reasons = [
            r
            for r in search.verdicts.reasons
            if r.plugin == TOO_MANY_PODS.plugin and r.subject == need.name and r != TOO_MANY_PODS
        ]
        near = search.only(*reasons)
        if not near.any():
            continue
        free = int((need.allocatable - need.used - _kept(search, need.name))[near].max())
        found_requests = _requests_for(search.spec, need.name)
        if free > 0:
            yield from _lower(search, need, found_requests, free)
        elif not bool((need.allocatable[search.cluster.valid] > 0).any()):
            yield from _rename(search, need, found_requests)
            yield from _drop(search, need, found_requests)


def _kept(search: Search, name: str) -> Amounts:
    """How much of a resource is kept on each node for pods that are nominated to it."""
    kept = np.zeros(search.cluster.size, dtype=np.int64)
    for node in search.cluster.nominated:
        slot = search.cluster.slots.get(node)
        if slot is not None:
            kept[slot] = sum(held(rival.template, (name,))[0] for rival in search.rivals(slot))
    return kept


def _requests_for(spec: Object, name: str) -> list[_ContainerRequest]:
    """The requests for a resource, the largest first; a request of the pod as a whole stands for all."""
    pod_level = ((spec.get("resources") or {}).get("requests") or {}).get(name)
    if pod_level is not None:
        return [_ContainerRequest("the pod", ("spec", "resources"), _units(name, pod_level))]
    found = []
    for field, noun in (("containers", "container"), ("initContainers", "init container")):
        for index, container in enumerate(spec.get(field) or ()):
            text = ((container.get("resources") or {}).get("requests") or {}).get(name)
            if text is not None:
                holder = f"{noun} {container.get('name', index)}"
                found.append(_ContainerRequest(holder, ("spec", field, index, "resources"), _units(name, text)))
    return sorted(found, key=lambda request: -request.amount)


def _units(name: str, text: str | float) -> int:
    return milli_value(text) if name == "cpu" else value(text)


def _text(name: str, units: int) -> str:
    """An amount as people write it, rounded down where it has more digits than matter."""
    if name == "cpu":
        return canonical(f"{units}m")
    if name in ("memory", "ephemeral-storage"):
        for suffix, size in _BYTES:
            # A gibibyte is too coarse to round down to.
            if units >= size and (suffix != "Gi" or units % size == 0):
                return f"{units // size}{suffix}"
    if name.startswith("hugepages-"):
        return canonical(f"{units // 2**20}Mi") if units % 2**20 == 0 else str(units)
    return str(units)


def _lower(search: Search, need: Need, found_requests: list[_ContainerRequest], free: int) -> Iterator[Advice]:
    for request in found_requests:
        units = request.amount - (need.amount - free)
        if need.name.startswith("hugepages-"):
            units -= units % (value(need.name.removeprefix("hugepages-")) or 1)
        if units <= 0:
            continue
        if _is_device(need.name):
            units = _halved(request.amount, units)
        text = _text(need.name, units)
        edits = _amounts(search, request, need.name, text)
        if len(request.path) == 2 and not _covers_containers(search, need.name, edits[0]):
            continue
        before = edits[0].before
        title = f"Lower {need.name} of {request.holder} from {before} to {text}"
        advice = search.on_pod(AdviceKind.LOWER, title, *edits)
        if advice is not None:
            yield advice
            return


def _is_device(name: str) -> bool:
    """Whether a resource is counted in whole devices, such as nvidia.com/gpu."""
    return "/" in name


def _halved(amount: int, most: int) -> int:
    """Half of an amount, or half of that, until it is no more than `most`: models are split in two, not in sevens."""
    while amount > most:
        amount //= 2
    return amount


def _amounts(search: Search, request: _ContainerRequest, name: str, text: str) -> list[Edit]:
    """The request, and with it the limit where the two must be equal."""
    fields = ["requests"]
    if not is_overcommit_allowed(name):
        fields.append("limits")
    edits = []
    for field in fields:
        path = pointer(*request.path, field, name)
        before = resolve(search.pod, path)
        if before is not None:
            edits.append(Edit("pod", "lower", path, before, text))
    return edits


def _covers_containers(search: Search, name: str, edit: Edit) -> bool:
    """Whether the pod's own request is still no less than what its containers request: the API insists on it."""
    spec = {**search.spec, "resources": None}
    return _amount_of(search.compile({**search.pod, "spec": spec}), name) <= _units(name, edit.after)


def _amount_of(info: PodInfo, name: str) -> int:
    requests = info.requests
    return {"cpu": requests.cpu, "memory": requests.memory}.get(name, dict(requests.scalars).get(name, 0))


def _drop(search: Search, need: Need, found_requests: list[_ContainerRequest]) -> Iterator[Advice]:
    """Ask for nothing, where no node has anything; what all nodes have, and others use, is not given up."""
    edits = []
    for request in found_requests:
        for field in ("requests", "limits"):
            path = pointer(*request.path, field, need.name)
            before = resolve(search.pod, path)
            # A limit alone would become the request again.
            if before is not None:
                edits.append(Edit("pod", "drop", path, before, None))
    if edits:
        holder = " and ".join(request.holder for request in found_requests)
        title = f"Drop the request for {need.name} of {holder}"
        if _is_device(need.name):
            title += ", which then runs without"
        advice = search.on_pod(AdviceKind.DROP, title, *edits, last_resort=_is_device(need.name))
        if advice is not None:
            yield advice


def _rename(search: Search, need: Need, found_requests: list[_ContainerRequest]) -> Iterator[Advice]:
    """No node has the resource at all: perhaps its name is misspelt."""
    cluster = search.cluster
    offered = [name for name, column in cluster.alloc_scalar.items() if bool((column[cluster.valid] > 0).any())]
    other = _larger_profile(need.name, offered)
    if other is not None:
        kind, title = AdviceKind.WIDEN, f"Ask for {other}, which nodes have, instead of {need.name}"
    elif (other := meant_key(need.name, offered)) is not None:
        kind, title = AdviceKind.CORRECT, f'Correct resource "{need.name}" to "{other}"'
    else:
        return
    edits = []
    for request in found_requests:
        for field in ("requests", "limits"):
            path = pointer(*request.path, field, need.name)
            before = resolve(search.pod, path)
            if before is not None:
                edits.append(Edit("pod", "replace", path, before, None))
                edits.append(Edit("pod", "replace", pointer(*request.path, field, other), None, before))
    advice = search.on_pod(kind, title, *edits)
    if advice is not None:
        yield advice


def _larger_profile(name: str, offered: list[str]) -> str | None:
    """The smallest MIG profile that exists and has no less of a GPU than the one that is asked for."""
    asked = _MIG_PROFILE.fullmatch(name)
    if asked is None:
        return None
    wanted = int(asked["memory"]), int(asked["slices"])
    found = [
        ((int(profile["memory"]), int(profile["slices"])), each)
        for each in offered
        if (profile := _MIG_PROFILE.fullmatch(each)) is not None
    ]
    large = [(size, each) for size, each in found if size[0] >= wanted[0] and size[1] >= wanted[1]]
    return min(large)[1] if large else None
