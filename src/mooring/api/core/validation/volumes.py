"""The rules for volumes: one source each, with what that source cannot do without."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from mooring.api.core.validation.claims import check_claim_template
from mooring.api.core.validation.containers import check_pull_policy
from mooring.api.core.validation.disks import DISK_CHECKS
from mooring.api.core.validation.env import VOLUME_FIELDS, check_field_reference, check_resource_reference
from mooring.api.core.validation.meta import check_dns_label
from mooring.api.core.validation.security import check_descending_path, check_no_backsteps
from mooring.kube.errors import Enum, FieldError, duplicate, forbidden, go_quote, invalid, not_supported, required
from mooring.kube.names import byte_length, is_dns1123_subdomain
from mooring.kube.quantities import parse_quantity

__all__ = ["check_host_path", "check_volumes"]

Object = Mapping[str, Any]
Errors = list[FieldError]
SourceCheck = Callable[[Errors, Object, str], None]

_HOST_PATH_TYPES: Final = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
_MODE_TEXT: Final = "must be a number between 0 and 0777 (octal), both inclusive"
_MAX_TOKEN_SECONDS: Final = 1 << 32


def check_volumes(errors: Errors, volumes: Sequence[Object], pod_name: str, path: str) -> dict[str, Object]:
    """Check all volumes and return the sound ones by name; only those can be mounted."""
    created = {f"{pod_name}-{volume['name']}" for volume in volumes if pod_name and "ephemeral" in volume}
    sound: dict[str, Object] = {}
    for index, volume in enumerate(volumes):
        here, name = f"{path}[{index}]", volume["name"]
        found: Errors = []
        _check_source(found, volume, pod_name, here)
        if name:
            check_dns_label(found, name, f"{here}.name")
        else:
            found.append(required(f"{here}.name", ""))
        if name in sound:
            found.append(duplicate(f"{here}.name", name))
        if found:
            errors += found
        else:
            sound[name] = volume
        claim = volume.get("persistentVolumeClaim", {}).get("claimName")
        if claim in created:
            detail = "must not reference a PVC that gets created for an ephemeral volume"
            errors.append(invalid(f"{here}.persistentVolumeClaim.claimName", claim, detail))
    return sound


def _check_source(errors: Errors, volume: Object, pod_name: str, path: str) -> None:
    given = [name for name in _SOURCES if name in volume]
    if not given:
        errors.append(required(path, "must specify a volume type"))
        return
    for position, name in enumerate(given):
        if position:
            shown = _REPEATED_NAMES.get(name, name)
            errors.append(forbidden(f"{path}.{shown}", "may not specify more than 1 volume type"))
        else:
            _SOURCES[name](errors, volume[name], f"{path}.{_CHECKED_NAMES.get(name, name)}")
        if name == "iscsi":
            _check_iscsi_name(errors, volume, path)
    if given[0] == "ephemeral" and pod_name and volume["name"]:
        claim = f"{pod_name}-{volume['name']}"
        for text in is_dns1123_subdomain(claim):
            errors.append(invalid(f"{path}.name", volume["name"], f"PVC name {go_quote(claim)}: {text}"))


def _check_iscsi_name(errors: Errors, volume: Object, path: str) -> None:
    source = volume["iscsi"]
    if "initiatorName" in source and byte_length(f"{volume['name']}:{source['targetPortal']}") > 64:
        detail = (
            "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters "
            "if iscsi.initiatorName is specified."
        )
        errors.append(invalid(f"{path}.name", volume["name"], detail))


# The API spells some sources differently in its complaints.
_REPEATED_NAMES: Final = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
_CHECKED_NAMES: Final = {"gcePersistentDisk": "persistentDisk"}


def _check_empty_dir(errors: Errors, source: Object, path: str) -> None:
    if "sizeLimit" in source and parse_quantity(source["sizeLimit"]).mantissa < 0:
        errors.append(forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity"))


def check_host_path(errors: Errors, source: Object, path: str) -> None:
    if not source["path"]:
        errors.append(required(f"{path}.path", ""))
        return
    check_no_backsteps(errors, source["path"], f"{path}.path")
    if "type" in source and source["type"] not in _HOST_PATH_TYPES:
        errors.append(not_supported(f"{path}.type", Enum(source["type"]), _HOST_PATH_TYPES))


def _check_secret(errors: Errors, source: Object, path: str) -> None:
    _check_named_items(errors, source, "secretName", path)


def _check_config_map(errors: Errors, source: Object, path: str) -> None:
    _check_named_items(errors, source, "name", path)


def _check_named_items(errors: Errors, source: Object, name: str, path: str) -> None:
    if not source.get(name):
        errors.append(required(f"{path}.{name}", ""))
    _check_mode(errors, source, "defaultMode", path)
    for index, item in enumerate(source.get("items", ())):
        _check_item(errors, item, f"{path}.items[{index}]")


def _check_item(errors: Errors, item: Object, path: str) -> None:
    for name in ("key", "path"):
        if not item[name]:
            errors.append(required(f"{path}.{name}", ""))
    _check_unreserved_path(errors, item["path"], f"{path}.path")
    _check_mode(errors, item, "mode", path)


def _check_mode(errors: Errors, owner: Object, name: str, path: str) -> None:
    if name in owner and not 0 <= owner[name] <= 0o777:
        errors.append(invalid(f"{path}.{name}", owner[name], _MODE_TEXT))


def _check_unreserved_path(errors: Errors, target: str, path: str) -> None:
    check_descending_path(errors, target, path)
    if target.startswith("..") and not target.startswith("../"):
        errors.append(invalid(path, target, "must not start with '..'"))


def _check_claim(errors: Errors, source: Object, path: str) -> None:
    if not source["claimName"]:
        errors.append(required(f"{path}.claimName", ""))


def _check_downward(errors: Errors, source: Object, path: str) -> None:
    _check_mode(errors, source, "defaultMode", path)
    for item in source.get("items", ()):
        _check_downward_file(errors, item, path)


def _check_downward_file(errors: Errors, item: Object, path: str) -> None:
    if not item["path"]:
        errors.append(required(f"{path}.path", ""))
    _check_unreserved_path(errors, item["path"], f"{path}.path")
    if "fieldRef" in item:
        check_field_reference(errors, item["fieldRef"], VOLUME_FIELDS, f"{path}.fieldRef")
        if "resourceFieldRef" in item:
            detail = "fieldRef and resourceFieldRef can not be specified simultaneously"
            errors.append(invalid(path, "resource", detail))
    elif "resourceFieldRef" in item:
        check_resource_reference(errors, item["resourceFieldRef"], f"{path}.resourceFieldRef", in_volume=True)
    else:
        errors.append(required(path, "one of fieldRef and resourceFieldRef is required"))
    _check_mode(errors, item, "mode", path)


def _check_projected(errors: Errors, source: Object, path: str) -> None:
    _check_mode(errors, source, "defaultMode", path)
    taken: set[str] = set()
    for index, projection in enumerate(source["sources"] or ()):
        here = f"{path}.sources[{index}]"
        for name in ("secret", "configMap"):
            if name in projection:
                _check_projected_items(errors, projection[name], taken, path, f"{here}.{name}")
        if "downwardAPI" in projection:
            for item in projection["downwardAPI"].get("items", ()):
                _check_downward_file(errors, item, f"{here}.downwardAPI")
                _check_taken(errors, item["path"], item["path"], taken, path)
        if "serviceAccountToken" in projection:
            _check_token(errors, projection["serviceAccountToken"], path, f"{here}.serviceAccountToken")
        if len(projection) > 1:
            errors.append(forbidden(here, "may not specify more than 1 volume type per source"))


def _check_projected_items(errors: Errors, source: Object, taken: set[str], volume_path: str, path: str) -> None:
    name = source.get("name", "")
    if not name:
        errors.append(required(f"{path}.name", ""))
    for index, item in enumerate(source.get("items", ())):
        _check_item(errors, item, f"{path}.items[{index}]")
        _check_taken(errors, item["path"], name, taken, volume_path)


def _check_taken(errors: Errors, target: str, shown: str, taken: set[str], path: str) -> None:
    if target in taken:
        errors.append(invalid(path, shown, "conflicting duplicate paths"))
    elif target:
        taken.add(target)


def _check_token(errors: Errors, token: Object, volume_path: str, path: str) -> None:
    seconds = token.get("expirationSeconds", 0)
    if seconds < 600:
        detail = "may not specify a duration less than 10 minutes"
        errors.append(invalid(f"{path}.expirationSeconds", seconds, detail))
    if seconds > _MAX_TOKEN_SECONDS:
        detail = "may not specify a duration larger than 2^32 seconds"
        errors.append(invalid(f"{path}.expirationSeconds", seconds, detail))
    if not token["path"]:
        errors.append(required(f"{volume_path}.path", ""))
    else:
        _check_unreserved_path(errors, token["path"], f"{volume_path}.path")


def _check_ephemeral(errors: Errors, source: Object, path: str) -> None:
    if "volumeClaimTemplate" in source:
        check_claim_template(errors, source["volumeClaimTemplate"], f"{path}.volumeClaimTemplate")
    else:
        errors.append(required(f"{path}.volumeClaimTemplate", ""))


def _check_image(errors: Errors, source: Object, path: str) -> None:
    if not source.get("reference"):
        errors.append(required(f"{path}.reference", ""))
    check_pull_policy(errors, source.get("pullPolicy", ""), f"{path}.pullPolicy")


# In the order in which the API looks for them: the first one found is the source, the others are too many.
_SOURCES: Final[dict[str, SourceCheck]] = {
    "emptyDir": _check_empty_dir,
    "hostPath": check_host_path,
    "gitRepo": DISK_CHECKS["gitRepo"],
    "gcePersistentDisk": DISK_CHECKS["gcePersistentDisk"],
    "awsElasticBlockStore": DISK_CHECKS["awsElasticBlockStore"],
    "secret": _check_secret,
    "nfs": DISK_CHECKS["nfs"],
    "iscsi": DISK_CHECKS["iscsi"],
    "glusterfs": DISK_CHECKS["glusterfs"],
    "flocker": DISK_CHECKS["flocker"],
    "persistentVolumeClaim": _check_claim,
    "rbd": DISK_CHECKS["rbd"],
    "cinder": DISK_CHECKS["cinder"],
    "cephfs": DISK_CHECKS["cephfs"],
    "quobyte": DISK_CHECKS["quobyte"],
    "downwardAPI": _check_downward,
    "fc": DISK_CHECKS["fc"],
    "flexVolume": DISK_CHECKS["flexVolume"],
    "configMap": _check_config_map,
    "azureFile": DISK_CHECKS["azureFile"],
    "vsphereVolume": DISK_CHECKS["vsphereVolume"],
    "photonPersistentDisk": DISK_CHECKS["photonPersistentDisk"],
    "portworxVolume": DISK_CHECKS["portworxVolume"],
    "azureDisk": DISK_CHECKS["azureDisk"],
    "storageos": DISK_CHECKS["storageos"],
    "projected": _check_projected,
    "scaleIO": DISK_CHECKS["scaleIO"],
    "csi": DISK_CHECKS["csi"],
    "ephemeral": _check_ephemeral,
    "image": _check_image,
}
