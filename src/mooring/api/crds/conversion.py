"""Conversion between the versions of a custom resource: through a hub, by pure functions, and without loss.

One version is the hub; every other one is a spoke with two functions, to the hub and from it. They may be plain: what a
function cannot express in the other version is kept beside it, in an annotation, and comes back on the way home.

A kept value comes back only where the conversion gives again what it gave when the value was kept. So an edit made in
the other version always wins. Lists are kept as a whole, because an item has no name that would survive an edit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, Final, NamedTuple

import msgspec

from mooring.kube.objects import Object

__all__ = ["Spoke", "conversion_data", "from_hub", "to_hub"]

Convert = Callable[[Object], Object]

# What is no version's own.
_COMMON: Final = frozenset({"apiVersion", "kind", "metadata"})


class Spoke(NamedTuple):
    """How one version becomes the hub and comes from it. Both functions leave what they are given as it is.

    They are about the fields of the kind: apiVersion and kind are seen to, and metadata may be left as it is.
    """

    to_hub: Convert
    from_hub: Convert


class _Kept(msgspec.Struct, omit_defaults=True):
    """One value that the other version has no place for. `was` is what the conversion made in its stead."""

    path: list[str]
    was: Any = msgspec.UNSET
    kept: Any = msgspec.UNSET


_encode: Final = msgspec.json.Encoder(order="sorted").encode
_decode: Final = msgspec.json.Decoder(list[_Kept]).decode


def conversion_data(group: str, version: str = "") -> str:
    """The annotation that keeps what a spoke cannot express of the hub; with a version, what the hub cannot of it."""
    return f"{group}/conversion-data-{version}" if version else f"{group}/conversion-data"


def to_hub(spoke: Spoke, obj: Object, group: str, version: str) -> Object:
    plain, kept = _taken(obj, conversion_data(group))
    made = _restored(_converted(spoke.to_hub, plain), kept)
    return _annotated(made, conversion_data(group, version), _lost(_converted(spoke.from_hub, made), plain))


def from_hub(spoke: Spoke, obj: Object, group: str, version: str) -> Object:
    plain, kept = _taken(obj, conversion_data(group, version))
    made = _restored(_converted(spoke.from_hub, plain), kept)
    return _annotated(made, conversion_data(group), _lost(_converted(spoke.to_hub, made), plain))


def _converted(function: Convert, obj: Object) -> Object:
    made = function(obj)
    return made if "metadata" in made else {**made, "metadata": obj.get("metadata", {})}


def _lost(back: Object, obj: Object) -> list[_Kept]:
    """What is not the same after going there and back."""
    own = [{name: value for name, value in each.items() if name not in _COMMON} for each in (back, obj)]
    return list(_differences(own[0], own[1], []))


def _differences(derived: Object, wanted: Object, path: list[str]) -> Iterator[_Kept]:
    for name in sorted(derived.keys() | wanted.keys()):
        here = [*path, name]
        was, kept = derived.get(name, msgspec.UNSET), wanted.get(name, msgspec.UNSET)
        if isinstance(was, dict) and isinstance(kept, dict):
            yield from _differences(was, kept, here)
        elif not _same(was, kept):
            yield _Kept(here, was, kept)


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON, where true is not 1."""
    if one is msgspec.UNSET or other is msgspec.UNSET:
        return one is other
    return one is other or _encode(one) == _encode(other)


def _restored(obj: Object, kept: list[_Kept]) -> Object:
    if not kept:
        return obj
    made = {name: value if name in _COMMON else deepcopy(value) for name, value in obj.items()}
    for each in kept:
        parent: Any = made
        for name in each.path[:-1]:
            parent = parent.get(name) if isinstance(parent, dict) else None
        last = each.path[-1]
        if not isinstance(parent, dict) or not _same(parent.get(last, msgspec.UNSET), each.was):
            continue
        if each.kept is msgspec.UNSET:
            del parent[last]
        else:
            parent[last] = each.kept
    return made


def _taken(obj: Object, annotation: str) -> tuple[Object, list[_Kept]]:
    """The object without the annotation, and what it keeps."""
    metadata = obj.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    if annotation not in annotations:
        return obj, []
    left = {name: value for name, value in annotations.items() if name != annotation}
    rest = {name: value for name, value in metadata.items() if name != "annotations"}
    plain = {**obj, "metadata": {**rest, "annotations": left} if left else rest}
    try:
        kept = [each for each in _decode(annotations[annotation]) if each.path and each.path[0] not in _COMMON]
    except (msgspec.DecodeError, TypeError):
        # An annotation of another program: it has no fields to bring back.
        kept = []
    return plain, kept


def _annotated(obj: Object, annotation: str, kept: list[_Kept]) -> Object:
    if not kept:
        return obj
    metadata = obj.get("metadata") or {}
    annotations = {**(metadata.get("annotations") or {}), annotation: _encode(kept).decode()}
    return {**obj, "metadata": {**metadata, "annotations": annotations}}
