"""The rules for volume mounts and block devices of a container."""

from collections.abc import Mapping
from typing import Any, Final

from mooring.api.core.validation.security import check_descending_path, check_no_backsteps
from mooring.kube.errors import Enum, FieldError, forbidden, invalid, not_found, not_supported, required

__all__ = ["check_volume_devices", "check_volume_mounts"]

Object = Mapping[str, Any]
Errors = list[FieldError]

_PROPAGATIONS: Final = ("Bidirectional", "HostToContainer", "None")
_RECURSIVE: Final = ("Disabled", "Enabled", "IfPossible")


def check_volume_mounts(errors: Errors, container: Object, volumes: Mapping[str, Object], path: str) -> None:
    devices = {device["name"]: device["devicePath"] for device in container.get("volumeDevices", ())}
    seen: set[str] = set()
    for index, mount in enumerate(container["volumeMounts"]):
        here, name, target = f"{path}[{index}]", mount["name"], mount["mountPath"]
        if not name:
            errors.append(required(f"{here}.name", ""))
        if name not in volumes:
            errors.append(not_found(f"{here}.name", name))
        if not target:
            errors.append(required(f"{here}.mountPath", ""))
        if target in seen:
            errors.append(invalid(f"{here}.mountPath", target, "must be unique"))
        seen.add(target)
        if name in devices:
            errors.append(invalid(f"{here}.name", name, "must not already exist in volumeDevices"))
        if target in devices.values():
            errors.append(invalid(f"{here}.mountPath", target, "must not already exist as a path in volumeDevices"))
        # The paths of what follows lack the index; so they do in the API.
        if sub_path := mount.get("subPath"):
            check_descending_path(errors, sub_path, f"{path}.subPath")
        if expression := mount.get("subPathExpr"):
            if sub_path:
                detail = "subPathExpr and subPath are mutually exclusive"
                errors.append(invalid(f"{here}.subPathExpr", expression, detail))
            check_descending_path(errors, expression, f"{path}.subPathExpr")
        _check_propagation(errors, mount, container, f"{path}.mountPropagation")
        _check_recursive_read_only(errors, mount, f"{path}.recursiveReadOnly")


def _check_propagation(errors: Errors, mount: Object, container: Object, path: str) -> None:
    propagation = mount.get("mountPropagation")
    if propagation is None:
        return
    if propagation not in _PROPAGATIONS:
        errors.append(not_supported(path, Enum(propagation), _PROPAGATIONS))
    if propagation == "Bidirectional" and not container.get("securityContext", {}).get("privileged"):
        detail = "Bidirectional mount propagation is available only to privileged containers"
        errors.append(forbidden(path, detail))


def _check_recursive_read_only(errors: Errors, mount: Object, path: str) -> None:
    mode = mount.get("recursiveReadOnly")
    if mode is None or mode == "Disabled":
        return
    if mode not in _RECURSIVE:
        errors.append(not_supported(path, Enum(mode), _RECURSIVE))
        return
    if not mount.get("readOnly"):
        errors.append(forbidden(path, "may only be specified when readOnly is true"))
    if mount.get("mountPropagation", "None") != "None":
        errors.append(forbidden(path, "may only be specified when mountPropagation is None or not specified"))


def check_volume_devices(errors: Errors, container: Object, volumes: Mapping[str, Object], path: str) -> None:
    mounts = {mount["name"]: mount["mountPath"] for mount in container.get("volumeMounts", ())}
    names: set[str] = set()
    paths: set[str] = set()
    for index, device in enumerate(container["volumeDevices"]):
        here, name, target = f"{path}[{index}]", device["name"], device["devicePath"]
        volume = volumes.get(name)
        if not name:
            errors.append(required(f"{here}.name", ""))
        if name in names:
            errors.append(invalid(f"{here}.name", name, "must be unique"))
        if volume is None:
            errors.append(not_found(f"{here}.name", name))
        elif volume.keys().isdisjoint({"persistentVolumeClaim", "ephemeral"}):
            detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            errors.append(invalid(f"{here}.name", name, detail))
        if not target:
            errors.append(required(f"{here}.devicePath", ""))
        if target in paths:
            errors.append(invalid(f"{here}.devicePath", target, "must be unique"))
        backsteps: Errors = []
        check_no_backsteps(backsteps, target, path)
        if backsteps:
            errors.append(invalid(f"{here}.devicePath", target, "can not contain backsteps ('..')"))
        else:
            paths.add(target)
        if name in mounts:
            errors.append(invalid(f"{here}.name", name, "must not already exist in volumeMounts"))
        if target in mounts.values():
            errors.append(invalid(f"{here}.devicePath", target, "must not already exist as a path in volumeMounts"))
        if name:
            names.add(name)
