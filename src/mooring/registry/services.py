"""Addresses and ports for Services: the server hands them out at creation and keeps them for the object's life.

The lowest free one is taken, where a real server picks at random: the same requests then give the same cluster.
"""

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Any, Final

from mooring.kube.errors import invalid
from mooring.kube.status import InternalError, InvalidError
from mooring.registry.admission import AdmissionRequest, ClusterView

__all__ = ["allocate_addresses"]

Object = dict[str, Any]

_RANGE: Final = IPv4Network("10.96.0.0/12")
# The lowest ones are for services that ask for an address by name: the API server itself, the cluster's DNS.
_RESERVED: Final = 256
_NODE_PORTS: Final = range(30000, 32768)
_ON_NODES: Final = ("NodePort", "LoadBalancer")


def allocate_addresses(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """Complete a Service with its cluster address and node ports; those it had before stay."""
    service = request.object
    if service is None or request.resource.store != "services" or request.subresource:
        return None
    spec = service["spec"]
    if spec["type"] == "ExternalName":
        return None
    was = (request.old_object or {}).get("spec", {})
    others = [
        each["spec"]
        for each in view.all("v1", "Service")
        if (each["metadata"]["namespace"], each["metadata"]["name"]) != (request.namespace, request.name)
    ]
    address = _address(request, spec, was, others)
    made = {**spec, "clusterIP": address, "clusterIPs": [address]}
    made.setdefault("ipFamilies", was.get("ipFamilies", ["IPv4"]))
    made.setdefault("ipFamilyPolicy", was.get("ipFamilyPolicy", "SingleStack"))
    if spec["type"] in _ON_NODES:
        made["ports"] = _ports(request, spec.get("ports", []), was.get("ports", []), others)
    return None if made == spec else {**service, "spec": made}


def _address(request: AdmissionRequest, spec: Object, was: Object, others: list[Object]) -> str:
    wanted: str = spec.get("clusterIP") or was.get("clusterIP") or ""
    taken = {each.get("clusterIP") for each in others}
    if not wanted:
        return next(_free_addresses(taken))
    if wanted != "None" and wanted in taken:
        why = f"failed to allocate IP {wanted}: provided IP is already allocated"
        raise _refusal(request, "spec.clusterIPs", [wanted], why)
    return wanted


def _free_addresses(taken: set[str | None]) -> Iterator[str]:
    for index in range(_RESERVED, _RANGE.num_addresses - 1):
        text = str(_RANGE[index])
        if text not in taken:
            yield text
    raise InternalError.of("failed to allocate a service IP: range is full")


def _ports(request: AdmissionRequest, ports: list[Object], before: list[Object], others: list[Object]) -> list[Object]:
    taken = {port.get("nodePort") for each in others for port in each.get("ports", ())}
    had = {(port.get("name", ""), port.get("protocol"), port.get("port")): port.get("nodePort") for port in before}
    made = []
    for index, port in enumerate(ports):
        wanted = port.get("nodePort") or had.get((port.get("name", ""), port.get("protocol"), port.get("port")))
        if wanted and wanted in taken:
            raise _refusal(request, f"spec.ports[{index}].nodePort", wanted, "provided port is already allocated")
        if wanted and wanted not in _NODE_PORTS:
            why = "provided port is not in the valid range. The range of valid ports is 30000-32767"
            raise _refusal(request, f"spec.ports[{index}].nodePort", wanted, why)
        chosen = wanted or next((each for each in _NODE_PORTS if each not in taken), None)
        if chosen is None:
            raise InternalError.of("failed to allocate a nodePort: range is full")
        taken.add(chosen)
        made.append({**port, "nodePort": chosen})
    return made


def _refusal(request: AdmissionRequest, path: str, value: Any, why: str) -> InvalidError:
    return InvalidError(request.resource.kind, request.resource.group, request.name, [invalid(path, value, why)])
