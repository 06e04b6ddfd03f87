"""Brings the objects of a fleet into the cluster: what is missing is made, what is there is left as it is.

So a start never undoes what people changed with kubectl. What they deleted of a fleet that they named comes back; the
default fleet is for clusters that have no nodes at all, and for no others.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Final

import msgspec

from mooring.client.http import HttpTransport
from mooring.client.transport import Item, Request, UnknownOutcome, Unreachable
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.status import AlreadyExistsError, ApiError
from mooring.nodes.process.node_object import LABEL as PROCESS_LABEL
from mooring.nodes.stages.crd import stage_definition
from mooring.supervisor.fleet.manifest import DEFAULT_FLEET, in_namespace, read_fleet
from mooring.supervisor.fleet.news import FLEET_IS_IN, FLEET_IS_REFUSED
from mooring.supervisor.logs import tell_parent

__all__ = ["settle"]


MANAGER: Final = "mooring-fleet"
# These must be there before what follows them in a file.
_FIRST: Final = ("CustomResourceDefinition", "Namespace")
_RETRY_SECONDS: Final = 0.2

_log = logging.getLogger("mooring.up")


async def settle(transport: HttpTransport, fleet: str | None) -> None:
    """Bring the fleet in, for as long as it takes to reach the API, and say what came of it."""
    while True:
        try:
            tell_parent(FLEET_IS_IN, await _settle(transport, fleet))
            return
        except (Unreachable, UnknownOutcome) as error:
            _log.info("the fleet waits: %s", error)
            await asyncio.sleep(_RETRY_SECONDS)
        except MooringError as error:
            tell_parent(FLEET_IS_REFUSED, f"the fleet cannot be brought in: {error}")
            return


async def _settle(transport: HttpTransport, fleet: str | None) -> str:
    await _create(transport, stage_definition())
    known = await _known_nodes(transport)
    if fleet is None and known:
        return f"{_counted(len(known), 'node')} from before."
    name = "the default fleet" if fleet is None else fleet
    objects = read_fleet(DEFAULT_FLEET if fleet is None else Path(fleet)).objects
    first = [obj for obj in objects if obj["kind"] in _FIRST]
    made = [await _create(transport, obj) for obj in first]
    # A large fleet is mostly nodes, and at the next start they are there.
    others = (obj for obj in objects if obj["kind"] not in _FIRST)
    missing = [obj for obj in others if obj["kind"] != "Node" or obj["metadata"]["name"] not in known]
    made += await asyncio.gather(*(_create(transport, obj) for obj in missing))
    new = sum(map(bool, made))
    nodes = sum(obj["kind"] == "Node" for obj in objects)
    there = "" if new == len(objects) else f", {len(objects) - new} of {len(objects)} objects there already"
    what = _counted(nodes, "node") if nodes else _counted(len(objects), "object")
    return f"{what} of {name}{there}."


async def _create(transport: HttpTransport, obj: Object) -> bool:
    """Whether it was made; False when it was there, or was refused, which is said."""
    api_version, kind, name = obj["apiVersion"], obj["kind"], obj["metadata"]["name"]
    try:
        mapping = await transport.mapping(api_version, kind)
        body = in_namespace(obj) if mapping.namespaced else obj
        namespace = body["metadata"].get("namespace", "") if mapping.namespaced else ""
        await transport.write(Request("create", api_version, kind, namespace, name, body, manager=MANAGER))
    except AlreadyExistsError:
        return False
    except ApiError as error:
        _log.error("the fleet lacks %s %s: %s", kind, name, error)
        return False
    return True


async def _known_nodes(transport: HttpTransport) -> set[str]:
    """Nodes besides this machine, which is always there and not what people mean by a fleet."""
    pages = [page async for page in transport.list("v1", "Node")]
    found = (_metadata(item) for page in pages for item in page.items)
    return {each["name"] for each in found if PROCESS_LABEL not in (each.get("labels") or {})}


def _metadata(item: Item) -> Object:
    node = msgspec.json.decode(item) if isinstance(item, msgspec.Raw) else item
    metadata: Object = node["metadata"]
    return metadata


def _counted(count: int, word: str) -> str:
    return f"One {word}" if count == 1 else f"{count} {word}s"
