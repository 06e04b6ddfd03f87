"""Deletes a namespace that an installation made, if nothing is in it that anybody could miss.

People run workloads beside what they installed. So everything counts but what the cluster itself puts into each
namespace, and what an operator leaves of its elections and events.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final

import msgspec

from mooring.client.transport import AsyncTransport, Request, Scope, plain
from mooring.kube.objects import Object
from mooring.kube.status import ApiError, ForbiddenError, NotFoundError

__all__ = ["delete_if_empty"]

# What is being deleted, or belongs to something that is, is waited for.
_SETTLING_SECONDS: Final = 30.0
_LOOK_SECONDS: Final = 0.5
_NAMED: Final = 5
_KINDS: Final = (
    ("v1", "Pod"),
    ("v1", "ReplicationController"),
    ("v1", "PersistentVolumeClaim"),
    ("v1", "Service"),
    ("v1", "Secret"),
    ("v1", "ConfigMap"),
    ("v1", "ServiceAccount"),
    ("v1", "ResourceQuota"),
    ("v1", "LimitRange"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "ReplicaSet"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("batch/v1", "Job"),
    ("batch/v1", "CronJob"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
    ("policy/v1", "PodDisruptionBudget"),
    ("networking.k8s.io/v1", "Ingress"),
    ("networking.k8s.io/v1", "NetworkPolicy"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    ("resource.k8s.io/v1", "ResourceClaim"),
    ("resource.k8s.io/v1", "ResourceClaimTemplate"),
)
# What every namespace has.
_ALWAYS: Final = frozenset({("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")})


async def delete_if_empty(transport: AsyncTransport, namespace: str) -> str:
    """Why it stays, in a sentence; empty where it is deleted, or was not there."""
    try:
        await transport.get("v1", "Namespace", "", namespace)
    except NotFoundError:
        return ""
    try:
        left = await _settled(transport, namespace)
        if not left:
            await transport.write(Request("delete", "v1", "Namespace", "", namespace, {}))
            return ""
    except ForbiddenError as error:
        return f"namespace {namespace} stays, because it cannot be seen whether it is empty: {error.message}"
    except ApiError as error:
        return f"namespace {namespace} stays: {error.message}"
    shown = ", ".join(left[:_NAMED]) + (f" and {len(left) - _NAMED} more" if len(left) > _NAMED else "")
    return f"namespace {namespace} stays, because it holds {shown}; to delete it: kubectl delete namespace {namespace}"


async def _settled(transport: AsyncTransport, namespace: str) -> list[str]:
    """What is in a namespace once nothing is on its way out of it any more."""
    loop = asyncio.get_running_loop()
    end = loop.time() + _SETTLING_SECONDS
    while True:
        found = [each async for each in _contents(transport, namespace)]
        there = {meta["uid"] for _, meta in found}
        moving = any(_is_going(meta, there) for _, meta in found)
        if not moving or loop.time() > end:
            return [f"{kind} {meta['name']}" for kind, meta in found]
        await asyncio.sleep(_LOOK_SECONDS)


def _is_going(meta: Object, there: set[str]) -> bool:
    """What belongs to something that is gone is collected soon."""
    owners = meta.get("ownerReferences", ())
    return "deletionTimestamp" in meta or (bool(owners) and not any(each["uid"] in there for each in owners))


async def _contents(transport: AsyncTransport, namespace: str) -> AsyncIterator[tuple[str, Object]]:
    for api_version, kind in (*_KINDS, *[each async for each in _custom_kinds(transport)]):
        try:
            pages = transport.list(api_version, kind, Scope(namespace=namespace, metadata_only=True))
            async for page in pages:
                for item in page.items:
                    meta = plain(item)["metadata"]
                    if (kind, meta["name"]) not in _ALWAYS and not _is_account_token(kind, meta):
                        yield kind, meta
        except NotFoundError:
            # The server does not have this kind.
            continue


def _is_account_token(kind: str, meta: Object) -> bool:
    return kind == "Secret" and "kubernetes.io/service-account.name" in meta.get("annotations", {})


class _Version(msgspec.Struct):
    name: str
    served: bool = False


class _Names(msgspec.Struct):
    kind: str


class _Spec(msgspec.Struct):
    group: str
    scope: str
    names: _Names
    versions: list[_Version]


async def _custom_kinds(transport: AsyncTransport) -> AsyncIterator[tuple[str, str]]:
    async for page in transport.list("apiextensions.k8s.io/v1", "CustomResourceDefinition"):
        for item in page.items:
            spec = msgspec.convert(plain(item)["spec"], _Spec)
            served = [each.name for each in spec.versions if each.served]
            if spec.scope == "Namespaced" and served:
                yield f"{spec.group}/{served[0]}", spec.names.kind
