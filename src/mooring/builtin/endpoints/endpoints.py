"""Endpoints: the addresses behind a Service in one object, for clients that do not read EndpointSlices.

They are owned by their Service, so that garbage collection deletes them with it while this controller does not run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final, NamedTuple

from mooring.api.core.views import Endpoints, Pod, Service
from mooring.api.kinds import Key, key_of
from mooring.builtin.endpoints.pods import (
    HEADLESS,
    NO_ADDRESS,
    addresses,
    changed_map,
    families,
    host_name,
    is_published,
    passed_on,
    ports,
    target,
    wants_endpoints,
)
from mooring.builtin.selections import SELECTIONS
from mooring.kube.objects import Object
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Patch, Write
from mooring.runtime.view import View
from mooring.workloads.kinds import ENDPOINTS, POD, SERVICE
from mooring.workloads.ownerrefs import controller_reference

# More addresses than this are not told; EndpointSlices hold them all.
MAX_ADDRESSES: Final = 1000
OVER_CAPACITY: Final = "endpoints.kubernetes.io/over-capacity"
MANAGED_BY: Final = "endpoints.kubernetes.io/managed-by"
_MANAGER: Final = "endpoint-controller"

# A port as something that can be a key: name, number, protocol, application protocol.
Port = tuple[str, int, str, str | None]
# An address with whether it is ready, by the pod's name.
Members = dict[str, tuple[Object, bool]]


class EndpointsPeek(NamedTuple):
    """What was looked at when there was nothing to do; the same again needs no second look."""

    version: int
    service: Service
    endpoints: Endpoints | None


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    service = view.get(SERVICE, *key)
    if service is None or not wants_endpoints(service):
        return Decision()
    current = view.get(ENDPOINTS, *key)
    selection = view.fold(SELECTIONS).of(SERVICE, key)
    if selection is None:
        return Decision()
    peek = EndpointsPeek(selection.version, service, current)
    if _is_same(view.memory(EndpointsPeek), peek):
        return Decision(memory=peek)
    pods = [selection.members[name] for name in sorted(selection.members)]
    subsets, cut = _cut(_pack(service, pods))
    write = _write(service, current, subsets, cut=cut)
    return Decision(memory=peek) if write is None else Decision(children=(write,))


def _is_same(known: EndpointsPeek | None, peek: EndpointsPeek) -> bool:
    return (
        known is not None
        and known.version == peek.version
        and known.service is peek.service
        and known.endpoints is peek.endpoints
    )


def _pack(service: Service, pods: Iterable[Pod]) -> list[Object]:
    """Addresses that share all their ports, and how they fare, stand together."""
    by_port: dict[Port | None, Members] = {}
    tolerant = service.spec.publish_not_ready_addresses
    family = families(service)[0]
    for pod in pods:
        if not is_published(pod, terminating=tolerant):
            continue
        found = addresses(pod, family)
        if not found:
            continue
        member = _address(found[0], pod, service), tolerant or pod.ready
        for port in _ports(service, pod):
            by_port.setdefault(port, {})[pod.metadata.name] = member
    shared: dict[tuple[tuple[str, bool], ...], list[Port]] = {}
    for port, members in by_port.items():
        alike = tuple((name, ready) for name, (_, ready) in members.items())
        shared.setdefault(alike, [])
        if port is not None:
            shared[alike].append(port)
    return [
        _subset([by_port[wanted[0] if wanted else None][name] for name, _ in alike], wanted)
        for alike, wanted in shared.items()
    ]


def _ports(service: Service, pod: Pod) -> Iterator[Port | None]:
    if not service.spec.ports and service.spec.cluster_ip == NO_ADDRESS:
        yield None
    for port in ports(service, pod):
        yield port["name"], port["port"], port["protocol"], port.get("appProtocol")


def _address(ip: str, pod: Pod, service: Service) -> Object:
    name = host_name(pod, service)
    found: Object = {"ip": ip} | ({"hostname": name} if name else {})
    return found | {"nodeName": pod.spec.node_name, "targetRef": target(pod)}


def _subset(members: Iterable[tuple[Object, bool]], wanted: Iterable[Port]) -> Object:
    members = sorted(members, key=lambda member: (member[0]["ip"], member[0]["targetRef"]["uid"]))
    found: Object = {
        "addresses": [address for address, ready in members if ready],
        "notReadyAddresses": [address for address, ready in members if not ready],
        "ports": [_port(port) for port in sorted(wanted, key=str)],
    }
    return {name: value for name, value in found.items() if value}


def _port(port: Port) -> Object:
    fields = dict(zip(("name", "port", "protocol", "appProtocol"), port, strict=True))
    return {name: value for name, value in fields.items() if value}


def _cut(subsets: list[Object]) -> tuple[list[Object], bool]:
    """As many addresses as one object may hold, ready ones first, shared out among the subsets."""
    ready = sum(len(subset.get("addresses", ())) for subset in subsets)
    waiting = sum(len(subset.get("notReadyAddresses", ())) for subset in subsets)
    if ready + waiting <= MAX_ADDRESSES:
        return subsets, False
    name, room, total = (
        ("addresses", MAX_ADDRESSES, ready)
        if ready > MAX_ADDRESSES
        else ("notReadyAddresses", MAX_ADDRESSES - ready, waiting)
    )
    left = room
    cut = []
    for subset in subsets:
        listed = subset.get(name, [])
        share = min(-(-len(listed) * room // total), left)
        left -= min(share, len(listed))
        kept = {**subset, name: listed[:share]}
        if name == "addresses":
            kept["notReadyAddresses"] = []
        cut.append({field: value for field, value in kept.items() if value})
    return cut, True


def _write(service: Service, current: Endpoints | None, subsets: list[Object], *, cut: bool) -> Write | None:
    labels = passed_on(service, (HEADLESS,), {MANAGED_BY: _MANAGER})
    notes = {OVER_CAPACITY: "truncated"} if cut else {}
    owner = controller_reference(SERVICE, service)
    if current is None:
        key = key_of(service)
        metadata: Object = {"name": key.name, "namespace": key.namespace, "labels": labels, "ownerReferences": [owner]}
        if notes:
            metadata["annotations"] = notes
        return Create(ENDPOINTS, {"metadata": metadata} | ({"subsets": subsets} if subsets else {}))
    changes: dict[str, Any] = {}
    if moved := changed_map(current.metadata.labels, labels):
        changes["labels"] = moved
    known = current.metadata.annotations.get(OVER_CAPACITY)
    if known != notes.get(OVER_CAPACITY):
        changes["annotations"] = {OVER_CAPACITY: notes.get(OVER_CAPACITY)}
    if not any(reference.uid == service.metadata.uid for reference in current.metadata.owner_references):
        # Made by hand before the Service had a selector: it belongs to the Service now.
        changes["ownerReferences"] = [owner]
    body: Object = {"metadata": changes} if changes else {}
    if list(current.subsets) != subsets:
        body["subsets"] = subsets or None
    return Patch(ENDPOINTS, key_of(current), body) if body else None


CONTROLLER: Final = Controller(
    "endpoints",
    reconcile,
    of=SERVICE,
    reads=(POD, ENDPOINTS),
    writes={ENDPOINTS: ("create", "patch", "delete"), SERVICE: ("finalizers",)},
    folds=(SELECTIONS,),
    memory=EndpointsPeek,
)
