"""The rules for volumes that live on some storage system, old and new."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from mooring.api.core.validation.meta import check_dns_label, check_texts
from mooring.api.core.validation.security import check_descending_path
from mooring.kube.errors import Enum, FieldError, invalid, not_supported, required, too_long
from mooring.kube.names import byte_length, is_dns1123_subdomain

__all__ = ["DISK_CHECKS", "check_driver"]

Object = Mapping[str, Any]
Errors = list[FieldError]
SourceCheck = Callable[[Errors, Object, str], None]

_ISCSI_NAMES: Final = {
    "iqn": re.compile(r"iqn\.[0-9]{4}-[0-9]{2}\.([0-9A-Za-z.-]+)(:[^,;*&$|\t\n\f\r ]+)\Z").search,
    "eui": re.compile(r"eui.[0-9A-Za-z]{16}").fullmatch,
    "naa": re.compile(r"naa.[0-9A-Za-z]{32}").fullmatch,
}
_CACHING_MODES: Final = ("None", "ReadOnly", "ReadWrite")
_AZURE_KINDS: Final = ("Dedicated", "Managed", "Shared")
_AZURE_MANAGED: Final = (
    "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
)
_AZURE_BLOB: Final = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
_host_port = re.compile(r"[^:\[\]]*:[^:\[\]]*|\[[^\[\]]*\]:[^:\[\]]*").fullmatch


def _requiring(*names: str) -> SourceCheck:
    def check(errors: Errors, source: Object, path: str) -> None:
        errors += [required(f"{path}.{name}", "") for name in names if not source.get(name)]

    return check


def _check_git_repo(errors: Errors, source: Object, path: str) -> None:
    if not source["repository"]:
        errors.append(required(f"{path}.repository", ""))
    check_descending_path(errors, source.get("directory", ""), f"{path}.directory")


def _partitioned(name: str) -> SourceCheck:
    def check(errors: Errors, source: Object, path: str) -> None:
        if not source[name]:
            errors.append(required(f"{path}.{name}", ""))
        partition = source.get("partition", 0)
        if not 0 <= partition <= 255:
            errors.append(invalid(f"{path}.partition", partition, "must be between 1 and 255, inclusive"))

    return check


def _check_nfs(errors: Errors, source: Object, path: str) -> None:
    for name in ("server", "path"):
        if not source[name]:
            errors.append(required(f"{path}.{name}", ""))
    if not source["path"].startswith("/"):
        errors.append(invalid(f"{path}.path", source["path"], "must be an absolute path"))


def _check_iscsi(errors: Errors, source: Object, path: str) -> None:
    if not source["targetPortal"]:
        errors.append(required(f"{path}.targetPortal", ""))
    if not source["iqn"]:
        errors.append(required(f"{path}.iqn", ""))
    else:
        _check_iscsi_name(errors, source["iqn"], f"{path}.iqn")
    if not 0 <= source["lun"] <= 255:
        errors.append(invalid(f"{path}.lun", source["lun"], "must be between 0 and 255, inclusive"))
    if (source.get("chapAuthDiscovery") or source.get("chapAuthSession")) and "secretRef" not in source:
        errors.append(required(f"{path}.secretRef", ""))
    if "initiatorName" in source:
        _check_iscsi_name(errors, source["initiatorName"], f"{path}.initiatorname")


def _check_iscsi_name(errors: Errors, name: str, path: str) -> None:
    matches = _ISCSI_NAMES.get(name[:3])
    if matches is None:
        errors.append(invalid(path, name, "must be valid format starting with iqn, eui, or naa"))
    elif not matches(name):
        errors.append(invalid(path, name, "must be valid format"))


def _check_flocker(errors: Errors, source: Object, path: str) -> None:
    name, uuid = source.get("datasetName", ""), source.get("datasetUUID", "")
    if not name and not uuid:
        errors.append(required(path, "one of datasetName and datasetUUID is required"))
    if name and uuid:
        errors.append(invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously"))
    if "/" in name:
        errors.append(invalid(f"{path}.datasetName", name, "must not contain '/'"))


def _check_cinder(errors: Errors, source: Object, path: str) -> None:
    if not source["volumeID"]:
        errors.append(required(f"{path}.volumeID", ""))
    _check_secret_name(errors, source, path)


def _check_secret_name(errors: Errors, source: Object, path: str) -> None:
    if "secretRef" in source and not source["secretRef"].get("name"):
        errors.append(required(f"{path}.secretRef.name", ""))


def _check_quobyte(errors: Errors, source: Object, path: str) -> None:
    pairs = "must be a host:port pair or multiple pairs separated by commas"
    registry = source["registry"]
    if not registry:
        errors.append(required(f"{path}.registry", pairs))
    elif byte_length(source.get("tenant", "")) >= 65:
        errors.append(required(f"{path}.tenant", "must be a UUID and may not exceed a length of 64 characters"))
    else:
        errors += [invalid(f"{path}.registry", registry, pairs) for pair in registry.split(",") if not _host_port(pair)]
    if not source["volume"]:
        errors.append(required(f"{path}.volume", ""))


def _check_fc(errors: Errors, source: Object, path: str) -> None:
    names, ids = source.get("targetWWNs"), source.get("wwids")
    if not names and not ids:
        errors.append(required(f"{path}.targetWWNs", "must specify either targetWWNs or wwids, but not both"))
    if names and ids:
        detail = "targetWWNs and wwids can not be specified simultaneously"
        errors.append(invalid(f"{path}.targetWWNs", names, detail))
    if names:
        lun = source.get("lun")
        if lun is None:
            errors.append(required(f"{path}.lun", "lun is required if targetWWNs is specified"))
        elif not 0 <= lun <= 255:
            errors.append(invalid(f"{path}.lun", lun, "must be between 0 and 255, inclusive"))


def _check_flex(errors: Errors, source: Object, path: str) -> None:
    if not source["driver"]:
        errors.append(required(f"{path}.driver", ""))
    for key in sorted(source.get("options", ())):
        namespace = f".{key.partition('/')[0].lower()}"
        if namespace.endswith((".kubernetes.io", ".k8s.io")):
            detail = "kubernetes.io and k8s.io namespaces are reserved"
            errors.append(invalid(f"{path}.options[{key}]", key, detail))


def _check_azure_disk(errors: Errors, source: Object, path: str) -> None:
    for name in ("diskName", "diskURI"):
        if not source[name]:
            errors.append(required(f"{path}.{name}", ""))
    for name, known in (("cachingMode", _CACHING_MODES), ("kind", _AZURE_KINDS)):
        if name in source and source[name] not in known:
            errors.append(not_supported(f"{path}.{name}", Enum(source[name]), known))
    if "kind" in source:
        managed = source["kind"] == "Managed"
        if not source["diskURI"].startswith("/subscriptions/" if managed else "https://"):
            form = _AZURE_MANAGED if managed else _AZURE_BLOB
            errors.append(not_supported(f"{path}.diskURI", source["diskURI"], (form,)))


def _check_storage_os(errors: Errors, source: Object, path: str) -> None:
    if not source.get("volumeName"):
        errors.append(required(f"{path}.volumeName", ""))
    for name in ("volumeName", "volumeNamespace"):
        if source.get(name):
            check_dns_label(errors, source[name], f"{path}.{name}")
    _check_secret_name(errors, source, path)


def check_driver(errors: Errors, driver: str, path: str) -> None:
    if not driver:
        errors.append(required(path, ""))
        return
    if byte_length(driver) > 63:
        errors.append(too_long(path, 63))
    check_texts(errors, path, driver, is_dns1123_subdomain(driver.lower()))


def _check_csi(errors: Errors, source: Object, path: str) -> None:
    check_driver(errors, source["driver"], f"{path}.driver")
    if "nodePublishSecretRef" in source:
        name = source["nodePublishSecretRef"].get("name", "")
        if not name:
            errors.append(required(f"{path}.nodePublishSecretRef.name", ""))
        else:
            check_texts(errors, f"{path}.name", name, is_dns1123_subdomain(name))


DISK_CHECKS: Final[dict[str, SourceCheck]] = {
    "gitRepo": _check_git_repo,
    "gcePersistentDisk": _partitioned("pdName"),
    "awsElasticBlockStore": _partitioned("volumeID"),
    "nfs": _check_nfs,
    "iscsi": _check_iscsi,
    "glusterfs": _requiring("endpoints", "path"),
    "flocker": _check_flocker,
    "rbd": _requiring("monitors", "image"),
    "cinder": _check_cinder,
    "cephfs": _requiring("monitors"),
    "quobyte": _check_quobyte,
    "fc": _check_fc,
    "flexVolume": _check_flex,
    "azureFile": _requiring("secretName", "shareName"),
    "vsphereVolume": _requiring("volumePath"),
    "photonPersistentDisk": _requiring("pdID"),
    "portworxVolume": _requiring("volumeID"),
    "azureDisk": _check_azure_disk,
    "storageos": _check_storage_os,
    "scaleIO": _requiring("gateway", "system", "volumeName"),
    "csi": _check_csi,
}
