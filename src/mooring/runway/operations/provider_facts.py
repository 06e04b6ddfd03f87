"""What a cluster tells of a provider: whether its kinds are served, the pods of its operator, its Installation."""

from __future__ import annotations

from contextlib import aclosing

from mooring.apiserver.health import VERSION_SUFFIX
from mooring.client.transport import AsyncTransport, Scope, plain
from mooring.kube.objects import Object
from mooring.kube.status import ApiError, ForbiddenError, NotFoundError
from mooring.runway.providers.provider import Provider, ProviderFacts
from mooring.runway.settings import DEFAULT_SETTINGS

__all__ = ["is_embedded", "provider_facts"]


def is_embedded(version: str) -> bool:
    """Whether a server of this version is the one of `mooring up`."""
    return version.endswith(VERSION_SUFFIX)


async def provider_facts(transport: AsyncTransport, provider: Provider) -> ProviderFacts:
    """Pods that may not be read are as good as none; that kinds may not be listed says that they are served."""
    pods: list[Object] = []
    for operator in provider.operators:
        pods += await _pods(transport, Scope(operator.namespace, operator.selector))
    return ProviderFacts(await _serves(transport, provider), pods, await _installation(transport, provider))


async def _serves(transport: AsyncTransport, provider: Provider) -> bool:
    for crd in provider.crds:
        scope = Scope(provider.default_namespace, metadata_only=True)
        async with aclosing(transport.list(crd.group_version, crd.kind, scope)) as pages:
            try:
                await anext(pages, None)
            except NotFoundError:
                return False
            except ForbiddenError:
                continue
    return True


async def _pods(transport: AsyncTransport, scope: Scope) -> list[Object]:
    try:
        return [plain(item) async for page in transport.list("v1", "Pod", scope) for item in page.items]
    except ApiError:
        return []


async def _installation(transport: AsyncTransport, provider: Provider) -> Object | None:
    wanted = provider.installation(DEFAULT_SETTINGS)
    if wanted is None:
        return None
    try:
        return await transport.get(wanted["apiVersion"], wanted["kind"], "", wanted["metadata"]["name"])
    except ApiError:
        return None
