"""Creates all objects of a deployment, or none: what was created goes again when one of them is refused."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from mooring.client.transport import AsyncTransport, Request, UnknownOutcome
from mooring.kube.errors import InputError, MooringError
from mooring.kube.objects import Object
from mooring.kube.status import AlreadyExistsError
from mooring.runway.providers import labels

__all__ = ["create_deployment"]


async def create_deployment(transport: AsyncTransport, manifests: Sequence[Object]) -> list[Object]:
    """The objects as the server has them, the main one first. It owns the others, so that they go with it.

    A refusal is raised as it came, after what was created before it is deleted.
    """
    created: list[Object] = []
    try:
        for manifest in manifests:
            owned = _owned_by(created[0], manifest) if created else manifest
            created.append(await _create(transport, owned, is_main=not created))
    except MooringError:
        for obj in reversed(created):
            # The refusal is what people must hear of; an object that stays is seen in the list.
            with suppress(MooringError):
                await transport.write(_request("delete", obj, uid=obj["metadata"]["uid"]))
        raise
    return created


async def _create(transport: AsyncTransport, manifest: Object, *, is_main: bool) -> Object:
    try:
        return await transport.write(_request("create", manifest, body=manifest))
    except AlreadyExistsError:
        if is_main:
            raise
        found = await _get(transport, manifest)
        own, wanted = found["metadata"].get("labels") or {}, manifest["metadata"]["labels"]
        if any(own.get(label) != wanted[label] for label in (labels.MANAGED_BY, labels.INSTANCE)):
            raise
        # It is left from a deployment of this name; the garbage collector may still be on its way to it.
        await transport.write(_request("delete", found, uid=found["metadata"]["uid"]))
        return await transport.write(_request("create", manifest, body=manifest))
    except UnknownOutcome as error:
        kind, name = manifest["kind"], manifest["metadata"]["name"]
        raise InputError(f"whether {kind} {name} was created is not known: {error}; list the deployments") from None


async def _get(transport: AsyncTransport, manifest: Object) -> Object:
    metadata = manifest["metadata"]
    return await transport.get(manifest["apiVersion"], manifest["kind"], metadata["namespace"], metadata["name"])


def _owned_by(main: Object, manifest: Object) -> Object:
    reference = {
        "apiVersion": main["apiVersion"],
        "kind": main["kind"],
        "name": main["metadata"]["name"],
        "uid": main["metadata"]["uid"],
    }
    return {**manifest, "metadata": {**manifest["metadata"], "ownerReferences": [reference]}}


def _request(verb: str, obj: Object, *, body: Object | None = None, uid: str | None = None) -> Request:
    metadata = obj["metadata"]
    where = (obj["apiVersion"], obj["kind"], metadata["namespace"], metadata["name"])
    if verb == "create":
        return Request("create", *where, body or {}, manager=labels.MANAGER)
    return Request("delete", *where, {}, uid=uid, propagation="Background")
