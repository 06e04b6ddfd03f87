"""EndpointSlices of Endpoints that people write by hand, for a Service without a selector.

Whoever reads EndpointSlices alone, as kube-proxy does, would not see them otherwise. A subset becomes a slice for each
address family; its name follows from the Endpoints, so the same slice is changed again.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from ipaddress import ip_address
from typing import Any, Final, NamedTuple

from mooring.api.core.views import Endpoints
from mooring.api.discovery.views import EndpointSlice
from mooring.api.kinds import Key, key_of
from mooring.builtin.endpoints.pods import changed_map
from mooring.builtin.endpoints.slices import MANAGED_BY, SERVICE_NAME
from mooring.kube.objects import Object
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Delete, Event, Patch
from mooring.runtime.view import View
from mooring.workloads.children import compare
from mooring.workloads.kinds import ENDPOINT_SLICE, ENDPOINTS, SERVICE
from mooring.workloads.ownerrefs import controller_reference
from mooring.workloads.podcontrol import child_suffix

MANAGER: Final = "endpointslicemirroring-controller.k8s.io"
SKIP: Final = "endpointslice.kubernetes.io/skip-mirror"
# More addresses of a subset than this are left out, and that is told.
MAX_ADDRESSES: Final = 1000
_LEADER: Final = "control-plane.alpha.kubernetes.io/leader"
# Annotations that are about the Endpoints themselves.
_OWN_NOTES: Final = (
    "endpoints.kubernetes.io/last-change-trigger-time",
    "kubectl.kubernetes.io/last-applied-configuration",
)


class _Group(NamedTuple):
    """Addresses that share their ports and their family."""

    family: str
    ports: list[Object]
    # By address: in two subsets of the same ports it is ready only if it is in both.
    endpoints: dict[str, Object]


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    endpoints = view.get(ENDPOINTS, *key)
    if endpoints is None or endpoints.metadata.deleting:
        return Decision()
    owned = view.owned(ENDPOINT_SLICE, endpoints)
    slices = tuple(found for found in owned if found.metadata.labels.get(MANAGED_BY) == MANAGER)
    service = view.get(SERVICE, *key)
    if service is None or service.spec.selector or not _is_mirrored(endpoints):
        return Decision(release=tuple(Delete(ENDPOINT_SLICE, key_of(each)) for each in slices))
    groups, skipped = _groups(endpoints)
    decision = _decide(endpoints, slices, {_name(endpoints, group): group for group in groups})
    if not skipped or decision.empty:
        return decision
    message = (
        f"A max of {MAX_ADDRESSES} addresses can be mirrored to EndpointSlices per Endpoints subset. "
        f"{skipped} addresses were skipped"
    )
    return decision._replace(events=(Event(ENDPOINTS, key, "Warning", "TooManyAddressesToMirror", message),))


def _is_mirrored(endpoints: Endpoints) -> bool:
    metadata = endpoints.metadata
    return metadata.labels.get(SKIP) != "true" and _LEADER not in metadata.annotations


def _groups(endpoints: Endpoints) -> tuple[list[_Group], int]:
    """The slices that there should be, and how many addresses are left out of them."""
    groups: dict[tuple[str, str], _Group] = {}
    skipped = 0
    for subset in endpoints.subsets:
        offered = [_port(each) for each in subset.get("ports") or ()]
        found = list(_endpoints(subset))
        skipped += max(0, len(found) - MAX_ADDRESSES)
        for family, address, endpoint in found[:MAX_ADDRESSES]:
            group = groups.setdefault((str(offered), family), _Group(family, offered, {}))
            known = group.endpoints.setdefault(address, endpoint)
            if not endpoint["conditions"]["ready"]:
                known["conditions"] = {"ready": False}
    return list(groups.values()), skipped


def _port(port: Object) -> Object:
    made = {"name": port.get("name") or "", "port": port["port"], "protocol": port.get("protocol") or "TCP"}
    return made | ({"appProtocol": port["appProtocol"]} if port.get("appProtocol") else {})


def _endpoints(subset: Object) -> Iterator[tuple[str, str, Object]]:
    for field, ready in (("addresses", True), ("notReadyAddresses", False)):
        for address in subset.get(field) or ():
            parsed = ip_address(address["ip"])
            endpoint: Object = {"addresses": [str(parsed)], "conditions": {"ready": ready}}
            if address.get("hostname"):
                endpoint["hostname"] = address["hostname"]
            if address.get("nodeName"):
                endpoint["nodeName"] = address["nodeName"]
            if address.get("targetRef"):
                endpoint["targetRef"] = address["targetRef"]
            yield f"IPv{parsed.version}", str(parsed), endpoint


def _name(endpoints: Endpoints, group: _Group) -> str:
    suffix = child_suffix(f"{endpoints.metadata.uid}/{group.family}/{group.ports}", 0)
    return f"{endpoints.metadata.name}-{suffix}"


def _decide(endpoints: Endpoints, slices: tuple[EndpointSlice, ...], wanted: dict[str, _Group]) -> Decision:
    metadata = endpoints.metadata
    labels = {**metadata.labels, SERVICE_NAME: metadata.name, MANAGED_BY: MANAGER}
    notes = {name: text for name, text in metadata.annotations.items() if name not in _OWN_NOTES}
    owner = controller_reference(ENDPOINTS, endpoints)
    head = {
        "namespace": metadata.namespace,
        "generateName": f"{metadata.name}-",
        "labels": labels,
        "annotations": notes,
    }
    found = compare(wanted, {each.metadata.name: each for each in slices})
    made = [
        Create(ENDPOINT_SLICE, {"metadata": {**head, "name": name, "ownerReferences": [owner]}, **_body(group)})
        for name, group in found.missing.items()
    ]
    changed = [
        Patch(ENDPOINT_SLICE, key_of(known), patch)
        for known, group in found.kept.values()
        if (patch := _change(known, _body(group), labels, notes))
    ]
    gone = [Delete(ENDPOINT_SLICE, key_of(each)) for each in found.surplus]
    return Decision(intent=tuple(made), children=tuple(changed), release=tuple(gone))


def _body(group: _Group) -> Object:
    return {"addressType": group.family, "endpoints": list(group.endpoints.values()), "ports": group.ports}


def _change(known: EndpointSlice, wanted: Object, labels: dict[str, str], notes: dict[str, str]) -> Object:
    patch: dict[str, Any] = {}
    metadata = {
        "labels": changed_map(known.metadata.labels, labels),
        "annotations": changed_map(known.metadata.annotations, notes),
    }
    if any(metadata.values()):
        patch["metadata"] = {field: change for field, change in metadata.items() if change}
    if list(known.endpoints or ()) != wanted["endpoints"]:
        patch["endpoints"] = wanted["endpoints"]
    return patch


CONTROLLER: Final = Controller(
    "endpointslice-mirroring",
    reconcile,
    of=ENDPOINTS,
    reads=(SERVICE, ENDPOINT_SLICE),
    writes={ENDPOINT_SLICE: ("create", "patch", "delete"), ENDPOINTS: ("finalizers",)},
)
