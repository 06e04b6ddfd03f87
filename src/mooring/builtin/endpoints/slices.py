"""EndpointSlices: the addresses behind a Service in pieces, so that one pod's change rewrites one piece.

A slice's name follows from the Service and from the place it holds, see endpointslices_slots. New slices are made
before old ones shrink or go, so that nobody who follows them sees an address missing in between.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, NamedTuple

from mooring.api.core.views import Node, Pod, Service
from mooring.api.discovery.views import EndpointSlice
from mooring.api.kinds import Key, key_of
from mooring.builtin.endpoints.pods import (
    HEADLESS,
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
from mooring.builtin.endpoints.slots import slots
from mooring.builtin.selections import SELECTIONS
from mooring.kube.objects import Object
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Delete, Patch
from mooring.runtime.view import View
from mooring.workloads.children import compare
from mooring.workloads.kinds import ENDPOINT_SLICE, NODE, POD, SERVICE
from mooring.workloads.ownerrefs import controller_reference
from mooring.workloads.podcontrol import child_suffix

SERVICE_NAME: Final = "kubernetes.io/service-name"
MANAGED_BY: Final = "endpointslice.kubernetes.io/managed-by"
# The name that tools look for to tell slices made from a selector from those made by hand.
MANAGER: Final = "endpointslice-controller.k8s.io"
_ZONE: Final = "topology.kubernetes.io/zone"
_CLOSE: Final = ("PreferClose", "PreferSameZone", "PreferSameNode")

Nodes = dict[str, Node | None]


class SlicesPeek(NamedTuple):
    """What was looked at when there was nothing to do; the same again needs no second look."""

    version: int
    service: Service
    slices: tuple[EndpointSlice, ...]
    nodes: Nodes


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    service = view.get(SERVICE, *key)
    if service is None or not wants_endpoints(service):
        return Decision()
    selection = view.fold(SELECTIONS).of(SERVICE, key)
    if selection is None:
        return Decision()
    owned = view.owned(ENDPOINT_SLICE, service)
    slices = tuple(found for found in owned if found.metadata.labels.get(MANAGED_BY) == MANAGER)
    pods = [selection.members[name] for name in sorted(selection.members)]
    names = dict.fromkeys(pod.spec.node_name for pod in pods if is_published(pod, terminating=True))
    nodes: Nodes = {name: view.get(NODE, "", name) for name in names}
    peek = SlicesPeek(selection.version, service, slices, nodes)
    if _is_same(view.memory(SlicesPeek), peek):
        return Decision(memory=peek)
    decision = _decide(service, slices, _wanted(service, pods, nodes))
    return decision._replace(memory=peek) if decision.empty else decision


def _is_same(known: SlicesPeek | None, peek: SlicesPeek) -> bool:
    return (
        known is not None
        and known.version == peek.version
        and known.service is peek.service
        and len(known.slices) == len(peek.slices)
        and all(one is other for one, other in zip(known.slices, peek.slices, strict=True))
        and known.nodes.keys() == peek.nodes.keys()
        and all(known.nodes[name] is node for name, node in peek.nodes.items())
    )


def _wanted(service: Service, pods: list[Pod], nodes: Nodes) -> dict[str, Object]:
    """Every slice that there should be, by its name."""
    found: dict[str, Object] = {}
    for family in families(service):
        groups: dict[str, tuple[list[Object], dict[str, Object]]] = {}
        for pod in pods:
            endpoint = _endpoint(service, pod, nodes, family)
            if endpoint is not None:
                offered = list(ports(service, pod))
                groups.setdefault(str(offered), (offered, {}))[1][pod.metadata.uid] = endpoint
        for rank, (_, (offered, endpoints)) in enumerate(sorted(groups.items())):
            for place, uids in slots(endpoints):
                members = [endpoint for uid, endpoint in endpoints.items() if uid in uids]
                found[_name(service, family, rank, place)] = _slice(family, members, offered)
        if not groups:
            # One slice stays, to say that there are no endpoints.
            found[_name(service, family, 0, "")] = _slice(family, [], [])
    return found


def _name(service: Service, family: str, rank: int, place: str) -> str:
    suffix = child_suffix(f"{service.metadata.uid}/{family}/{place}", rank)
    return f"{service.metadata.name}-{suffix}"


def _slice(family: str, endpoints: list[Object], offered: list[Object]) -> Object:
    return {"addressType": family, "endpoints": endpoints, "ports": offered}


def _endpoint(service: Service, pod: Pod, nodes: Nodes, family: str) -> Object | None:
    """What is told of one pod; None for one that is not told of."""
    if not is_published(pod, terminating=True):
        return None
    node = nodes[pod.spec.node_name]
    tolerant = service.spec.publish_not_ready_addresses
    if node is None and not tolerant:
        return None
    found = addresses(pod, family)
    if not found:
        return None
    terminating = pod.metadata.deleting
    conditions = {
        "ready": tolerant or (pod.ready and not terminating),
        "serving": pod.ready,
        "terminating": terminating,
    }
    endpoint: Object = {"addresses": found, "conditions": conditions}
    if name := host_name(pod, service):
        endpoint["hostname"] = name
    if pod.spec.node_name:
        endpoint["nodeName"] = pod.spec.node_name
    endpoint["targetRef"] = target(pod)
    zone = "" if node is None else node.metadata.labels.get(_ZONE, "")
    if zone:
        endpoint["zone"] = zone
    if conditions["ready"] and (hints := _hints(service, zone, pod.spec.node_name)):
        endpoint["hints"] = hints
    return endpoint


def _hints(service: Service, zone: str, node: str) -> Object:
    """Whom an endpoint is meant for, where the Service wants its traffic to stay close."""
    wish = service.spec.traffic_distribution
    if wish not in _CLOSE:
        return {}
    hints: Object = {"forZones": [{"name": zone}]} if zone else {}
    return hints | ({"forNodes": [{"name": node}]} if wish == "PreferSameNode" and node else {})


def _decide(service: Service, slices: tuple[EndpointSlice, ...], wanted: dict[str, Object]) -> Decision:
    labels = passed_on(
        service, (HEADLESS, SERVICE_NAME, MANAGED_BY), {SERVICE_NAME: service.metadata.name, MANAGED_BY: MANAGER}
    )
    found = compare(wanted, {each.metadata.name: each for each in slices})
    prefix = f"{service.metadata.name}-"
    metadata = {"generateName": prefix, "namespace": service.metadata.namespace, "labels": labels}
    owner = controller_reference(SERVICE, service)
    made = [
        Create(ENDPOINT_SLICE, {"metadata": {**metadata, "name": name, "ownerReferences": [owner]}, **body})
        for name, body in found.missing.items()
    ]
    changed = [
        Patch(ENDPOINT_SLICE, key_of(known), patch)
        for known, body in found.kept.values()
        if (patch := _change(known, body, labels))
    ]
    gone = [Delete(ENDPOINT_SLICE, key_of(each)) for each in found.surplus]
    return Decision(intent=tuple(made), children=tuple(changed), release=tuple(gone))


def _change(known: EndpointSlice, wanted: Object, labels: dict[str, str]) -> Object:
    patch: dict[str, Any] = {}
    if moved := changed_map(known.metadata.labels, labels):
        patch["metadata"] = {"labels": moved}
    if list(known.endpoints or ()) != wanted["endpoints"]:
        patch["endpoints"] = wanted["endpoints"]
    if list(known.ports or ()) != wanted["ports"]:
        patch["ports"] = wanted["ports"]
    return patch


CONTROLLER: Final = Controller(
    "endpointslices",
    reconcile,
    of=SERVICE,
    reads=(POD, NODE, ENDPOINT_SLICE),
    writes={ENDPOINT_SLICE: ("create", "patch", "delete"), SERVICE: ("finalizers",)},
    folds=(SELECTIONS,),
    memory=SlicesPeek,
)
