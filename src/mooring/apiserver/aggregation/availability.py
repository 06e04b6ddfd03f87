"""Whether the servers behind are there: each is asked for its discovery, and its APIService says what came of it.

What they answer is kept, because the discovery of this server names their resources too.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Final, NamedTuple

import msgspec

from mooring.apiserver.aggregation.api_services import KIND, GroupVersion, RemoteApis
from mooring.apiserver.aggregation.connections import RemoteServers, identity_headers
from mooring.apiserver.authentication.users import AUTHENTICATED, MASTERS, User
from mooring.apiserver.group_commit import GroupCommit
from mooring.apiserver.webhooks.endpoints import Unresolved
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.status import ApiError
from mooring.kube.times import timestamp
from mooring.net.client_connection import ConnectionCut, request_bytes
from mooring.net.destination import dial_failure
from mooring.registry import Registry

__all__ = ["Availability", "ServerCondition"]

_INTERVAL_SECONDS: Final = 5.0
_SECONDS: Final = 5.0
_MAX_BYTES: Final = 4 * 1024 * 1024
_ASKER: Final = User("system:kube-aggregator", (MASTERS, AUTHENTICATED))
_AVAILABLE: Final = "Available"

_log = logging.getLogger(__name__)


class ServerCondition(NamedTuple):
    """The condition of an APIService, and the resources that its server has."""

    status: str
    reason: str
    message: str
    resources: tuple[Object, ...] = ()


class Availability:
    """Call `round` now and then, or let `run` do it."""

    def __init__(
        self,
        registry: Registry,
        apis: RemoteApis,
        servers: RemoteServers,
        group_commit: GroupCommit,
        clock: Callable[[], datetime],
    ) -> None:
        self._registry = registry
        self._apis = apis
        self._servers = servers
        self._group_commit = group_commit
        self._clock = clock
        self.known: dict[GroupVersion, ServerCondition] = {}

    async def run(self) -> None:
        while True:
            try:
                if self._apis.all or self.known:
                    await self.round()
            except Exception as error:
                # No caller awaits this task, so its errors would be lost.
                _log.error("the check of APIServices failed: %s: %s", type(error).__name__, error)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._apis.changed.wait(), _INTERVAL_SECONDS)
            self._apis.changed.clear()

    async def round(self) -> None:
        asked = dict(self._apis.all)
        verdicts = await asyncio.gather(*(self._verdict(*each) for each in asked.items()))
        self.known = dict(zip(asked, verdicts, strict=True))
        for (of, service), verdict in zip(asked.items(), verdicts, strict=True):
            # It may have gone or changed while its server was asked.
            if self._apis.all.get(of) is service:
                self._tell(service, verdict)
        await self._group_commit.wait()

    async def _verdict(self, of: GroupVersion, service: Object) -> ServerCondition:
        reference = service["spec"]["service"]
        where = f'service/{reference["name"]} in "{reference["namespace"]}"'
        found = self._registry.find("v1", "Service", reference["namespace"], reference["name"])
        if found is None:
            return ServerCondition("False", "ServiceNotFound", f"{where} is not present")
        port = reference["port"]
        if all(each["port"] != port for each in found["spec"].get("ports") or ()):
            return ServerCondition("False", "ServicePortError", f"{where} is not listening on port {port}")
        try:
            resources = await self._discover(of, service)
        except Unresolved:
            return ServerCondition("False", "MissingEndpoints", f"endpointslices for {where} have no addresses")
        except (MooringError, TimeoutError) as error:
            why = str(error) or f"no answer in {_SECONDS:.0f} s"
            return ServerCondition(
                "False", "FailedDiscoveryCheck", f"failing or missing response from {of.path}: {why}"
            )
        return ServerCondition("True", "Passed", "all checks passed", resources)

    async def _discover(self, of: GroupVersion, service: Object) -> tuple[Object, ...]:
        """As the real server does, without a look at the certificate: nothing but names is learnt here."""
        where = self._servers.destination(service, verify=False)
        headers = {"host": where.authority, "accept": "application/json", "connection": "close"}
        data = request_bytes("GET", of.path, {**headers, **identity_headers(_ASKER)})
        async with asyncio.timeout(_SECONDS):
            try:
                connection = await where.dial(seconds=_SECONDS, most_bytes=_MAX_BYTES)
            except (OSError, ConnectionCut) as error:
                raise ApiError(dial_failure(error, where)) from None
            try:
                answer = await connection.ask(data, _SECONDS)
            finally:
                connection.close()
        if answer.status != 200:
            raise ApiError(f"bad status: {answer.status}")
        return _resources(answer.body)

    def _tell(self, service: Object, verdict: ServerCondition) -> None:
        conditions = service.get("status", {}).get("conditions", [])
        known: Object = next((each for each in conditions if each["type"] == _AVAILABLE), {})
        if (known.get("status"), known.get("reason"), known.get("message")) == verdict[:3]:
            return
        now = self._clock()
        changed = known.get("status") != verdict.status
        condition = {
            "type": _AVAILABLE,
            "status": verdict.status,
            "lastTransitionTime": timestamp(now) if changed else known["lastTransitionTime"],
            "reason": verdict.reason,
            "message": verdict.message,
        }
        body = {"status": {"conditions": [condition]}}
        resource, name = self._registry.resource(*KIND), service["metadata"]["name"]
        self._registry.patch(resource, "", name, "merge", body, now=now, subresource="status", manager="kube-apiserver")


def _resources(body: bytes) -> tuple[Object, ...]:
    try:
        found = msgspec.json.decode(body)
        return tuple(each for each in found["resources"] if each["name"] and each["kind"])
    except (msgspec.DecodeError, KeyError, TypeError):
        raise ApiError("its answer is no list of resources") from None
