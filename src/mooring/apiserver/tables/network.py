"""Rows of what makes pods reachable: services, their endpoints, ingresses and network policies."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from mooring.apiserver.tables.printing import (
    NONE,
    Cells,
    age,
    items,
    joined_labels,
    joined_selector,
    limited,
    name,
    part,
    printer,
)
from mooring.kube.objects import Object

__all__: list[str] = []

_SHOWN_ADDRESSES: Final = 3


@printer("v1", "Service", "Name, Type, Cluster-IP, External-IP, Port(s), Age, Selector+")
def _service(obj: Object, now: datetime) -> Cells:
    spec = part(obj, "spec")
    addresses = items(spec, "clusterIPs")
    return [
        name(obj),
        spec.get("type") or "",
        addresses[0] if addresses else NONE,
        _external(spec, part(obj, "status")),
        ",".join(_service_port(port) for port in items(spec, "ports")) or NONE,
        age(obj, now),
        joined_labels(part(spec, "selector")),
    ]


def _external(spec: Object, status: Object) -> str:
    kind, own = spec.get("type"), items(spec, "externalIPs")
    if kind in ("ClusterIP", "NodePort"):
        return ",".join(own) or NONE
    if kind == "LoadBalancer":
        return ",".join([*_balancers(status), *own]) or "<pending>"
    if kind == "ExternalName":
        return spec.get("externalName") or ""
    return "<unknown>"


def _balancers(status: Object) -> list[str]:
    found = items(part(status, "loadBalancer"), "ingress")
    return sorted({each.get("ip") or each.get("hostname") or "" for each in found} - {""})


def _service_port(port: Object) -> str:
    node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port')}{node_port}/{port.get('protocol') or ''}"


@printer("v1", "Endpoints", "Name, Endpoints, Age")
def _endpoints(obj: Object, now: datetime) -> Cells:
    subsets = items(obj, "subsets")
    shown = limited((each for subset in subsets for each in _subset(subset)), _SHOWN_ADDRESSES, "") if subsets else NONE
    return [name(obj), shown, age(obj, now)]


def _subset(subset: Object) -> Iterator[str]:
    addresses = [each.get("ip") or "" for each in items(subset, "addresses")]
    ports = items(subset, "ports")
    if not ports:
        yield from addresses
    for port in ports:
        for address in addresses:
            yield f"[{address}]:{port.get('port')}" if ":" in address else f"{address}:{port.get('port')}"


@printer("discovery.k8s.io/v1", "EndpointSlice", "Name, AddressType, Ports, Endpoints, Age")
def _endpoint_slice(obj: Object, now: datetime) -> Cells:
    addresses = (address for endpoint in items(obj, "endpoints") for address in items(endpoint, "addresses"))
    return [
        name(obj),
        obj.get("addressType") or "",
        limited((_slice_port(port) for port in items(obj, "ports")), _SHOWN_ADDRESSES, "<unset>"),
        limited(addresses, _SHOWN_ADDRESSES, "<unset>"),
        age(obj, now),
    ]


def _slice_port(port: Object) -> str:
    number = port.get("port")
    return str(number) if number is not None else str(port.get("name", "*"))


@printer("networking.k8s.io/v1", "Ingress", "Name, Class, Hosts, Address, Ports, Age")
def _ingress(obj: Object, now: datetime) -> Cells:
    spec = part(obj, "spec")
    class_name = spec.get("ingressClassName")
    return [
        name(obj),
        NONE if class_name is None else class_name,
        _hosts(items(spec, "rules")),
        ",".join(_balancers(part(obj, "status"))),
        "80, 443" if items(spec, "tls") else "80",
        age(obj, now),
    ]


def _hosts(rules: list[Any]) -> str:
    shown: list[str] = []
    more = False
    for rule in rules:
        more = more or len(shown) == _SHOWN_ADDRESSES
        if not more and rule.get("host"):
            shown.append(rule["host"])
    text = ",".join(shown) or "*"
    return f"{text} + {len(rules) - _SHOWN_ADDRESSES} more..." if more else text


@printer("networking.k8s.io/v1", "IngressClass", "Name, Controller, Parameters, Age")
def _ingress_class(obj: Object, now: datetime) -> Cells:
    spec = part(obj, "spec")
    return [name(obj), spec.get("controller") or "", _parameters(spec.get("parameters")), age(obj, now)]


def _parameters(found: Object | None) -> str:
    if found is None:
        return NONE
    group = f".{found['apiGroup']}" if found.get("apiGroup") is not None else ""
    return f"{found.get('kind')}{group}/{found.get('name')}"


@printer("networking.k8s.io/v1", "NetworkPolicy", "Name, Pod-Selector, Age")
def _network_policy(obj: Object, now: datetime) -> Cells:
    return [name(obj), joined_selector(part(obj, "spec", "podSelector")), age(obj, now)]


@printer("networking.k8s.io/v1", "ServiceCIDR", "Name, CIDRs, Age")
def _service_cidr(obj: Object, now: datetime) -> Cells:
    return [name(obj), ",".join(items(part(obj, "spec"), "cidrs")), age(obj, now)]


@printer("networking.k8s.io/v1", "IPAddress", "Name, ParentRef")
def _ip_address(obj: Object, now: datetime) -> Cells:
    # The age has no column, on a real server neither.
    return [name(obj), _parent(part(obj, "spec").get("parentRef")), age(obj, now)]


def _parent(found: Object | None) -> str:
    if found is None:
        return NONE
    resource = ".".join(filter(None, (found.get("resource"), found.get("group")))).lower()
    return "/".join(filter(None, (resource, found.get("namespace"), found.get("name"))))
