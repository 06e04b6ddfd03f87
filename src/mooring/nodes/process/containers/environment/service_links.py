"""The variables by which a container finds Services, the API before all, as the kubelet sets them.

Pods share this machine's network, so the API is where this machine reaches it, and not at its cluster IP, which nothing
here routes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from mooring.client.transport import AsyncTransport, Scope, plain
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object

__all__ = ["ApiAddress", "ServiceLister", "service_variables"]

_API: Final = "kubernetes"


class ApiAddress(NamedTuple):
    """Where the API is reached from this machine."""

    host: str
    port: int

    @classmethod
    def of(cls, url: str) -> ApiAddress:
        parts = urlsplit(url)
        return cls(parts.hostname or "", parts.port or 443)


class ServiceLister:
    """The Services of a namespace. While they cannot be read, those of last time, so that containers can restart."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport
        self._known: dict[str, list[Object]] = {}

    async def in_namespace(self, namespace: str) -> list[Object]:
        try:
            pages = [page async for page in self._transport.list("v1", "Service", Scope(namespace))]
        except MooringError:
            if namespace not in self._known:
                raise
        else:
            self._known[namespace] = [plain(item) for page in pages for item in page.items]
        return self._known[namespace]


def service_variables(pod: Object, services: Iterable[Object], api: ApiAddress) -> dict[str, str]:
    """The variables of the API, and unless the pod does without links, of the Services in its namespace."""
    found: dict[str, str] = {}
    if pod["spec"].get("enableServiceLinks", True):
        for service in services:
            address = service["spec"].get("clusterIP")
            if address not in (None, "", "None") and service["metadata"]["name"] != _API:
                found |= _variables(service["metadata"]["name"], address, service["spec"].get("ports") or ())
    return found | _variables(_API, api.host, ({"name": "https", "port": api.port, "protocol": "TCP"},))


def _variables(name: str, host: str, ports: Iterable[Object]) -> dict[str, str]:
    ports = list(ports)
    if not ports:
        return {}
    prefix, first = _constant(name), ports[0]
    found = {f"{prefix}_SERVICE_HOST": host, f"{prefix}_SERVICE_PORT": str(first["port"])}
    found |= {
        f"{prefix}_SERVICE_PORT_{_constant(each['name'])}": str(each["port"]) for each in ports if each.get("name")
    }
    found[f"{prefix}_PORT"] = _url(first, host)
    for each in ports:
        protocol = each.get("protocol") or "TCP"
        link = f"{prefix}_PORT_{each['port']}_{protocol.upper()}"
        found |= {
            link: _url(each, host),
            f"{link}_PROTO": protocol.lower(),
            f"{link}_PORT": str(each["port"]),
            f"{link}_ADDR": host,
        }
    return found


def _constant(name: str) -> str:
    return name.upper().replace("-", "_")


def _url(port: Object, host: str) -> str:
    return f"{(port.get('protocol') or 'TCP').lower()}://{f'[{host}]' if ':' in host else host}:{port['port']}"
