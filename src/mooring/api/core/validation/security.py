"""The rules for security contexts of pods and containers: users, profiles, sysctls."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from mooring.api.core.validation.meta import check_texts
from mooring.api.core.validation.windows import check_windows_options
from mooring.kube.errors import Enum, FieldError, duplicate, invalid, not_supported, required, too_long
from mooring.kube.names import byte_length, is_group_id, is_user_id

__all__ = [
    "check_app_armor_profile",
    "check_container_security",
    "check_descending_path",
    "check_no_backsteps",
    "check_pod_security",
]

Object = Mapping[str, Any]
Errors = list[FieldError]

_SEGMENT: Final = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL: Final = rf"({_SEGMENT}[\./])*{_SEGMENT}"
_is_sysctl = re.compile(_SYSCTL).fullmatch
_IPC_SYSCTLS: Final = frozenset(
    {
        "kernel.sem",
        "kernel.shmall",
        "kernel.shmmax",
        "kernel.shmmni",
        "kernel.shm_rmid_forced",
        "kernel.shm",
        "kernel.msgmax",
        "kernel.msgmnb",
        "kernel.msgmni",
        "kernel.msg",
    }
)
_PROFILE_TYPES: Final = ("Localhost", "RuntimeDefault", "Unconfined")
_MAX_PATH_BYTES: Final = 4095


def check_no_backsteps(errors: Errors, target: str, path: str) -> None:
    if ".." in target and ".." in target.split("/"):
        errors.append(invalid(path, target, "must not contain '..'"))


def check_descending_path(errors: Errors, target: str, path: str) -> None:
    if target.startswith("/"):
        errors.append(invalid(path, target, "must be a relative path"))
    check_no_backsteps(errors, target, path)


# Pods


def check_pod_security(errors: Errors, spec: Object, path: str) -> None:
    context = spec.get("securityContext") or {}
    shares = spec.get("shareProcessNamespace")
    if not context and not shares:
        return
    for name, check in (("fsGroup", is_group_id), ("runAsUser", is_user_id), ("runAsGroup", is_group_id)):
        if name in context:
            check_texts(errors, f"{path}.{name}", context[name], check(context[name]))
    for index, group in enumerate(context.get("supplementalGroups", ())):
        check_texts(errors, f"{path}.supplementalGroups[{index}]", group, is_group_id(group))
    if shares and spec.get("hostPID"):
        detail = "ShareProcessNamespace and HostPID cannot both be enabled"
        errors.append(invalid(f"{path}.shareProcessNamespace", shares, detail))
    if "sysctls" in context:
        _check_sysctls(errors, context["sysctls"], spec, f"{path}.sysctls")
    _check_enum(errors, context, "fsGroupChangePolicy", ("Always", "OnRootMismatch"), path)
    _check_seccomp(errors, context.get("seccompProfile"), f"{path}.seccompProfile")
    check_windows_options(errors, context.get("windowsOptions"), f"{path}.windowsOptions")
    check_app_armor_profile(errors, context.get("appArmorProfile"), f"{path}.appArmorProfile")
    _check_enum(errors, context, "supplementalGroupsPolicy", ("Merge", "Strict"), path)
    # MountOption exists, but behind a gate that is off.
    _check_enum(errors, context, "seLinuxChangePolicy", ("Recursive",), path)


def _check_enum(errors: Errors, context: Object, name: str, known: Sequence[str], path: str) -> None:
    if name in context and context[name] not in known:
        errors.append(not_supported(f"{path}.{name}", Enum(context[name]), known))


def _check_sysctls(errors: Errors, sysctls: Sequence[Object], spec: Object, path: str) -> None:
    seen: set[str] = set()
    for index, sysctl in enumerate(sysctls):
        name, here = sysctl["name"], f"{path}[{index}].name"
        if not name:
            errors.append(required(here, ""))
        elif len(name) > 253 or not _is_sysctl(name):
            detail = f"must have at most 253 characters and match regex ^{_SYSCTL}$"
            errors.append(invalid(here, name, detail))
        elif name in seen:
            errors.append(duplicate(here, name))
        namespace = _sysctl_namespace(name)
        if spec.get("hostNetwork") and namespace == "net":
            errors.append(invalid(here, name, "may not be specified when 'hostNetwork' is true"))
        elif spec.get("hostIPC") and namespace == "ipc":
            errors.append(invalid(here, name, "may not be specified when 'hostIPC' is true"))
        seen.add(name)


def _sysctl_namespace(name: str) -> str:
    separator = re.search(r"[./]", name)
    if separator and separator[0] == "/":
        name = name.translate({ord("."): "/", ord("/"): "."})
    name = name.partition("*")[0]
    if name in _IPC_SYSCTLS or name.startswith("fs.mqueue."):
        return "ipc"
    return "net" if name.startswith("net.") else ""


# Containers


def check_container_security(errors: Errors, context: Object, path: str, *, host_users: bool) -> None:
    for name, check in (("runAsUser", is_user_id), ("runAsGroup", is_group_id)):
        if name in context:
            check_texts(errors, f"{path}.{name}", context[name], check(context[name]))
    if "procMount" in context:
        _check_enum(errors, context, "procMount", ("Default", "Unmasked"), path)
        if host_users and context["procMount"] == "Unmasked":
            detail = "`hostUsers` must be false to use `Unmasked`"
            errors.append(invalid(f"{path}.procMount", Enum("Unmasked"), detail))
    _check_seccomp(errors, context.get("seccompProfile"), f"{path}.seccompProfile")
    if context.get("allowPrivilegeEscalation") is False:
        if context.get("privileged"):
            detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
            errors.append(invalid(path, _internal_context(context), detail))
        for capability in context.get("capabilities", {}).get("add", ()):
            if capability == "CAP_SYS_ADMIN":
                detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
                errors.append(invalid(path, _internal_context(context), detail))
    check_windows_options(errors, context.get("windowsOptions"), f"{path}.windowsOptions")
    check_app_armor_profile(errors, context.get("appArmorProfile"), f"{path}.appArmorProfile")


# How the API prints a whole security context: every field of its internal type, in that order.
_INTERNAL_FIELDS: Final = {
    "Capabilities": ("Add", "Drop"),
    "Privileged": (),
    "SELinuxOptions": ("User", "Role", "Type", "Level"),
    "WindowsOptions": ("GMSACredentialSpecName", "GMSACredentialSpec", "RunAsUserName", "HostProcess"),
    "RunAsUser": (),
    "RunAsGroup": (),
    "RunAsNonRoot": (),
    "ReadOnlyRootFilesystem": (),
    "AllowPrivilegeEscalation": (),
    "ProcMount": (),
    "SeccompProfile": ("Type", "LocalhostProfile"),
    "AppArmorProfile": ("Type", "LocalhostProfile"),
}
_INTERNAL_ZERO: Final = {"User": "", "Role": "", "Type": "", "Level": ""}


def _internal_context(context: Object) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for name, parts in _INTERNAL_FIELDS.items():
        value = context.get(_api_name(name))
        if parts and value is not None:
            value = {part: value.get(_api_name(part), _INTERNAL_ZERO.get(part)) for part in parts}
        shown[name] = value
    return shown


def _api_name(name: str) -> str:
    if name.startswith("SELinux"):
        return f"seLinux{name[7:]}"
    return f"gmsa{name[4:]}" if name.startswith("GMSA") else name[0].lower() + name[1:]


# Profiles


def _check_seccomp(errors: Errors, profile: Object | None, path: str) -> None:
    if profile is None:
        return
    kind, local = profile["type"], profile.get("localhostProfile")
    if not kind:
        errors.append(required(f"{path}.type", "type is required when seccompProfile is set"))
    elif kind not in _PROFILE_TYPES:
        errors.append(not_supported(f"{path}.type", Enum(kind), _PROFILE_TYPES))
    if kind != "Localhost":
        if local is not None:
            shown = {"Type": kind, "LocalhostProfile": local}
            detail = "can only be set when seccomp type is Localhost"
            errors.append(invalid(f"{path}.localhostProfile", shown, detail))
    elif local is None:
        errors.append(required(f"{path}.localhostProfile", "must be set when seccomp type is Localhost"))
    else:
        check_descending_path(errors, local, f"{path}.localhostProfile")


def check_app_armor_profile(errors: Errors, profile: Object | None, path: str) -> None:
    if profile is None:
        return
    kind, local, here = profile["type"], profile.get("localhostProfile"), f"{path}.localhostProfile"
    if kind == "Localhost":
        if local is None or not local:
            errors.append(required(here, "must be set when AppArmor type is Localhost"))
        elif local != local.strip():
            errors.append(invalid(here, local, "must not be padded with whitespace"))
        if byte_length(local or "") > _MAX_PATH_BYTES:
            errors.append(too_long(here, _MAX_PATH_BYTES))
    elif kind in _PROFILE_TYPES:
        if local is not None:
            errors.append(invalid(here, Enum(local), "can only be set when AppArmor type is Localhost"))
    elif not kind:
        errors.append(required(f"{path}.type", "type is required when appArmorProfile is set"))
    else:
        errors.append(not_supported(f"{path}.type", Enum(kind), _PROFILE_TYPES))
