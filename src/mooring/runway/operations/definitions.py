"""Takes away the definitions that a provider leaves behind, once no object of them is left.

A definition goes with all its objects, so what is still there is named and nothing is deleted. Definitions that Mooring
itself brought stay: its own controllers use them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from mooring.catalog import CATALOG
from mooring.client.transport import AsyncTransport, Request, Scope, plain
from mooring.kube.errors import InputError
from mooring.kube.objects import Object
from mooring.kube.status import ConflictError, NotFoundError
from mooring.kube.words import and_more
from mooring.runway.operations.provider_facts import provider_facts
from mooring.runway.providers.provider import Provider

__all__ = ["DEFINITION", "RemovedDefinitions", "remove_definitions"]

DEFINITION: Final = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
# What Mooring's chart writes on all that it brings.
_OWNER_LABEL: Final = "app.kubernetes.io/name"
_OWNER: Final = "mooring"
# So many objects are named; more are counted.
_MOST_NAMED: Final = 5


class RemovedDefinitions(NamedTuple):
    """Names of definitions. `kept` are Mooring's own."""

    deleted: tuple[str, ...]
    kept: tuple[str, ...]

    @property
    def sentence(self) -> str:
        text = f"deleted: {', '.join(self.deleted)}" if self.deleted else "there are no definitions to delete"
        return f"{text}; Mooring uses {', '.join(self.kept)} itself" if self.kept else text


async def remove_definitions(transport: AsyncTransport, provider: Provider, *, embedded: bool) -> RemovedDefinitions:
    """Raises InputError where the provider has none, and ConflictError where it or objects of them are there."""
    if not provider.definitions:
        raise InputError(f"{provider.name} has no definitions of its own that could be deleted")
    facts = await provider_facts(transport, provider)
    if facts.installation is not None or facts.operator_pods:
        raise ConflictError(f"{provider.name} is installed and uses its definitions; uninstall it first")
    own = {f"{each.plural}.{each.group}" for each in CATALOG.resources()} if embedded else set()
    found = [each for name in provider.definitions if (each := await _find(transport, name)) is not None]
    kept = [each for each in found if _is_own(each, own)]
    leaving = [each for each in found if not _is_own(each, own)]
    left = [text for each in leaving for text in await _objects(transport, each)]
    if left:
        text = f"the definitions of {provider.name} would take their objects along; delete those first"
        raise ConflictError(f"{text}: {and_more(left, _MOST_NAMED)}")
    for each in leaving:
        name, uid = each["metadata"]["name"], each["metadata"]["uid"]
        await transport.write(Request("delete", *DEFINITION, "", name, {}, uid=uid))
    return RemovedDefinitions(_names(leaving), _names(kept))


async def _find(transport: AsyncTransport, name: str) -> Object | None:
    try:
        return await transport.get(*DEFINITION, "", name)
    except NotFoundError:
        return None


def _is_own(definition: Object, own: Collection[str]) -> bool:
    metadata = definition["metadata"]
    return metadata["name"] in own or (metadata.get("labels") or {}).get(_OWNER_LABEL) == _OWNER


async def _objects(transport: AsyncTransport, definition: Object) -> list[str]:
    spec = definition["spec"]
    version = next((each["name"] for each in spec["versions"] if each["served"]), None)
    if version is None:
        # Nobody can read them, so nobody can say that there are none.
        raise ConflictError(f"{definition['metadata']['name']} serves no version; delete it by hand")
    api_version, kind = f"{spec['group']}/{version}", spec["names"]["kind"]
    try:
        pages = transport.list(api_version, kind, Scope(metadata_only=True))
        found = [plain(item)["metadata"] async for page in pages for item in page.items]
    except NotFoundError:
        # It is being deleted already.
        return []
    return [f"{kind} {'/'.join(filter(None, (each.get('namespace'), each['name'])))}" for each in found]


def _names(definitions: Iterable[Object]) -> tuple[str, ...]:
    return tuple(sorted(each["metadata"]["name"] for each in definitions))
