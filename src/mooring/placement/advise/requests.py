"""Ask for less: the largest amount of one resource that fits some node; or for a resource that exists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mooring.api.core.resources import is_overcommit_allowed
from mooring.kube.objects import Object
from mooring.kube.quantities import canonical, milli_value, value
from mooring.placement.advise.model import Advice, AdviceKind, Edit
from mooring.placement.advise.nearest import meant_key
from mooring.placement.advise.pointers import pointer, resolve
from mooring.placement.advise.residents import held
from mooring.placement.advise.search import Search
from mooring.placement.filters import TOO_MANY_PODS, Need
from mooring.placement.pods import PodInfo
from mooring.placement.scheduler_cache import Amounts

_BYTES = (("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10))


class _Asker(NamedTuple):
    """A container, or the pod itself, that requests a resource."""

    who: str
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
        askers = _askers(search.spec, need.name)
        if free > 0:
            yield from _lower(search, need, askers, free)
        elif not bool((need.allocatable[search.cluster.valid] > 0).any()):
            yield from _rename(search, need, askers)
            yield from _drop(search, need, askers)


def _kept(search: Search, name: str) -> Amounts:
    """How much of a resource is kept on each node for pods that are nominated to it."""
    kept = np.zeros(search.cluster.size, dtype=np.int64)
    for node in search.cluster.nominated:
        slot = search.cluster.slots.get(node)
        if slot is not None:
            kept[slot] = sum(held(rival.template, (name,))[0] for rival in search.rivals(slot))
    return kept


def _askers(spec: Object, name: str) -> list[_Asker]:
    """Who asks for a resource, the largest request first; a request of the pod as a whole stands for all."""
    pod_level = ((spec.get("resources") or {}).get("requests") or {}).get(name)
    if pod_level is not None:
        return [_Asker("the pod", ("spec", "resources"), _units(name, pod_level))]
    found = []
    for field in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(field) or ()):
            text = ((container.get("resources") or {}).get("requests") or {}).get(name)
            if text is not None:
                who = f"container {container.get('name', index)}"
                found.append(_Asker(who, ("spec", field, index, "resources"), _units(name, text)))
    return sorted(found, key=lambda asker: -asker.amount)


def _units(name: str, text: str | float) -> int:
    return milli_value(text) if name == "cpu" else value(text)


def _text(name: str, units: int) -> str:
    """An amount as people write it, rounded down where it has more digits than anybody cares for."""
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


def _lower(search: Search, need: Need, askers: list[_Asker], free: int) -> Iterator[Advice]:
    for asker in askers:
        units = asker.amount - (need.amount - free)
        if need.name.startswith("hugepages-"):
            units -= units % (value(need.name.removeprefix("hugepages-")) or 1)
        if _is_device(need.name):
            units = _halved(asker.amount, units)
        if units <= 0:
            continue
        text = _text(need.name, units)
        edits = _amounts(search, asker, need.name, text)
        if len(asker.path) == 2 and not _covers_containers(search, need.name, edits[0]):
            continue
        before = edits[0].before
        title = f"Lower {need.name} of {asker.who} from {before} to {text}"
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


def _amounts(search: Search, asker: _Asker, name: str, text: str) -> list[Edit]:
    """The request, and with it the limit where the two must be equal."""
    fields = ["requests"]
    if not is_overcommit_allowed(name):
        fields.append("limits")
    edits = []
    for field in fields:
        path = pointer(*asker.path, field, name)
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


def _drop(search: Search, need: Need, askers: list[_Asker]) -> Iterator[Advice]:
    """Ask for nothing, where no node has anything; what all nodes have, and others use, is not given up."""
    edits = []
    for asker in askers:
        for field in ("requests", "limits"):
            path = pointer(*asker.path, field, need.name)
            before = resolve(search.pod, path)
            # A limit alone would become the request again.
            if before is not None:
                edits.append(Edit("pod", "drop", path, before, None))
    if edits:
        who = " and ".join(asker.who for asker in askers)
        title = f"Drop the request for {need.name} of {who}"
        if _is_device(need.name):
            title += ", which then runs without"
        advice = search.on_pod(AdviceKind.DROP, title, *edits, last_resort=_is_device(need.name))
        if advice is not None:
            yield advice


def _rename(search: Search, need: Need, askers: list[_Asker]) -> Iterator[Advice]:
    """No node has the resource at all: perhaps its name is misspelt."""
    cluster = search.cluster
    offered = [name for name, column in cluster.alloc_scalar.items() if bool((column[cluster.valid] > 0).any())]
    other = meant_key(need.name, offered)
    if other is None:
        return
    edits = []
    for asker in askers:
        for field in ("requests", "limits"):
            path = pointer(*asker.path, field, need.name)
            before = resolve(search.pod, path)
            if before is not None:
                edits.append(Edit("pod", "replace", path, before, None))
                edits.append(Edit("pod", "replace", pointer(*asker.path, field, other), None, before))
    title = f'Correct resource "{need.name}" to "{other}"'
    advice = search.on_pod(AdviceKind.CORRECT, title, *edits)
    if advice is not None:
        yield advice
