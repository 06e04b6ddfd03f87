"""Deployments that are there: all of them, one, its deletion, and the log of one of its pods.

A kind that the cluster does not serve has no deployments. Any other refusal is raised: an empty list would be a lie.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from contextlib import suppress
from typing import NamedTuple

from mooring.agents.pod_log_executor import LogTransport
from mooring.client.transport import AsyncTransport, Request, Scope, plain
from mooring.kube.errors import InputError
from mooring.kube.objects import Object
from mooring.kube.status import ApiError, NotFoundError
from mooring.runway.deployments.deployed_model import DeployedModel
from mooring.runway.operations.pod_logs import pod_log_query
from mooring.runway.problems import DeploymentError, Problem, nearest
from mooring.runway.providers import labels
from mooring.runway.providers.deployment_kinds import DEPLOYMENT_KINDS, DeploymentKind

__all__ = [
    "DeploymentLog",
    "delete_deployment",
    "delete_services",
    "deployment_log",
    "find_deployment",
    "find_deployment_with_pods",
    "list_deployments",
]


class DeploymentLog(NamedTuple):
    pod: str
    text: str


class _Found(NamedTuple):
    kind: DeploymentKind
    obj: Object
    deployed: DeployedModel
    pods: list[Object]


async def list_deployments(transport: AsyncTransport, provider: str, namespace: str = "") -> list[DeployedModel]:
    """The deployments of one namespace or of all, the newest first. `provider` is that of objects which name none."""
    found = await asyncio.gather(*(_of_kind(transport, kind, provider, namespace) for kind in DEPLOYMENT_KINDS))
    every = [each.deployed for some in found for each in some]
    return sorted(every, key=lambda each: (each.created_at, each.namespace, each.name), reverse=True)


async def find_deployment(transport: AsyncTransport, name: str, provider: str, namespace: str = "") -> DeployedModel:
    """A deployment by name, in one namespace or in any. Raises NotFoundError, or InputError where there are several."""
    return (await _find(transport, name, provider, namespace)).deployed


async def find_deployment_with_pods(
    transport: AsyncTransport, name: str, provider: str, namespace: str = ""
) -> tuple[DeployedModel, list[Object]]:
    """The same, with its pods as they are in the cluster."""
    found = await _find(transport, name, provider, namespace)
    return found.deployed, found.pods


async def delete_deployment(transport: AsyncTransport, name: str, provider: str, namespace: str = "") -> DeployedModel:
    """Delete a deployment with all that belongs to it. Returns it as it was."""
    found = await _find(transport, name, provider, namespace)
    metadata = found.obj["metadata"]
    where = (found.kind.api_version, found.kind.kind, metadata["namespace"], metadata["name"])
    await transport.write(Request("delete", *where, {}, uid=metadata["uid"], propagation="Background"))
    await delete_services(transport, metadata["namespace"], metadata["name"])
    return found.deployed


async def delete_services(transport: AsyncTransport, namespace: str, name: str) -> None:
    """The garbage collector would come to them as well, but for kinds that are new to it only after a while."""
    for service in await _services(transport, namespace, name):
        with suppress(ApiError):
            where = ("v1", "Service", namespace, service["metadata"]["name"])
            await transport.write(Request("delete", *where, {}, uid=service["metadata"]["uid"]))


async def _services(transport: AsyncTransport, namespace: str, name: str) -> list[Object]:
    own = f"{labels.MANAGED_BY}={labels.MANAGER},{labels.INSTANCE}={name}"
    try:
        return await _all(transport, "v1", "Service", Scope(namespace, own))
    except ApiError:
        return []


async def deployment_log(
    transport: LogTransport,
    name: str,
    provider: str,
    namespace: str = "",
    *,
    pod: str = "",
    container: str = "",
    tail: int = 100,
    timestamps: bool = False,
) -> DeploymentLog:
    """The end of a pod's log; by default of the first one that has a node. Raises DeploymentError for a foreign pod."""
    deployed = await find_deployment(transport, name, provider, namespace)
    names = [each.name for each in deployed.pods]
    if pod and pod not in names:
        text = f'"{pod}" is no pod of deployment {name}{nearest(pod, names)}'
        raise DeploymentError([Problem("podName", text)])
    chosen = pod or next((each.name for each in deployed.pods if each.node), "")
    if not chosen:
        why = f": {deployed.message}" if deployed.message else ""
        raise InputError(f"deployment {name} has no log, as none of its pods has a node yet{why}")
    query = pod_log_query(tail, container, timestamps)
    return DeploymentLog(chosen, await transport.log(deployed.namespace, chosen, query))


async def _find(transport: AsyncTransport, name: str, provider: str, namespace: str) -> _Found:
    found = await asyncio.gather(*(_of_kind(transport, kind, provider, namespace, name) for kind in DEPLOYMENT_KINDS))
    every = [each for some in found for each in some]
    if not every:
        where = f" in namespace {namespace}" if namespace else ""
        raise NotFoundError(f'there is no deployment "{name}"{where}')
    if len(every) > 1:
        places = " and ".join(sorted({f"{each.deployed.namespace} ({each.kind.kind})" for each in every}))
        raise InputError(f'there is a deployment "{name}" in {places}; choose one by its namespace')
    return every[0]


async def _of_kind(
    transport: AsyncTransport, kind: DeploymentKind, provider: str, namespace: str, name: str = ""
) -> list[_Found]:
    fields = f"metadata.name={name}" if name else ""
    pods_of = kind.pod_selector(name) if name else kind.pod_label
    try:
        objects, pods = await asyncio.gather(
            _all(transport, kind.api_version, kind.kind, Scope(namespace, kind.selector, fields)),
            _all(transport, "v1", "Pod", Scope(namespace, pods_of)),
        )
    except NotFoundError:
        return []
    by_owner: dict[tuple[str, str], list[Object]] = defaultdict(list)
    for pod in pods:
        metadata = pod["metadata"]
        by_owner[metadata["namespace"], metadata["labels"][kind.pod_label]].append(pod)
    found = []
    for obj in objects:
        whole = {**obj, "apiVersion": kind.api_version, "kind": kind.kind}
        own = by_owner[obj["metadata"]["namespace"], obj["metadata"]["name"]]
        found.append(_Found(kind, whole, kind.read(whole, own, provider), own))
    return found


async def _all(transport: AsyncTransport, api_version: str, kind: str, scope: Scope) -> list[Object]:
    return [plain(item) async for page in transport.list(api_version, kind, scope) for item in page.items]
