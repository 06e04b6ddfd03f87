"""VolumeAttachments: which volume is to be attached to which node, and what its driver says of it.

Rules stand in the API's order.
"""

from typing import Final

from mooring.api.core.pod_templates import check_immutable
from mooring.api.core.validation.disks import check_driver
from mooring.api.core.validation.meta import check_texts
from mooring.api.core.volumes import check_access_modes, check_csi_source
from mooring.kube.errors import FieldError, forbidden, invalid, required, too_long
from mooring.kube.names import byte_length, is_dns1123_subdomain
from mooring.kube.objects import Object

__all__ = ["validate_attachment", "validate_attachment_status", "validate_attachment_update"]

Errors = list[FieldError]

_MAX_METADATA_BYTES: Final = 256 * 1024
_MAX_MESSAGE_BYTES: Final = 1024
_ONE_SOURCE: Final = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
_INLINE: Final = "in the context of inline volumes"


def validate_attachment(obj: Object) -> list[FieldError]:
    errors = _problems(obj)
    spec = obj["spec"]
    check_driver(errors, spec["attacher"], "spec.attacher")
    name = spec["source"].get("persistentVolumeName")
    if name is not None:
        check_texts(errors, "spec.source.persistentVolumeName", name, is_dns1123_subdomain(name))
    return errors


def _problems(obj: Object) -> Errors:
    """What is wrong with any attachment; new ones are looked at more closely."""
    errors: Errors = []
    spec = obj["spec"]
    if not spec["attacher"]:
        errors.append(required("spec.attacher", ""))
    _check_source(errors, spec["source"])
    check_texts(errors, "spec.nodeName", spec["nodeName"], is_dns1123_subdomain(spec["nodeName"]))
    _check_status(errors, obj["status"])
    return errors


def _check_source(errors: Errors, source: Object) -> None:
    path, name, inline = "spec.source", source.get("persistentVolumeName"), source.get("inlineVolumeSpec")
    if name is None and inline is None:
        errors.append(required(path, _ONE_SOURCE))
    elif name is not None and inline is not None:
        errors.append(forbidden(path, _ONE_SOURCE))
    elif inline is not None:
        _check_inline(errors, inline, f"{path}.inlineVolumeSpec")
    elif not name:
        errors.append(required(f"{path}.persistentVolumeName", "must specify non empty persistentVolumeName"))


def _check_inline(errors: Errors, spec: Object, path: str) -> None:
    """Volumes that pods name without a PersistentVolume; drivers took them over from Kubernetes itself."""
    for name in ("claimRef", "capacity"):
        if spec.get(name):
            errors.append(forbidden(f"{path}.{name}", f"may not be specified {_INLINE}"))
    if "csi" not in spec:
        errors.append(required(f"{path}.csi", f"has to be specified {_INLINE}"))
    check_access_modes(errors, spec, path)
    if spec.get("persistentVolumeReclaimPolicy", "Retain") != "Retain":
        errors.append(forbidden(f"{path}.persistentVolumeReclaimPolicy", f"may only be Retain {_INLINE}"))
    if "nodeAffinity" in spec:
        errors.append(forbidden(f"{path}.nodeAffinity", f"may not be specified {_INLINE}"))
    if "csi" in spec:
        check_csi_source(errors, spec["csi"], f"{path}.csi")
    else:
        errors.append(required(path, "must specify a volume type"))


def _check_status(errors: Errors, status: Object) -> None:
    metadata = status.get("attachmentMetadata", {})
    if sum(byte_length(key) + byte_length(value) for key, value in metadata.items()) > _MAX_METADATA_BYTES:
        errors.append(too_long("status.attachmentMetadata", _MAX_METADATA_BYTES))
    for name in ("attachError", "detachError"):
        error = status.get(name, {})
        if byte_length(error.get("message", "")) > _MAX_MESSAGE_BYTES:
            # The limit in the words is the real server's, not the one that holds.
            errors.append(too_long(f"status.{name}.message", _MAX_METADATA_BYTES))
        if error.get("errorCode", 0) < 0:
            detail = "must be between 0 and 2147483647, inclusive"
            errors.append(invalid(f"status.{name}.errorCode", error["errorCode"], detail))


def validate_attachment_update(new: Object, old: Object) -> list[FieldError]:
    errors = _problems(new)
    check_immutable(errors, _shown_spec(new["spec"]), _shown_spec(old["spec"]), "spec")
    return errors


def _shown_spec(spec: Object) -> Object:
    """As the real server shows it: by the names of its own type."""
    source = spec["source"]
    shown = {
        "PersistentVolumeName": source.get("persistentVolumeName"),
        "InlineVolumeSpec": source.get("inlineVolumeSpec"),
    }
    return {"Attacher": spec["attacher"], "Source": shown, "NodeName": spec["nodeName"]}


def validate_attachment_status(new: Object, old: Object) -> list[FieldError]:
    return _problems(new)
