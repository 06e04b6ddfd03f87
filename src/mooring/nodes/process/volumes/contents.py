"""What a pod's volumes hold, as files: a plain function of the volume, the pod, and the objects it names."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from mooring.kube.objects import Object
from mooring.nodes.process.containers.environment.fields import FieldRefError, NodeFields, field_value, resource_value
from mooring.nodes.process.containers.environment.variables import Sources
from mooring.nodes.process.volumes.tokens import TokenProjection

__all__ = ["File", "Tokens", "VolumeError", "content_of", "is_content", "kind_of", "references", "token_projections"]


_DEFAULT_MODE: Final = 0o644
# Of a token that a group may read; the group's right is added with the group.
_TOKEN_MODE: Final = 0o600
_CONTENT: Final = ("configMap", "secret", "downwardAPI", "projected")
_SUPPORTED: Final = (*_CONTENT, "emptyDir", "persistentVolumeClaim", "ephemeral", "hostPath")


# A token for each projection that asks for one.
Tokens = Mapping[TokenProjection, str]
_NO_TOKENS: Final[Tokens] = {}


class VolumeError(Exception):
    """A volume that cannot be made; the text says why."""


class File(NamedTuple):
    data: bytes
    mode: int


def kind_of(volume: Object) -> str:
    """The type of a volume. Raises VolumeError for one that a process node cannot bring."""
    kind = next((key for key, found in volume.items() if key != "name" and found is not None), "emptyDir")
    if kind not in _SUPPORTED:
        raise VolumeError(
            f"{kind} volumes are not provided by a process node; use {', '.join(_SUPPORTED[:-1])} or {_SUPPORTED[-1]}"
        )
    return kind


def is_content(volume: Object) -> bool:
    """Whether its files come from the API, and follow it."""
    return any(volume.get(kind) is not None for kind in _CONTENT)


def references(volume: Object) -> set[tuple[str, str]]:
    """The ConfigMaps and Secrets that a volume shows, by kind and name."""
    found = set()
    sources = (volume.get("projected") or {}).get("sources") or ()
    for source in (volume, *sources):
        if reference := source.get("configMap"):
            found.add(("ConfigMap", reference.get("name", "")))
        if reference := source.get("secret"):
            found.add(("Secret", reference.get("secretName") or reference.get("name", "")))
    return found


def token_projections(volume: Object) -> set[TokenProjection]:
    """The tokens that a volume shows."""
    sources = (volume.get("projected") or {}).get("sources") or ()
    return {TokenProjection.of(found) for each in sources if (found := each.get("serviceAccountToken")) is not None}


def content_of(
    pod: Object, volume: Object, sources: Sources, node_fields: NodeFields, tokens: Tokens = _NO_TOKENS
) -> dict[str, File]:
    """The files of a volume by their paths in it. `tokens` has what `token_projections` asks for."""
    if projected := volume.get("projected"):
        files: dict[str, File] = {}
        mode = _mode(projected, _DEFAULT_MODE)
        for source in projected.get("sources") or ():
            if (reference := source.get("serviceAccountToken")) is not None:
                text = tokens[TokenProjection.of(reference)]
                has_group = (pod["spec"].get("securityContext") or {}).get("fsGroup") is not None
                files[reference["path"]] = File(text.encode(), _TOKEN_MODE if has_group else mode)
            else:
                files |= _source(pod, source, mode, sources, node_fields)
        return files
    (kind, source) = next((kind, volume[kind]) for kind in _CONTENT if volume.get(kind) is not None)
    return _source(pod, {kind: source}, _mode(source, _DEFAULT_MODE), sources, node_fields)


def _source(pod: Object, source: Object, mode: int, sources: Sources, node_fields: NodeFields) -> dict[str, File]:
    if (reference := source.get("configMap")) is not None:
        return _keys("ConfigMap", reference.get("name", ""), reference, mode, sources)
    if (reference := source.get("secret")) is not None:
        return _keys("Secret", reference.get("secretName") or reference.get("name", ""), reference, mode, sources)
    if (reference := source.get("downwardAPI")) is not None:
        return _downward(pod, reference.get("items") or (), mode, node_fields)
    kind = next(iter(source), "empty")
    raise VolumeError(f"a projected volume of a process node holds no {kind}")


def _keys(kind: str, name: str, reference: Object, mode: int, sources: Sources) -> dict[str, File]:
    optional = bool(reference.get("optional"))
    found = sources(kind, name)
    if found is None:
        if optional:
            return {}
        raise VolumeError(f'{kind.lower()} "{name}" not found')
    data = _bytes(kind, found)
    items = reference.get("items")
    if not items:
        return {key: File(content, mode) for key, content in data.items()}
    files = {}
    for item in items:
        if item["key"] not in data:
            if optional:
                continue
            raise VolumeError(
                f"references non-existent {'config' if kind == 'ConfigMap' else 'secret'} key: {item['key']}"
            )
        files[item["path"]] = File(data[item["key"]], _mode(item, mode, "mode"))
    return files


def _bytes(kind: str, found: Object) -> Mapping[str, bytes]:
    try:
        if kind == "Secret":
            return {key: base64.b64decode(text) for key, text in (found.get("data") or {}).items()}
        texts = {key: text.encode() for key, text in (found.get("data") or {}).items()}
        return texts | {key: base64.b64decode(text) for key, text in (found.get("binaryData") or {}).items()}
    except (binascii.Error, ValueError) as error:
        raise VolumeError(f"{kind} {found['metadata']['name']} cannot be read: {error}") from None


def _downward(pod: Object, items: Any, mode: int, node_fields: NodeFields) -> dict[str, File]:
    files = {}
    for item in items:
        try:
            if reference := item.get("fieldRef"):
                text = field_value(pod, reference["fieldPath"], node_fields)
            else:
                text = resource_value(pod, item["resourceFieldRef"], None, node_fields)
        except FieldRefError as error:
            raise VolumeError(str(error)) from None
        files[item["path"]] = File(text.encode(), _mode(item, mode, "mode"))
    return files


def _mode(source: Object, otherwise: int, name: str = "defaultMode") -> int:
    found = source.get(name)
    return otherwise if found is None else int(found)
