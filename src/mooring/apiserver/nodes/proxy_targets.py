"""Where the proxies of pods, services and nodes lead: from a name in a path to an address, or to why there is none."""

import ipaddress
import random
import ssl
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple

from mooring.apiserver.calls import Call
from mooring.apiserver.nodes.kubelets import Kubelets, is_simulated
from mooring.kube.errors import go_quote
from mooring.kube.objects import Object
from mooring.kube.status import BadRequestError, NotFoundError, ServiceUnavailableError
from mooring.net.destination import Destination
from mooring.net.tls import client_context
from mooring.registry import Registry

__all__ = ["ProxyTarget", "SchemeNamePort", "node_target", "pod_target", "service_target", "split_name"]

_SCHEMES: Final = frozenset({"", "http", "https"})
_DEFAULT_PORTS: Final = {"https": 443}


class ProxyTarget(NamedTuple):
    destination: Destination
    credentials: Mapping[str, str] = {}


class SchemeNamePort(NamedTuple):
    scheme: str
    name: str
    port: str


def split_name(given: str) -> SchemeNamePort | None:
    """`NAME`, `NAME:PORT` or `SCHEME:NAME:PORT`; None for what is none of them."""
    parts = given.split(":")
    if len(parts) > 3:
        return None
    scheme, name, port = parts if len(parts) == 3 else ("", parts[0], "".join(parts[1:]))
    return SchemeNamePort(scheme, name, port) if name and scheme in _SCHEMES else None


def pod_target(registry: Registry, kubelets: Kubelets, call: Call) -> ProxyTarget:
    asked = _split(call, "pod")
    pod = registry.get(call.resource, call.namespace, asked.name)
    ports = [port["containerPort"] for each in pod["spec"]["containers"] for port in each.get("ports") or ()]
    port = asked.port or next(iter(ports), _DEFAULT_PORTS.get(asked.scheme, 80))
    node = _node(kubelets, pod)
    if node is not None and is_simulated(node):
        name = pod["spec"]["nodeName"]
        raise ServiceUnavailableError(
            f"pod {asked.name} cannot be reached: node {name} is simulated, and nothing is really run there"
        )
    address = (pod.get("status") or {}).get("podIP") or ""
    if not _is_allowed(address, node):
        raise BadRequestError("address not allowed")
    return _target(asked.scheme, address, port)


def service_target(registry: Registry, kubelets: Kubelets, call: Call) -> ProxyTarget:
    asked = _split(call, "service")
    port = asked.port
    if port.isdecimal():
        service = registry.get(call.resource, call.namespace, asked.name)
        named = [each for each in service["spec"].get("ports") or () if each["port"] == int(port)]
        if not named:
            raise ServiceUnavailableError(f"no service port {port} found for service {go_quote(asked.name)}")
        port = named[0].get("name") or ""
    endpoints = registry.get(registry.resource("v1", "Endpoints"), call.namespace, asked.name)
    found = list(_addresses(registry, call.namespace, endpoints, port))
    random.shuffle(found)
    simulated = False
    for address, number, pod in found:
        node = _node(kubelets, pod)
        if node is not None and is_simulated(node):
            simulated = True
        elif _is_allowed(address, node):
            return _target(asked.scheme, address, number)
    if simulated:
        raise ServiceUnavailableError(
            f"service {asked.name} cannot be reached: its pods are on simulated nodes, and nothing is really run there"
        )
    raise ServiceUnavailableError(f"no endpoints available for service {go_quote(call.target.name)}")


def node_target(registry: Registry, kubelets: Kubelets, call: Call) -> ProxyTarget:
    """Only the port of the kubelet: other ports of a machine are none of the cluster's business."""
    asked = _split(call, "node")
    registry.get(call.resource, "", asked.name)
    simulated = f"node {asked.name} cannot be reached: it is simulated, and nothing answers there"
    kubelet = kubelets.of(asked.name, simulated, ServiceUnavailableError)
    if asked.port not in ("", str(kubelet.port)):
        raise BadRequestError(
            f"address not allowed: the kubelet of node {asked.name} answers at port {kubelet.port} only"
        )
    return ProxyTarget(kubelet, kubelets.credentials(kubelet))


def _split(call: Call, kind: str) -> SchemeNamePort:
    asked = split_name(call.target.name)
    if asked is None:
        raise BadRequestError(f"invalid {kind} request {go_quote(call.target.name)}")
    return asked


def _addresses(registry: Registry, namespace: str, endpoints: Object, port: str) -> Iterator[tuple[str, int, Object]]:
    """The addresses of a service's pods that have this port, by its name; only those that are really a pod's."""
    pods = registry.resource("v1", "Pod")
    for subset in endpoints.get("subsets") or ():
        numbers = [each["port"] for each in subset.get("ports") or () if (each.get("name") or "") == port]
        for address in subset.get("addresses") or () if numbers else ():
            reference = address.get("targetRef") or {}
            if reference.get("kind") != "Pod" or reference.get("namespace") != namespace:
                continue
            try:
                pod = registry.get(pods, namespace, reference["name"])
            except NotFoundError:
                continue
            if address["ip"] in [each.get("ip") for each in (pod.get("status") or {}).get("podIPs") or ()]:
                yield address["ip"], numbers[0], pod


def _node(kubelets: Kubelets, pod: Object) -> Object | None:
    name = pod["spec"].get("nodeName")
    return kubelets.node(name) if name else None


def _is_allowed(address: str, node: Object | None) -> bool:
    """Whether this server may be made to talk to an address that a pod's status has.

    This machine's own loopback address is a pod's only on a node that says so of itself.
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    own = [each.get("address") for each in ((node or {}).get("status") or {}).get("addresses") or ()]
    if parsed.is_loopback:
        return address in own
    return not (parsed.is_unspecified or parsed.is_multicast or parsed.is_link_local or address == "255.255.255.255")


def _target(scheme: str, address: str, port: int | str) -> ProxyTarget:
    text = str(port)
    if not (text.isdecimal() and 0 < int(text) < 1 << 16):
        raise ServiceUnavailableError(f"error trying to reach service: dial tcp: lookup tcp/{text}: unknown port")
    return ProxyTarget(Destination(address, int(text), _unverified() if scheme == "https" else None))


@cache
def _unverified() -> ssl.SSLContext:
    """Pods have certificates of their own making; kube-apiserver does not verify them either."""
    return client_context(authority=None, insecure=True)
