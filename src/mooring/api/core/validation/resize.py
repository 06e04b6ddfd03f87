"""What of a pod may be resized in place: CPU and memory of what runs, and neither its class nor anything else."""

from collections.abc import Mapping
from typing import Any, Final

from mooring.api.core.resources import qos_class
from mooring.kube.errors import Enum, FieldError, forbidden, invalid
from mooring.kube.objects import Object
from mooring.kube.quantities import parse_quantity

__all__ = ["validate_resize"]

Errors = list[FieldError]

_MIRROR: Final = "kubernetes.io/config.mirror"
_RESIZABLE: Final = ("cpu", "memory")
_SIDES: Final = ("requests", "limits")
_WHOLE_POD: Final = (
    "resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled feature "
    "gate is disabled"
)


def validate_resize(new: Object, old: Object, errors: Errors) -> Errors:
    """`errors` are those of the pod that would come of it."""
    spec, was = new["spec"], old["spec"]
    if _MIRROR in old["metadata"].get("annotations", {}):
        return [forbidden("[]", "static pods cannot be resized")]
    if (was.get("os") or {}).get("name") == "windows":
        return [forbidden("[]", "windows pods cannot be resized")]
    errors = list(errors)
    quality = old["status"].get("qosClass", "")
    if qos_class(dict(spec)) != quality:
        errors.append(invalid("spec", Enum(quality), "Pod QOS Class may not change as a result of resizing"))
    if not _is_supported(old["status"]):
        errors.append(forbidden("spec", "Pod running on node without support for resize"))
    if any((each.get("resources") or {}).get(side) for each in (spec, was) for side in _SIDES):
        return [*errors, forbidden("[]", _WHOLE_POD)]
    if misplaced := [*_order(spec, was, "containers"), *_order(spec, was, "initContainers")]:
        return [*errors, *misplaced]
    preparing, mains = _pairs(spec, was, "initContainers"), _pairs(spec, was, "containers")
    for index, (container, before) in enumerate(preparing):
        if before.get("restartPolicy") == "Always":
            errors += _taken_away(container, before, f"spec.initContainers[{index}].resources")
    for index, (container, before) in enumerate(mains):
        errors += _taken_away(container, before, f"spec.containers[{index}].resources")
    for container, before in mains:
        if _fixed(container) != _fixed(before):
            errors.append(forbidden("spec", "only cpu and memory resources are mutable"))
    for container, before in preparing:
        if container.get("restartPolicy") == "Always":
            if _fixed(container) != _fixed(before):
                errors.append(forbidden("spec", "only cpu and memory resources for sidecar containers are mutable"))
        elif container != before:
            errors.append(forbidden("spec", "resources for non-sidecar init containers are immutable"))
    return errors


def _is_supported(status: Object) -> bool:
    """Whether the pod's node says what its containers have; before one runs, that is taken for granted."""
    for each in status.get("containerStatuses") or ():
        if (each.get("state") or {}).get("running") is not None:
            return each.get("resources") is not None
    return True


def _order(spec: Object, was: Object, kind: str) -> Errors:
    now, before = spec.get(kind) or (), was.get(kind) or ()
    if len(now) != len(before):
        return [forbidden(f"spec.{kind}", f"{kind} may not be added or removed on resize")]
    return [
        forbidden(f"spec.{kind}[{index}].name", f"{kind} may not be renamed or reordered on resize")
        for index, (container, known) in enumerate(zip(now, before, strict=True))
        if container["name"] != known["name"]
    ]


def _pairs(spec: Object, was: Object, kind: str) -> list[tuple[Object, Object]]:
    return list(zip(spec.get(kind) or (), was.get(kind) or (), strict=True))


def _taken_away(container: Object, before: Object, path: str) -> Errors:
    return [
        forbidden(f"{path}.{side}", f"resource {side} cannot be removed")
        for side in _SIDES
        if _amounts(before, side).keys() - _amounts(container, side).keys()
    ]


def _amounts(container: Object, side: str) -> Mapping[str, Any]:
    return container["resources"].get(side) or {}


def _fixed(container: Object) -> dict[str, Any]:
    """What of a container cannot be resized."""
    others = {key: value for key, value in container["resources"].items() if key not in _SIDES}
    for side in _SIDES:
        amounts = _amounts(container, side).items()
        others[side] = {name: parse_quantity(amount) for name, amount in amounts if name not in _RESIZABLE}
    return {**container, "resources": others}
