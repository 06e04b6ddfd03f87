"""Custom kinds whose versions are converted by a webhook of their own.

The registry converts while it reads and writes, and cannot wait. So what has been converted is remembered, by content;
what has not interrupts the request until the webhook has answered. Lists and watches have all objects of the kind
converted in one call.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final
from uuid import uuid4

import msgspec

from mooring.admission.conversions import MalformedConversion, conversion_version, encode_conversion, read_conversion
from mooring.apiserver.webhooks.endpoints import Unresolved, find_address, url_of
from mooring.apiserver.webhooks.http import CallFailed, WebhookClient
from mooring.apiserver.webhooks.pending import Pending
from mooring.apiserver.webhooks.review import failure_of
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.status import UnknownError, qualified
from mooring.registry import Registry

__all__ = ["Conversions"]

Key = tuple[bytes, str]

_MIN_CACHED_OBJECTS: Final = 10_000
_BATCH_OBJECTS: Final = 500
# The real server waits without end; a webhook that takes longer than this is taken for dead.
_TIMEOUT_SECONDS: Final = 30.0
# What a conversion may look at and what it may change; the rest of the metadata passes it by.
_CONVERTED_METADATA: Final = ("name", "namespace", "labels", "annotations")

_encode = msgspec.json.Encoder().encode


def _key(obj: Object, wanted: str) -> Key:
    metadata = obj.get("metadata") or {}
    seen = {name: metadata[name] for name in _CONVERTED_METADATA if name in metadata}
    return _encode({**obj, "metadata": seen}), wanted


class Conversions:
    """Converts by webhook; `convert` is what the registry calls."""

    def __init__(self, registry: Registry, client: WebhookClient) -> None:
        self._registry = registry
        self._client = client
        self._known: OrderedDict[Key, Object] = OrderedDict()
        self._most = _MIN_CACHED_OBJECTS
        definitions = registry.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        # A definition that changes may name another webhook.
        self._watch = registry.watch(
            definitions, resource_version=str(registry.revision), wake=lambda: self._known.clear()
        )

    def close(self) -> None:
        self._watch.close()

    def convert(self, spec: Object, obj: Object, wanted: str) -> Object:
        key = _key(obj, wanted)
        found = self._known.get(key)
        if found is not None:
            self._known.move_to_end(key)
            return found

        async def settle(whole: bool) -> None:
            objects = {key: obj}
            if whole:
                for each in self._registry.storage.items(qualified(spec["names"]["plural"], spec["group"])):
                    if each["apiVersion"] != wanted:
                        objects.setdefault(_key(each, wanted), each)
            unknown = [(key, each) for key, each in objects.items() if key not in self._known]
            self._most = max(self._most, 2 * len(objects))
            for start in range(0, len(unknown), _BATCH_OBJECTS):
                await self._fetch(spec, unknown[start : start + _BATCH_OBJECTS], wanted)

        raise Pending(settle)

    async def _fetch(self, spec: Object, objects: Sequence[tuple[Key, Object]], wanted: str) -> None:
        originals = [obj for _, obj in objects]
        try:
            made = await self._ask(spec["conversion"]["webhook"], originals, wanted)
        except MooringError as error:
            first = originals[0]
            kind = f"{first['apiVersion']}, Kind={first['kind']}"
            verb = "" if isinstance(error, MalformedConversion) else "failed: "
            raise UnknownError(f"conversion webhook for {kind} {verb}{error}") from None
        for (key, _), each in zip(objects, made, strict=True):
            self._known[key] = each
        while len(self._known) > self._most:
            self._known.popitem(last=False)

    async def _ask(self, webhook: Object, objects: list[Object], wanted: str) -> list[Object]:
        version = conversion_version(webhook.get("conversionReviewVersions") or ())
        uid = str(uuid4())
        body = encode_conversion(version, uid, objects, wanted)
        client = webhook["clientConfig"]
        query = f"?timeout={_TIMEOUT_SECONDS:.0f}s"
        try:
            target = find_address(self._registry, client)
            answer = await self._client.post(target, query, body, _TIMEOUT_SECONDS)
        except (CallFailed, Unresolved) as error:
            raise CallFailed(f'Post "{url_of(client)}{query}": {error}') from None
        if not 200 <= answer.status < 300:
            raise CallFailed(failure_of(answer))
        return read_conversion(answer.body, uid, version, objects, wanted)
