"""The object of a write to a part of the spec that has a door of its own: the rest is as it is stored."""

from typing import Final

from mooring.kube.objects import Object

__all__ = ["kept_metadata", "resized", "with_spec"]

# What such a write cannot change.
_KEPT_METADATA: Final = ("labels", "annotations", "finalizers", "ownerReferences")


def with_spec(given: Object, current: Object, name: str) -> Object:
    """The current object with one field of its spec from the given one."""
    spec = {key: value for key, value in current.get("spec", {}).items() if key != name}
    wanted = (given.get("spec") or {}).get(name)
    if wanted:
        spec[name] = wanted
    return {**current, "spec": spec, "metadata": given.get("metadata")}


def resized(given: Object, current: Object) -> Object:
    """The current pod with the resources and the resize policies of the given one's containers.

    Containers that are more, fewer or others than the stored ones are left for validation to refuse.
    """
    spec, was = given.get("spec") or {}, current["spec"]
    lists = {kind: _resized(spec.get(kind) or [], was.get(kind) or []) for kind in ("containers", "initContainers")}
    made = {**was, **{kind: containers for kind, containers in lists.items() if containers or kind in was}}
    return {**current, "spec": made, "metadata": given.get("metadata")}


def _resized(given: list[Object], current: list[Object]) -> list[Object]:
    given = [each or {} for each in given]
    if [each.get("name") for each in given] != [each["name"] for each in current]:
        return given
    return [_with_resources(new, old) for new, old in zip(given, current, strict=True)]


def _with_resources(given: Object, current: Object) -> Object:
    made = {**current, "resources": given.get("resources") or {}}
    made.pop("resizePolicy", None)
    return made | ({"resizePolicy": given["resizePolicy"]} if given.get("resizePolicy") else {})


def kept_metadata(metadata: Object, was: Object) -> Object:
    """The metadata of a write through such a door to a pod."""
    rest = {key: value for key, value in metadata.items() if key not in _KEPT_METADATA}
    return rest | {key: was[key] for key in _KEPT_METADATA if key in was}
