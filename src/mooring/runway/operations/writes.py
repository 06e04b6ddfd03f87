"""Makes one write of a proposal, with the rights of the transport's own credentials."""

from __future__ import annotations

from typing import Final

from mooring.client.http import HttpTransport
from mooring.client.transport import Request
from mooring.kube.status import NotFoundError
from mooring.placement.writes import Write

__all__ = ["make_write", "written_name"]

_JSON_PATCH: Final = "application/json-patch+json"
_MANAGER: Final = "mooring-ui"


def written_name(write: Write) -> str:
    """The object that is written to, with its kind."""
    return f"{write.kind} {write.namespace}/{write.name}" if write.namespace else f"{write.kind} {write.name}"


async def make_write(transport: HttpTransport, write: Write) -> str:
    """What was done, in a few words. Raises what the transport raises."""
    name = written_name(write)
    match write.verb:
        case "patch" | "scale":
            place = (write.api_version, write.kind, write.namespace, write.name)
            subresource = "scale" if write.verb == "scale" else ""
            await transport.patch(*place, _JSON_PATCH, list(write.body), _MANAGER, subresource)
            return f"{name} {'scaled' if subresource else 'patched'}"
        case "evict":
            await transport.write(Request("evict", write.api_version, write.kind, write.namespace, write.name, {}))
            return f"{name} evicted"
        case "delete":
            return await _delete_waiting(transport, write, name)


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
