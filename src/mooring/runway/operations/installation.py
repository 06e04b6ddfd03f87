"""Asks a cluster to install, roll back, cancel or uninstall what a provider needs, and reads how far it is.

A request is a change of the provider's Installation; Mooring's controllers there carry it out, with the rights of who
changed it. Where nobody serves the kind, the answer is what to type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

import msgspec

from mooring.client.rest_mapper import RestMapping
from mooring.client.transport import AsyncTransport, Request
from mooring.features.installation.api.chart import HelmChart
from mooring.features.installation.api.installation import ChartRepository
from mooring.features.installation.api.names import API_VERSION
from mooring.features.installation.helm.commands import by_hand
from mooring.kube.errors import InputError
from mooring.kube.objects import Object
from mooring.kube.status import NotFoundError

__all__ = [
    "ENDED",
    "cancel",
    "commands_by_hand",
    "find_installation",
    "install",
    "installations",
    "roll_back",
    "uninstall",
]

KIND: Final = "Installation"
_MANAGER: Final = "mooring-install"
# Phases in which nothing happens by itself any more.
ENDED: Final = ("Installed", "Failed", "Cancelled")


class InstallationTransport(AsyncTransport, Protocol):
    async def mapping(self, api_version: str, kind: str) -> RestMapping:
        """The RestMapping of a kind; NotFoundError if the server does not serve it."""
        ...


async def install(transport: InstallationTransport, wanted: Object) -> Object:
    """Have what an Installation says installed. One that is there is changed; one that failed is tried again."""
    await _served(transport, wanted)
    found = await find_installation(transport, wanted["metadata"]["name"])
    if found is None:
        return await transport.write(_request("create", wanted["metadata"]["name"], wanted))
    spec: dict[str, Any] = {**wanted["spec"], "suspend": None, "rollbackTo": None}
    if _is_over(found) and _says(found["spec"], spec):
        spec["attempt"] = int(found["spec"].get("attempt", 1)) + 1
    return await _changed(transport, found, spec)


async def roll_back(transport: InstallationTransport, name: str, revision: int) -> Object:
    found = await _required(transport, name)
    spec: dict[str, Any] = {"rollbackTo": revision, "suspend": None}
    if _is_over(found) and _says(found["spec"], spec):
        spec["attempt"] = int(found["spec"].get("attempt", 1)) + 1
    return await _changed(transport, found, spec)


async def cancel(transport: InstallationTransport, name: str) -> Object:
    return await _changed(transport, await _required(transport, name), {"suspend": True})


async def uninstall(transport: InstallationTransport, name: str) -> Object:
    found = await _required(transport, name)
    return await transport.write(_request("delete", name, {}, uid=found["metadata"]["uid"]))


async def find_installation(transport: InstallationTransport, name: str) -> Object | None:
    try:
        return await transport.get(API_VERSION, KIND, "", name)
    except NotFoundError:
        return None


async def installations(transport: InstallationTransport) -> list[Object]:
    """All of them; none where nobody serves the kind."""
    try:
        pages = [page async for page in transport.list(API_VERSION, KIND)]
    except NotFoundError:
        return []
    found: list[Object] = [_plain(item) for page in pages for item in page.items]
    return sorted(found, key=lambda each: str(each["metadata"]["name"]))


def commands_by_hand(wanted: Object) -> tuple[str, ...]:
    """What a person types to have the same without Mooring."""
    spec = wanted["spec"]
    repository = msgspec.convert(spec["repository"], ChartRepository)
    return by_hand(repository, msgspec.convert(spec["charts"], list[HelmChart]))


async def _served(transport: InstallationTransport, wanted: Object) -> None:
    try:
        await transport.mapping(API_VERSION, KIND)
    except NotFoundError:
        typed = "; ".join(commands_by_hand(wanted))
        text = f"no Mooring runs in this cluster that could install {wanted['metadata']['name']}; type: {typed}"
        raise InputError(text) from None


async def _required(transport: InstallationTransport, name: str) -> Object:
    found = await find_installation(transport, name)
    if found is None:
        raise InputError(f"there is no Installation {name}; mooring installations lists those there are")
    return found


async def _changed(transport: InstallationTransport, found: Object, spec: Mapping[str, Any]) -> Object:
    """Write a spec, unless it says nothing new."""
    if _says(found["spec"], spec):
        return found
    version = found["metadata"]["resourceVersion"]
    request = _request("patch", found["metadata"]["name"], {"spec": dict(spec)})
    return await transport.write(request._replace(resource_version=version))


def _says(found: Object, spec: Mapping[str, Any]) -> bool:
    """Whether a spec has these fields. One that is to be absent is so too where it has its default."""
    return all(found.get(name) == value or (value is None and not found.get(name)) for name, value in spec.items())


def _is_over(found: Object) -> bool:
    return (found.get("status") or {}).get("phase") in ("Failed", "Cancelled")


def _request(verb: Any, name: str, body: Object, uid: str | None = None) -> Request:
    return Request(verb, API_VERSION, KIND, "", name, body, manager=_MANAGER, uid=uid)


def _plain(item: Any) -> Object:
    found: Object = msgspec.json.decode(item) if isinstance(item, msgspec.Raw) else item
    return found
