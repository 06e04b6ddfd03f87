"""The rules that depend on the operating system of a pod, and those for Windows options."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from mooring.api.core.validation.meta import check_texts
from mooring.kube.errors import Enum, FieldError, forbidden, invalid, not_supported, required
from mooring.kube.names import byte_length, is_dns1123_subdomain

__all__ = ["all_containers", "check_host_process", "check_os", "check_windows_options"]

Object = Mapping[str, Any]
Errors = list[FieldError]

_CREDENTIAL_LIMIT_KIB: Final = 64
_LABEL: Final = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_control = re.compile(r"[\x00-\x1f\x7f]").search
_net_bios = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}').fullmatch
_dns_domain = re.compile(rf"{_LABEL}(?:\.{_LABEL})*").fullmatch
_bad_user = re.compile(r'["/\\:;|=,+*?<>@\[\]]').search
_dots_and_spaces = re.compile("[. ]+").fullmatch

# What a Windows pod cannot have: names in the spec, in its security context, in those of its containers.
_POD_FORBIDDEN: Final = (
    "securityContext.appArmorProfile",
    "securityContext.seLinuxOptions",
    "hostUsers",
    "hostPID",
    "hostIPC",
    "securityContext.seccompProfile",
    "securityContext.fsGroup",
    "securityContext.fsGroupChangePolicy",
    "securityContext.sysctls",
    "shareProcessNamespace",
    "securityContext.runAsUser",
    "securityContext.runAsGroup",
    "securityContext.supplementalGroups",
    "securityContext.supplementalGroupsPolicy",
    "securityContext.seLinuxChangePolicy",
)
_CONTAINER_FORBIDDEN: Final = (
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
)


def all_containers(spec: Object, path: str) -> Iterator[tuple[Object, str]]:
    """Every container with its path, in the order in which the API visits them."""
    for name in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(name) or ()):
            yield container, f"{path}.{name}[{index}]"


def check_windows_options(errors: Errors, options: Object | None, path: str) -> None:
    if options is None:
        return
    if "gmsaCredentialSpecName" in options:
        name = options["gmsaCredentialSpecName"]
        check_texts(errors, f"{path}.gmsaCredentialSpecName", Enum(name), is_dns1123_subdomain(name))
    if "gmsaCredentialSpec" in options:
        spec, here = options["gmsaCredentialSpec"], f"{path}.gmsaCredentialSpec"
        if not spec:
            errors.append(invalid(here, Enum(spec), "gmsaCredentialSpec cannot be an empty string"))
        elif byte_length(spec) > _CREDENTIAL_LIMIT_KIB * 1024:
            detail = f"gmsaCredentialSpec size must be under {_CREDENTIAL_LIMIT_KIB} KiB"
            errors.append(invalid(here, Enum(spec), detail))
    if "runAsUserName" in options:
        value = options["runAsUserName"]
        for text in _user_name_texts(value):
            errors.append(invalid(f"{path}.runAsUserName", Enum(value), text))


def _user_name_texts(value: str) -> list[str]:
    if not value:
        return ["runAsUserName cannot be an empty string"]
    if _control(value):
        return ["runAsUserName cannot contain control characters"]
    if value.count("\\") > 1:
        return ["runAsUserName cannot contain more than one backslash"]
    domain, backslash, user = value.rpartition("\\")
    texts = []
    if byte_length(domain) >= 256:
        texts.append("runAsUserName's Domain length must be under 256 characters")
    if backslash and not _net_bios(domain) and not _dns_domain(domain):
        texts.append("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
    if not user:
        texts.append("runAsUserName's User cannot be empty")
    elif byte_length(user) > 104:
        texts.append("runAsUserName's User length must not be longer than 104 characters")
    if _dots_and_spaces(user):
        texts.append("runAsUserName's User cannot contain only periods or spaces")
    if _bad_user(user):
        texts.append("runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]")
    return texts


def check_host_process(errors: Errors, spec: Object, path: str) -> None:
    """A pod is made of host process containers altogether or not at all."""
    of_pod = _host_process(spec)
    total = found = 0
    for container, here in all_containers(spec, path):
        of_container = _host_process(container)
        if of_pod is not None and of_container is not None and of_pod != of_container:
            shown = "true" if of_pod else "false"
            detail = f"pod hostProcess value must be identical if both are specified, was {shown}"
            errors.append(invalid(f"{here}.securityContext.windowsOptions.hostProcess", of_container, detail))
        total += 1
        found += bool(of_pod if of_container is None else of_container)
    if not found:
        return
    if found != total:
        detail = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        errors.append(invalid(path, "", detail))
    if not spec.get("hostNetwork"):
        detail = "hostNetwork must be true if pod contains any hostProcess containers"
        errors.append(invalid(f"{path}.hostNetwork", False, detail))


def _host_process(owner: Object) -> bool | None:
    options = (owner.get("securityContext") or {}).get("windowsOptions")
    return options.get("hostProcess") if options else None


def check_os(errors: Errors, spec: Object, path: str) -> None:
    name = spec["os"]["name"]
    if not name:
        errors.append(required(f"{path}.os.name", ""))
    elif name == "linux":
        _check_linux(errors, spec, path)
    elif name == "windows":
        _check_windows(errors, spec, path)
    else:
        errors.append(not_supported(f"{path}.os", Enum(name), ("linux", "windows")))


def _check_linux(errors: Errors, spec: Object, path: str) -> None:
    for owner, here in ((spec, path), *all_containers(spec, path)):
        if "windowsOptions" in (owner.get("securityContext") or {}):
            detail = "windows options cannot be set for a linux pod"
            errors.append(forbidden(f"{here}.securityContext.windowsOptions", detail))


def _check_windows(errors: Errors, spec: Object, path: str) -> None:
    context = spec.get("securityContext") or {}
    for name in _POD_FORBIDDEN:
        _, dot, inner = name.partition(".")
        if inner in context if dot else name in spec:
            errors.append(forbidden(f"{path}.{name}", "cannot be set for a windows pod"))
    for container, here in all_containers(spec, path):
        context = container.get("securityContext") or {}
        for name in _CONTAINER_FORBIDDEN:
            if name in context:
                errors.append(forbidden(f"{here}.securityContext.{name}", "cannot be set for a windows pod"))
