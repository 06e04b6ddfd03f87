"""The agent's reads and writes of the API: its ByoHost, its status, and the Secrets that a claim names."""

from __future__ import annotations

import asyncio
import base64
import logging
import random
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from itertools import count
from typing import Final

from mooring.agents.host.conditions import dated_conditions
from mooring.agents.host.detection.hardware import Hardware
from mooring.agents.host.detection.network import find_network
from mooring.agents.host.host_informer import HostInformer, typed_host
from mooring.agents.host.progress import ClaimRecord
from mooring.agents.host.registration import HOST_KIND, creation, description, release, status_update
from mooring.agents.host.settings import AgentSettings
from mooring.client.backoff import Backoff
from mooring.client.transport import AsyncTransport, UnknownOutcome, Unreachable
from mooring.features.hosts.api.hosts import ByoHost
from mooring.features.hosts.api.names import API_VERSION, UNREGISTERING
from mooring.features.hosts.api.references import Reference
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.status import AlreadyExistsError, ApiError, ConflictError, NotFoundError
from mooring.kube.times import timestamp

__all__ = ["HostClient", "SecretUnavailable"]

SECRET_SECONDS: Final = 10.0
QUIET_ATTEMPTS: Final = 4
_log = logging.getLogger("mooring.agent")
_FAILURES = (ApiError, Unreachable, UnknownOutcome)


class SecretUnavailable(MooringError):
    """A Secret that a claim names cannot be read, or lacks a key; the sentence is for a condition."""


class HostClient:
    """One write of the status at a time: a heartbeat that was under way must not bring back what a release took."""

    def __init__(
        self,
        settings: AgentSettings,
        transport: AsyncTransport,
        informer: HostInformer,
        clock: Callable[[], datetime],
    ) -> None:
        self._settings, self._transport, self._informer, self._clock = settings, transport, informer, clock
        self._writing = asyncio.Lock()
        self.last_heartbeat: datetime | None = None

    async def register(self, hardware: Hardware) -> None:
        """Create the ByoHost where it is missing and describe the machine in it; tried until it is done."""
        delay, told = Backoff(random.Random(), longest=15.0), ""
        # The rights to a new host follow it within a moment, so the first refusals are not worth a warning.
        for attempt in count(1):
            try:
                with suppress(AlreadyExistsError):
                    await self._transport.write(creation(self._settings))
                self._informer.observe(await self._transport.write(description(self._settings, hardware)))
                return
            except _FAILURES as error:
                if str(error) != told and attempt > QUIET_ATTEMPTS:
                    _log.warning("host %s cannot be registered yet: %s", self._settings.name, error)
                    told = str(error)
                await asyncio.sleep(delay.next())

    async def tell(self, host: ByoHost, hardware: Hardware, wanted: list[Object]) -> bool:
        """Write the status with these conditions and a heartbeat; whether that went well."""
        async with self._writing:
            now = self._clock()
            dated = dated_conditions(host, wanted, timestamp(now))
            network = find_network((self._settings.root.bridge,))
            try:
                request = status_update(self._settings, hardware, network, dated, now)
                self._informer.observe(await self._transport.write(request))
            except _FAILURES as error:
                _log.warning("the status of host %s cannot be written: %s", self._settings.name, error)
                return False
            self.last_heartbeat = now
            return True

    async def release(self, claim: ClaimRecord | None) -> None:
        """Free the host; tried until that is on record. One that another claim has by now is left to it."""
        delay = Backoff(random.Random(), longest=15.0)
        async with self._writing:
            while True:
                try:
                    found = await self._transport.get(
                        API_VERSION, HOST_KIND, self._settings.namespace, self._settings.name
                    )
                    if _is_anothers(typed_host(found), claim):
                        return
                    self._informer.observe(await self._transport.write(release(self._settings, found, self._clock())))
                    return
                except NotFoundError:
                    return
                except ConflictError:
                    # Decided anew, at once.
                    pass
                except _FAILURES as error:
                    _log.warning("host %s is clean, but cannot be released: %s", self._settings.name, error)
                    await asyncio.sleep(delay.next())

    async def secret(self, reference: Reference, key: str) -> bytes:
        """What a Secret has under a key."""
        namespace = reference.namespace or self._settings.namespace
        where = f"Secret {namespace}/{reference.name}"
        found = await self._read_secret(namespace, reference.name, where)
        value = (found.get("data") or {}).get(key)
        if not value:
            raise SecretUnavailable(f'{where} has no key "{key}"')
        return base64.b64decode(value)

    async def _read_secret(self, namespace: str, name: str, where: str) -> Object:
        """The right to read a Secret comes a moment after the claim that names it: no refusal is believed at once."""
        delay, deadline = Backoff(random.Random(), longest=1.0), asyncio.get_running_loop().time() + SECRET_SECONDS
        while True:
            try:
                return await self._transport.get("v1", "Secret", namespace, name)
            except _FAILURES as error:
                if asyncio.get_running_loop().time() > deadline:
                    raise SecretUnavailable(f"{where} cannot be read: {error}") from None
            await asyncio.sleep(delay.next())


def _is_anothers(host: ByoHost, claim: ClaimRecord | None) -> bool:
    reference = host.status.machine_ref
    if reference is None or UNREGISTERING in host.metadata.annotations:
        return False
    return claim is None or claim.uid != reference.uid
