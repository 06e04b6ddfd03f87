"""Where a webhook is: from its clientConfig to an address. A Service is looked up in what is stored about it.

Nothing routes service addresses on the machine of an embedded server, so a Service leads to one of its ready endpoints,
as it does for API servers outside a cluster's network.
"""

import random
from functools import lru_cache
from posixpath import normpath
from typing import NamedTuple
from urllib.parse import urlsplit

from mooring.kube.errors import MooringError, go_quote
from mooring.kube.objects import Object
from mooring.registry import Registry

__all__ = ["Unresolved", "WebhookAddress", "find_address", "service_endpoint", "url_of"]


class Unresolved(MooringError):
    """An address that leads nowhere: a Service without endpoints at this moment, or a port that there is not."""


class WebhookAddress(NamedTuple):
    """An address, the name that its certificate must be for, and the authority that must have signed it.

    An empty `authority` stands for those that the system trusts.
    """

    host: str
    port: int
    name: str
    path: str
    authority: str


def url_of(client: Object) -> str:
    """Where a webhook is, as people are told."""
    service = client.get("service")
    if service is None:
        url: str = client.get("url") or ""
        return url if urlsplit(url).path else f"{url}/"
    host = f"{service['name']}.{service['namespace']}.svc:{service.get('port') or 443}"
    return f"https://{host}{service.get('path') or '/'}"


def find_address(registry: Registry, client: Object) -> WebhookAddress:
    """Where a webhook is at this moment; Unresolved if that is nowhere."""
    authority = (client.get("caBundle") or "").strip()
    service = client.get("service")
    if service is None:
        return _target(client.get("url") or "", authority)
    namespace, name = service["namespace"], service["name"]
    host, port = service_endpoint(registry, namespace, name, service.get("port") or 443)
    return WebhookAddress(host, port, f"{name}.{namespace}.svc", _clean(service.get("path") or ""), authority)


@lru_cache(maxsize=256)
def _target(url: str, authority: str) -> WebhookAddress:
    parts = urlsplit(url)
    try:
        port = 443 if parts.port is None else parts.port
    except ValueError:
        raise Unresolved(f"dial tcp: address {parts.netloc.rpartition(':')[2]}: invalid port") from None
    return WebhookAddress(parts.hostname or "", port, parts.hostname or "", _clean(parts.path), authority)


def _clean(path: str) -> str:
    """A path as the real server requests it: without empty parts, dots, and a slash at the end."""
    return f"/{normpath(f'/{path}').lstrip('/')}"


def service_endpoint(registry: Registry, namespace: str, name: str, port: int) -> tuple[str, int]:
    """Where a port of a Service leads at this moment; Unresolved if nowhere."""
    service = registry.find("v1", "Service", namespace, name)
    if service is None:
        raise Unresolved(f"service {go_quote(name)} not found")
    kind = service["spec"].get("type", "ClusterIP")
    if kind == "ExternalName":
        raise Unresolved(f"unsupported service type {go_quote(kind)}")
    wanted = next((each for each in service["spec"].get("ports") or () if each["port"] == port), None)
    if wanted is None:
        raise Unresolved(f"no service port {port} found for service {go_quote(name)}")
    found = [*_from_slices(registry, namespace, name, wanted), *_from_endpoints(registry, namespace, name, wanted)]
    if not found:
        raise Unresolved(f"no endpoints available for service {go_quote(name)}")
    return random.choice(found)


def _from_slices(registry: Registry, namespace: str, name: str, wanted: Object) -> list[tuple[str, int]]:
    return [
        (endpoint["addresses"][0], port)
        for each in registry.all("discovery.k8s.io/v1", "EndpointSlice", namespace)
        if (each["metadata"].get("labels") or {}).get("kubernetes.io/service-name") == name
        for port in _named(each.get("ports"), wanted)
        for endpoint in each.get("endpoints") or ()
        if (endpoint.get("conditions") or {}).get("ready") is not False and endpoint.get("addresses")
    ]


def _from_endpoints(registry: Registry, namespace: str, name: str, wanted: Object) -> list[tuple[str, int]]:
    endpoints = registry.find("v1", "Endpoints", namespace, name)
    return [
        (address["ip"], port)
        for subset in (endpoints or {}).get("subsets") or ()
        for port in _named(subset.get("ports"), wanted)
        for address in subset.get("addresses") or ()
    ]


def _named(ports: list[Object] | None, wanted: Object) -> list[int]:
    name = wanted.get("name") or ""
    return [each["port"] for each in ports or () if (each.get("name") or "") == name and each.get("port")]
