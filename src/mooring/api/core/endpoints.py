"""Endpoints and EndpointSlices: what the API server adds to them, and what it says about them, in its order."""

from typing import Final

from mooring.api.core.addresses import check_canonical_ip, check_endpoint_ip, check_ip, family_of
from mooring.api.core.pod_templates import check_immutable
from mooring.api.core.validation.meta import check_dns_label, check_label_key, check_labels, check_texts
from mooring.kube.domains import check_full_domain
from mooring.kube.errors import Enum, FieldError, duplicate, invalid, not_supported, required, too_many
from mooring.kube.names import is_dns1123_subdomain, is_label_value, is_port_number
from mooring.kube.objects import Object

__all__ = [
    "default_endpoints",
    "default_slice",
    "prepare_slice",
    "prepare_slice_update",
    "validate_endpoints",
    "validate_slice",
    "validate_slice_update",
]

Errors = list[FieldError]

_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_ADDRESS_TYPES: Final = ("FQDN", "IPv4", "IPv6")
_CHECKS: Final = {"IPv4": check_ip, "IPv6": check_canonical_ip}
_MAX_ADDRESSES: Final = 100
_MAX_PORTS: Final = 20_000
_MAX_ENDPOINTS: Final = 1000
_MAX_TOPOLOGY: Final = 16
_MAX_HINTS: Final = 8


# Endpoints


def default_endpoints(obj: Object) -> None:
    for subset in obj.get("subsets", ()):
        for port in subset.get("ports", ()):
            port["protocol"] = port.get("protocol") or "TCP"


def validate_endpoints(obj: Object) -> list[FieldError]:
    errors: Errors = []
    for index, subset in enumerate(obj.get("subsets", ())):
        path = f"subsets[{index}]"
        ports = subset.get("ports", ())
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            errors.append(required(path, "must specify `addresses` or `notReadyAddresses`"))
        for name in ("addresses", "notReadyAddresses"):
            for position, address in enumerate(subset.get(name, ())):
                _check_address(errors, address, f"{path}.{name}[{position}]")
        for position, port in enumerate(ports):
            _check_port(errors, port, len(ports) > 1, f"{path}.ports[{position}]")
    return errors


def _check_address(errors: Errors, address: Object, path: str) -> None:
    check_ip(errors, address["ip"], f"{path}.ip")
    if address.get("hostname"):
        check_dns_label(errors, address["hostname"], f"{path}.hostname")
    if "nodeName" in address:
        check_texts(errors, f"{path}.nodeName", address["nodeName"], is_dns1123_subdomain(address["nodeName"]))
    check_endpoint_ip(errors, address["ip"], f"{path}.ip")


def _check_port(errors: Errors, port: Object, named: bool, path: str) -> None:
    if port.get("name"):
        check_dns_label(errors, port["name"], f"{path}.name")
    elif named:
        errors.append(required(f"{path}.name", ""))
    errors += [invalid(f"{path}.port", port["port"], text) for text in is_port_number(port["port"])]
    if port["protocol"] not in _PROTOCOLS:
        errors.append(not_supported(f"{path}.protocol", Enum(port["protocol"]), _PROTOCOLS))
    if "appProtocol" in port:
        check_label_key(errors, port["appProtocol"], f"{path}.appProtocol")


# Slices


def default_slice(obj: Object) -> None:
    for port in obj["ports"] or ():
        port.setdefault("name", "")
        port.setdefault("protocol", "TCP")


def prepare_slice(obj: Object, now: str) -> None:
    """Empty lists are stored as nothing, and nothing in the field that was for topology before nodes and zones were."""
    for endpoint in obj["endpoints"] or ():
        endpoint.pop("deprecatedTopology", None)
    for name in ("endpoints", "ports"):
        obj[name] = obj[name] or None


def prepare_slice_update(new: Object, old: Object) -> None:
    prepare_slice(new, "")


def validate_slice(obj: Object) -> list[FieldError]:
    errors: Errors = []
    kind = obj["addressType"]
    if not kind:
        errors.append(required("addressType", ""))
    elif kind not in _ADDRESS_TYPES:
        errors.append(not_supported("addressType", Enum(kind), _ADDRESS_TYPES))
    _check_slice_ports(errors, obj["ports"] or ())
    endpoints = obj["endpoints"] or ()
    if len(endpoints) > _MAX_ENDPOINTS:
        return [*errors, too_many("endpoints", len(endpoints), _MAX_ENDPOINTS)]
    for index, endpoint in enumerate(endpoints):
        _check_endpoint(errors, endpoint, kind, f"endpoints[{index}]")
    return errors


def _check_slice_ports(errors: Errors, ports: list[Object] | tuple[()]) -> None:
    if len(ports) > _MAX_PORTS:
        errors.append(too_many("ports", len(ports), _MAX_PORTS))
        return
    names: set[str] = set()
    for index, port in enumerate(ports):
        path, name = f"ports[{index}]", port["name"]
        if name:
            check_dns_label(errors, name, f"{path}.name")
        if name in names:
            errors.append(duplicate(f"{path}.name", name))
        names.add(name)
        if port["protocol"] not in _PROTOCOLS:
            errors.append(not_supported(f"{path}.protocol", Enum(port["protocol"]), _PROTOCOLS))
        if "appProtocol" in port:
            check_label_key(errors, port["appProtocol"], f"{path}.appProtocol")


def _check_endpoint(errors: Errors, endpoint: Object, kind: str, path: str) -> None:
    addresses, here = endpoint["addresses"] or (), f"{path}.addresses"
    if not addresses:
        errors.append(required(here, "must contain at least 1 address"))
    elif len(addresses) > _MAX_ADDRESSES:
        errors.append(too_many(here, len(addresses), _MAX_ADDRESSES))
    for index, address in enumerate(addresses):
        if kind == "FQDN":
            check_full_domain(errors, address, f"{here}[{index}]")
        elif kind in _CHECKS and _CHECKS[kind](errors, address, f"{here}[{index}]"):
            if family_of(address) != kind:
                errors.append(invalid(here, address, f"must be an {kind} address"))
            check_endpoint_ip(errors, address, f"{here}[{index}]")
    if "nodeName" in endpoint:
        check_texts(errors, f"{path}.nodeName", endpoint["nodeName"], is_dns1123_subdomain(endpoint["nodeName"]))
    topology = endpoint.get("deprecatedTopology", {})
    if len(topology) > _MAX_TOPOLOGY:
        errors.append(too_many(f"{path}.deprecatedTopology", len(topology), _MAX_TOPOLOGY))
    check_labels(errors, topology, f"{path}.deprecatedTopology")
    if "hostname" in endpoint:
        check_dns_label(errors, endpoint["hostname"], f"{path}.hostname")
    for name, rule in (("forZones", is_label_value), ("forNodes", is_dns1123_subdomain)):
        hints = endpoint.get("hints", {}).get(name, ())
        if len(hints) > _MAX_HINTS:
            errors.append(too_many(f"{path}.hints.{name}", len(hints), _MAX_HINTS))
            return
        seen: set[str] = set()
        for index, hint in enumerate(hints):
            at = f"{path}.hints.{name}[{index}].name"
            if hint["name"] in seen:
                errors.append(duplicate(at, hint["name"]))
            seen.add(hint["name"])
            check_texts(errors, at, hint["name"], rule(hint["name"]))


def validate_slice_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    check_immutable(errors, Enum(new["addressType"]), old["addressType"], "addressType")
    return errors
