"""Makes one write of a proposal, with the rights of the transport's own credentials."""

from __future__ import annotations

from typing import Final, NamedTuple

from mooring.client.http import HttpTransport
from mooring.client.transport import Request
from mooring.kube.objects import Object
from mooring.kube.status import ApiError, NotFoundError
from mooring.placement.writes import Write
from mooring.runway.inverse_writes import inverse_of

__all__ = ["MadeWrite", "make_write", "written_name"]

_JSON_PATCH: Final = "application/json-patch+json"
_MANAGER: Final = "mooring-ui"


class MadeWrite(NamedTuple):
    """What was done, in a few words, and the write that takes it back, where there is one."""

    text: str
    undo: Write | None = None


def written_name(write: Write) -> str:
    """The object that is written to, with its kind."""
    return f"{write.kind} {write.namespace}/{write.name}" if write.namespace else f"{write.kind} {write.name}"


async def make_write(transport: HttpTransport, write: Write) -> MadeWrite:
    """Raises what the transport raises."""
    name = written_name(write)
    match write.verb:
        case "patch" | "scale":
            place = (write.api_version, write.kind, write.namespace, write.name)
            subresource = "scale" if write.verb == "scale" else ""
            before = await _before(transport, write, subresource)
            after = await transport.patch(*place, _JSON_PATCH, list(write.body), _MANAGER, subresource)
            undo = None if before is None else inverse_of(write, before, after)
            return MadeWrite(f"{name} {'scaled' if subresource else 'patched'}", undo)
        case "evict":
            await transport.write(Request("evict", write.api_version, write.kind, write.namespace, write.name, {}))
            return MadeWrite(f"{name} evicted")
        case "delete":
            return MadeWrite(await _delete_waiting(transport, write, name))


async def _before(transport: HttpTransport, write: Write, subresource: str) -> Object | None:
    """Who may write and not read gets no way back; the write says itself what else is wrong."""
    try:
        return await transport.get(write.api_version, write.kind, write.namespace, write.name, subresource=subresource)
    except ApiError:
        return None


async def _delete_waiting(transport: HttpTransport, write: Write, name: str) -> str:
    """A pod that found its place in the meantime is what everybody wants; it stays."""
    place = (write.api_version, write.kind, write.namespace, write.name)
    try:
        found = await transport.get(*place)
    except NotFoundError:
        return f"{name} is gone already"
    if (found.get("status") or {}).get("phase") != "Pending":
        return f"{name} waits no more, and stays"
    metadata = found["metadata"]
    basis = {"uid": metadata["uid"], "resource_version": metadata["resourceVersion"]}
    await transport.write(Request("delete", *place, {}, **basis))
    return f"{name} deleted"
