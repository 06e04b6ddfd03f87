"""Deletes a workload with its pods, and with what a deployment of a model has beside it."""

from __future__ import annotations

from mooring.client.transport import AsyncTransport, Request
from mooring.kube.status import ConflictError
from mooring.runway.operations.deployments import delete_services
from mooring.runway.providers.deployment_kinds import DEPLOYMENT_KINDS

__all__ = ["delete_workload"]


async def delete_workload(
    transport: AsyncTransport, api_version: str, kind: str, namespace: str, name: str, uid: str = ""
) -> None:
    """With `uid` only the object that was looked at: raises ConflictError for another one of the same name."""
    where = (api_version, kind, namespace, name)
    metadata = (await transport.get(*where))["metadata"]
    if uid and metadata["uid"] != uid:
        raise ConflictError(f"{kind} {namespace}/{name} was made anew since it was looked at; look at it again")
    await transport.write(Request("delete", *where, {}, uid=metadata["uid"], propagation="Background"))
    if any(kind == each.kind for each in DEPLOYMENT_KINDS):
        await delete_services(transport, namespace, name)
