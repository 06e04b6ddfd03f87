"""The rules for annotations that Kubernetes itself reads on pods."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from mooring.api.core.decoding.decoder import decode
from mooring.api.core.validation.affinity import check_tolerations
from mooring.api.core.validation.security import check_descending_path
from mooring.api.core.validation.windows import all_containers
from mooring.kube.errors import FieldError, forbidden, go_quote, invalid

__all__ = ["check_annotation_updates", "check_pod_annotations", "check_profile_annotations"]

Object = Mapping[str, Any]
Errors = list[FieldError]

_MIRROR: Final = "kubernetes.io/config.mirror"
_TOLERATIONS: Final = "scheduler.alpha.kubernetes.io/tolerations"
_DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
_SECCOMP_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER: Final = "container.seccomp.security.alpha.kubernetes.io/"
_APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_SECCOMP_DEFAULTS: Final = ("runtime/default", "docker/default")
_LOCALHOST: Final = "localhost/"
_integer = re.compile("0|-?[1-9][0-9]*|-0[0-9]*").fullmatch


def check_pod_annotations(errors: Errors, annotations: Mapping[str, str], spec: Object, path: str) -> None:
    if _MIRROR in annotations and not spec.get("nodeName"):
        detail = "must set spec.nodeName if mirror pod annotation is set"
        errors.append(invalid(f"{path}[{_MIRROR}]", annotations[_MIRROR], detail))
    if annotations.get(_TOLERATIONS):
        _check_old_tolerations(errors, annotations[_TOLERATIONS], path)
    cost = annotations.get(_DELETION_COST)
    if cost is not None and not (_integer(cost) and -(2**31) <= int(cost) < 2**31):
        errors.append(invalid(f"{path}[{_DELETION_COST}]", cost, "must be a 32bit integer"))
    if _SECCOMP_POD in annotations:
        _check_seccomp_value(errors, annotations[_SECCOMP_POD], f"{path}.{_SECCOMP_POD}")
    for key in sorted(annotations):
        if key.startswith(_SECCOMP_CONTAINER):
            _check_seccomp_value(errors, annotations[key], f"{path}.{key}")
    for key in sorted(annotations):
        if key.startswith(_APP_ARMOR):
            _check_app_armor_value(errors, key, annotations[key], spec, f"{path}[{key}]")


def _check_old_tolerations(errors: Errors, text: str, path: str) -> None:
    try:
        given = json.loads(text)
    except ValueError as error:
        errors.append(invalid(path, _TOLERATIONS, f"must be a JSON list of tolerations: {error}"))
        return
    holder = decode("PodSpec", {"tolerations": given})
    if holder is None:
        errors.append(invalid(path, _TOLERATIONS, "must be a JSON list of tolerations"))
        return
    check_tolerations(errors, holder.get("tolerations", ()), f"{path}.{_TOLERATIONS}")


def _check_seccomp_value(errors: Errors, value: str, path: str) -> None:
    if value in _SECCOMP_DEFAULTS or value == "unconfined":
        return
    if value.startswith(_LOCALHOST):
        check_descending_path(errors, value.removeprefix(_LOCALHOST), path)
    else:
        errors.append(invalid(path, value, "must be a valid seccomp profile"))


def _check_app_armor_value(errors: Errors, key: str, value: str, spec: Object, path: str) -> None:
    name = key.removeprefix(_APP_ARMOR)
    if all(container["name"] != name for container, _ in all_containers(spec, "spec")):
        errors.append(invalid(path, name, "container not found"))
    if value not in ("", "runtime/default", "unconfined") and not value.startswith(_LOCALHOST):
        errors.append(invalid(path, value, f"invalid AppArmor profile name: {go_quote(value)}"))


def check_annotation_updates(errors: Errors, new: Mapping[str, str], old: Mapping[str, str]) -> None:
    """What the node has read of a pod stays."""
    for key in sorted(key for key in new.keys() | old.keys() if new.get(key) != old.get(key)):
        if key == _MIRROR or key.startswith(_APP_ARMOR):
            what = "mirror pod annotation" if key == _MIRROR else "AppArmor annotations"
            detail = f"may not {'remove or update' if key in old else 'add'} {what}"
            errors.append(forbidden(f"metadata.annotations[{key}]", detail))


def check_profile_annotations(errors: Errors, annotations: Mapping[str, str], spec: Object, path: str) -> None:
    """Profiles that are given as annotation and as field must be the same."""
    context = spec.get("securityContext") or {}
    if _SECCOMP_POD in annotations and "seccompProfile" in context:
        here = f"{path}.securityContext.seccompProfile"
        _check_match(errors, annotations[_SECCOMP_POD], context["seccompProfile"], "seccomp", here)
    for container, at in all_containers(spec, path):
        profile = (container.get("securityContext") or {}).get("seccompProfile")
        value = annotations.get(_SECCOMP_CONTAINER + container["name"])
        if profile is not None and value is not None:
            _check_match(errors, value, profile, "seccomp", f"{at}.securityContext.seccompProfile")
    if spec.get("os", {}).get("name") == "windows":
        return
    for container, at in all_containers(spec, path):
        own = (container.get("securityContext") or {}).get("appArmorProfile")
        profile = own if own is not None else context.get("appArmorProfile")
        value = annotations.get(_APP_ARMOR + container["name"])
        if profile is not None and value is not None:
            _check_match(errors, value, profile, "apparmor", f"{at}.securityContext.appArmorProfile")


def _check_match(errors: Errors, value: str, profile: Object, kind: str, path: str) -> None:
    match profile["type"]:
        case "Unconfined":
            same = value == "unconfined"
        case "RuntimeDefault":
            same = value in (_SECCOMP_DEFAULTS if kind == "seccomp" else ("runtime/default",))
        case "Localhost":
            same = value.startswith(_LOCALHOST)
        case _:
            return
    if not same:
        errors.append(forbidden(f"{path}.type", f"{kind} type in annotation and field must match"))
    elif profile["type"] == "Localhost" and value.removeprefix(_LOCALHOST) != profile.get("localhostProfile"):
        errors.append(forbidden(f"{path}.localhostProfile", f"{kind} profile in annotation and field must match"))
