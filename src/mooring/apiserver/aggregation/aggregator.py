"""The aggregator: requests for groups of other servers are passed on to them, with the user who sent them."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from mooring.apiserver.aggregation.api_services import GroupVersion, RemoteApis
from mooring.apiserver.aggregation.availability import Availability, ServerCondition
from mooring.apiserver.aggregation.connections import RemoteServers, header_mapping
from mooring.apiserver.group_commit import GroupCommit
from mooring.apiserver.messages.request import HttpRequest
from mooring.apiserver.nodes.proxies import ProxiedExchange, passed_headers
from mooring.apiserver.nodes.relay import relay
from mooring.apiserver.nodes.upgrades import pass_upgrade
from mooring.apiserver.routing import RequestInfo
from mooring.kube.objects import Object
from mooring.net.asgi import Send
from mooring.net.certificates import Certificates
from mooring.net.client_connection import request_bytes
from mooring.registry import Registry

__all__ = ["Aggregator"]

_UNKNOWN: Final = ServerCondition("Unknown", "", "")


class Aggregator:
    def __init__(
        self,
        registry: Registry,
        group_commit: GroupCommit,
        clock: Callable[[], datetime],
        files: Certificates | None,
    ) -> None:
        self._apis = RemoteApis(registry)
        self._servers = RemoteServers(registry, files)
        self._availability = Availability(registry, self._apis, self._servers, group_commit, clock)
        self.run, self.check = self._availability.run, self._availability.round

    def close(self) -> None:
        self._apis.close()

    @property
    def remote(self) -> Mapping[GroupVersion, ServerCondition]:
        """What other servers answer for, and what is known of them."""
        return {of: self._availability.known.get(of, _UNKNOWN) for of in self._apis.all}

    def of(self, target: RequestInfo) -> Object | None:
        """The APIService whose server answers a request; None where this one does."""
        if target.version:
            return self._apis.of(target.group, target.version)
        match target.root, target.rest:
            case "openapi", ("v3", "apis", group, version):
                return self._apis.of(group, version)
        return None

    async def serve(self, request: HttpRequest, service: Object, send: Send) -> int:
        """The status of the answer. Raises what is wrong as long as nothing has been sent."""
        where = self._servers.resolve(service)
        query = f"?{request.query_string}" if request.query_string else ""
        path = f"{request.raw_path}{query}"
        headers = header_mapping({**passed_headers(request), "host": where.authority}, request.user)
        if request.upgrade is not None:
            headers |= {"connection": "Upgrade", "upgrade": request.header(b"upgrade")}
            return await pass_upgrade(request, send, where, request_bytes(request.method, path, headers))
        body = await request.body()
        data = request_bytes(request.method, path, {**headers, "connection": "close"}, body)
        exchange = ProxiedExchange(request, where, data)
        await relay(request, exchange.answer(), exchange.head, send)
        return exchange.status
