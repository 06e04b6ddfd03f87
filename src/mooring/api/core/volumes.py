"""PersistentVolumes and claims on them: what the API server adds, and what it says about them.

Rules stand in the API's order.
"""

from collections.abc import Callable
from posixpath import normpath
from typing import Final

from mooring.api.core.defaults.spec import default_volume_source, rounded
from mooring.api.core.pod_templates import check_immutable
from mooring.api.core.validation.affinity import check_node_selector
from mooring.api.core.validation.claims import check_claim_spec
from mooring.api.core.validation.disks import DISK_CHECKS, check_driver
from mooring.api.core.validation.meta import check_label_key, check_texts
from mooring.api.core.validation.security import check_no_backsteps
from mooring.api.core.validation.volumes import check_host_path
from mooring.kube.errors import Enum, FieldError, forbidden, invalid, not_supported, required
from mooring.kube.names import is_dns1123_label, is_dns1123_subdomain
from mooring.kube.objects import Object
from mooring.kube.quantities import parse_quantity

__all__ = [
    "check_access_modes",
    "check_csi_source",
    "default_claim",
    "default_storage_status",
    "default_volume",
    "normalize_sources",
    "prepare_claim",
    "prepare_claim_update",
    "prepare_volume",
    "prepare_volume_status",
    "validate_claim",
    "validate_claim_status",
    "validate_claim_update",
    "validate_volume",
    "validate_volume_update",
]

Errors = list[FieldError]

_ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_VOLUME_MODES: Final = ("Block", "Filesystem")
_GROWING: Final = (
    *("ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible"),
    "NodeResizePending",
)
_RECLAIM_POLICIES: Final = ("Delete", "Recycle", "Retain")
_SNAPSHOT: Final = ("snapshot.storage.k8s.io", "VolumeSnapshot")
_BETA_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
_NOT_SOURCES: Final = frozenset(
    {
        *("capacity", "accessModes", "claimRef", "persistentVolumeReclaimPolicy", "storageClassName"),
        *("mountOptions", "volumeMode", "nodeAffinity", "volumeAttributesClassName"),
    }
)


# Volumes


def default_storage_status(obj: Object) -> None:
    """Of volumes and claims alike."""
    status = obj["status"]
    status["phase"] = status.get("phase") or "Pending"
    for name in ("capacity", "allocatedResources"):
        if name in status:
            status[name] = rounded(status[name])


def default_volume(obj: Object) -> None:
    spec = obj["spec"]
    default_storage_status(obj)
    spec["persistentVolumeReclaimPolicy"] = spec.get("persistentVolumeReclaimPolicy") or "Retain"
    spec.setdefault("volumeMode", "Filesystem")
    if "capacity" in spec:
        spec["capacity"] = rounded(spec["capacity"])
    for name in _SOURCES:
        if name in spec:
            default_volume_source(name, spec[name])


def prepare_volume(obj: Object, now: str) -> None:
    obj["status"] = {"phase": "Pending", "lastPhaseTransitionTime": now}


def prepare_volume_status(new: Object, old: Object, now: str) -> None:
    """Tell since when a volume has been in its phase, unless the client does."""
    status, was = new["status"], old["status"]
    since = was.get("lastPhaseTransitionTime")
    if status.get("phase") == was.get("phase"):
        if since and "lastPhaseTransitionTime" not in status:
            new["status"] = {**status, "lastPhaseTransitionTime": since}
    elif status.get("lastPhaseTransitionTime") in (None, since):
        new["status"] = {**status, "lastPhaseTransitionTime": now}


def validate_volume(obj: Object) -> list[FieldError]:
    errors: Errors = []
    spec = obj["spec"]
    check_access_modes(errors, spec, "spec")
    _check_capacity(errors, spec.get("capacity", {}))
    policy = spec["persistentVolumeReclaimPolicy"]
    if policy not in _RECLAIM_POLICIES:
        errors.append(not_supported("spec.persistentVolumeReclaimPolicy", Enum(policy), _RECLAIM_POLICIES))
    if "nodeAffinity" in spec:
        if "required" in spec["nodeAffinity"]:
            check_node_selector(errors, spec["nodeAffinity"]["required"], "spec.nodeAffinity.required")
        else:
            errors.append(required("spec.nodeAffinity.required", "must specify required node constraints"))
    _check_sources(errors, spec)
    if "hostPath" in spec and normpath(spec["hostPath"]["path"] or ".") == "/" and policy == "Recycle":
        path = "spec.persistentVolumeReclaimPolicy"
        errors.append(forbidden(path, "may not be 'recycle' for a hostPath mount of '/'"))
    if name := spec.get("storageClassName"):
        check_texts(errors, "spec.storageClassName", name, is_dns1123_subdomain(name))
    if spec["volumeMode"] not in _VOLUME_MODES:
        errors.append(not_supported("spec.volumeMode", Enum(spec["volumeMode"]), _VOLUME_MODES))
    _check_attributes_class(errors, spec)
    return errors


def check_access_modes(errors: Errors, spec: Object, path: str) -> None:
    modes = spec.get("accessModes", ())
    if not modes:
        errors.append(required(f"{path}.accessModes", ""))
    for mode in modes:
        if mode not in _ACCESS_MODES:
            errors.append(not_supported(f"{path}.accessModes", Enum(mode), _ACCESS_MODES))
    if "ReadWriteOncePod" in modes and any(mode in _ACCESS_MODES and mode != "ReadWriteOncePod" for mode in modes):
        errors.append(forbidden(f"{path}.accessModes", "may not use ReadWriteOncePod with other access modes"))


def _check_capacity(errors: Errors, capacity: Object) -> None:
    if not capacity:
        errors.append(required("spec.capacity", ""))
    if list(capacity) != ["storage"]:
        errors.append(not_supported("spec.capacity", capacity or None, ("storage",)))
    for name in sorted(capacity):
        quantity = parse_quantity(capacity[name])
        if quantity.value < 0:
            errors.append(invalid(f"spec.capacity[{name}]", quantity.value, "must be a valid resource quantity"))
        if quantity.mantissa <= 0:
            errors.append(invalid(f"spec.capacity[{name}]", str(quantity), "must be greater than zero"))


def _check_sources(errors: Errors, spec: Object) -> None:
    found = 0
    for name, (shown, check) in _SOURCES.items():
        if name not in spec:
            continue
        if found and name != "flexVolume":
            errors.append(forbidden(f"spec.{name}", "may not specify more than 1 volume type"))
            continue
        found += 1
        check(errors, spec[name], f"spec.{shown}")
        if name == "local" and "nodeAffinity" not in spec:
            errors.append(required("spec.nodeAffinity", "Local volume requires node affinity"))
    if not found:
        errors.append(required("spec", "must specify a volume type"))


def _check_attributes_class(errors: Errors, spec: Object) -> None:
    name, path = spec.get("volumeAttributesClassName"), "spec.volumeAttributesClassName"
    if name is None:
        return
    if name:
        check_texts(errors, path, name, is_dns1123_subdomain(name))
    else:
        errors.append(required(path, "an empty string is disallowed"))
    if "csi" not in spec:
        errors.append(required("spec.csi", "has to be specified when using volumeAttributesClassName"))


def check_csi_source(errors: Errors, source: Object, path: str) -> None:
    check_driver(errors, source["driver"], f"{path}.driver")
    if not source["volumeHandle"]:
        errors.append(required(f"{path}.volumeHandle", ""))
    references = ("controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef")
    for name in (*references, "nodeExpandSecretRef"):
        if name in source:
            _check_secret_reference(errors, source[name], f"{path}.{name}")


def _check_secret_reference(errors: Errors, reference: Object, path: str) -> None:
    for name, rule in (("name", is_dns1123_subdomain), ("namespace", is_dns1123_label)):
        value = reference.get(name, "")
        if value:
            check_texts(errors, f"{path}.{name}", value, rule(value))
        else:
            errors.append(required(f"{path}.{name}", ""))


def _check_local(errors: Errors, source: Object, path: str) -> None:
    if source["path"]:
        check_no_backsteps(errors, source["path"], f"{path}.path")
    else:
        errors.append(required(f"{path}.path", ""))


def _check_azure_file(errors: Errors, source: Object, path: str) -> None:
    errors += [required(f"{path}.{name}", "") for name in ("secretName", "shareName") if not source[name]]
    if source["secretNamespace"] == "":
        errors.append(required(f"{path}.secretNamespace", ""))


SourceCheck = Callable[[Errors, Object, str], None]
# In the API's order, with the names that errors inside them have.
_SOURCES: Final[dict[str, tuple[str, SourceCheck]]] = {
    "hostPath": ("hostPath", check_host_path),
    "gcePersistentDisk": ("persistentDisk", DISK_CHECKS["gcePersistentDisk"]),
    **{
        name: (name, DISK_CHECKS[name])
        for name in ("awsElasticBlockStore", "glusterfs", "flocker", "nfs", "rbd", "quobyte", "cephfs", "iscsi")
    },
    **{name: (name, DISK_CHECKS[name]) for name in ("cinder", "fc", "flexVolume")},
    "azureFile": ("azureFile", _check_azure_file),
    **{
        name: (name, DISK_CHECKS[name])
        for name in ("vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk", "scaleIO")
    },
    "local": ("local", _check_local),
    "storageos": ("storageos", DISK_CHECKS["storageos"]),
    "csi": ("csi", check_csi_source),
}


def validate_volume_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    spec, was = new["spec"], old["spec"]
    sources, were = ({k: v for k, v in each.items() if k not in _NOT_SOURCES} for each in (spec, was))
    if "csi" in sources and "controllerExpandSecretRef" not in were.get("csi", {}):
        kept = {k: v for k, v in sources["csi"].items() if k != "controllerExpandSecretRef"}
        sources = {**sources, "csi": kept}
    if sources != were:
        changed = sorted(name for name in sources.keys() | were.keys() if sources.get(name) != were.get(name))
        detail = f"spec.persistentvolumesource is immutable after creation\nchanged: {', '.join(changed)}"
        errors.append(forbidden("spec.persistentvolumesource", detail))
    check_immutable(errors, Enum(spec["volumeMode"]), was["volumeMode"], "volumeMode")
    if "nodeAffinity" in was and spec.get("nodeAffinity") != was["nodeAffinity"]:
        detail = "field is immutable, except for updating from beta label to GA"
        errors.append(invalid("nodeAffinity", spec.get("nodeAffinity"), detail))
    if "volumeAttributesClassName" in was and "volumeAttributesClassName" not in spec:
        detail = "update from non-nil value to nil is forbidden"
        errors.append(forbidden("spec.volumeAttributesClassName", detail))
    return errors


# Claims


def default_claim(obj: Object) -> None:
    default_storage_status(obj)
    spec = obj["spec"]
    spec.setdefault("volumeMode", "Filesystem")
    for name, amounts in spec["resources"].items():
        spec["resources"][name] = rounded(amounts)


def prepare_claim(obj: Object, now: str) -> None:
    obj["status"] = {"phase": "Pending"}
    normalize_sources(obj["spec"], {})


def prepare_claim_update(new: Object, old: Object) -> None:
    spec = dict(new["spec"])
    normalize_sources(spec, old["spec"])
    if spec != new["spec"]:
        new["spec"] = spec


def normalize_sources(spec: Object, was: Object) -> None:
    """The two fields for where the content comes from say the same; the older one knows only two kinds."""
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None and reference is None and not (was.get("dataSource") or was.get("dataSourceRef")):
        kind = source["apiGroup"] or "", source["kind"]
        if kind not in (("", "PersistentVolumeClaim"), _SNAPSHOT):
            source = None
            del spec["dataSource"]
    if source is not None and reference is None:
        spec["dataSourceRef"] = {name: source[name] for name in ("apiGroup", "kind", "name")}
    elif reference is not None and source is None and not reference.get("namespace"):
        spec["dataSource"] = {name: reference[name] for name in ("apiGroup", "kind", "name")}


def validate_claim(obj: Object) -> list[FieldError]:
    errors: Errors = []
    check_claim_spec(errors, obj["spec"], "spec")
    return errors


def validate_claim_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    spec, was = dict(new["spec"]), dict(old["spec"])
    if not was.get("volumeName"):
        was.pop("volumeName", None)
        spec.pop("volumeName", None)
    annotations, before = (each["metadata"].get("annotations", {}) for each in (new, old))
    if annotations.get(_BETA_CLASS, "") != before.get(_BETA_CLASS, ""):
        path = f"metadata.annotations[{_BETA_CLASS}]"
        errors.append(invalid(path, annotations.get(_BETA_CLASS, ""), "field is immutable"))
    if "storageClassName" not in was and _BETA_CLASS not in before:
        spec.pop("storageClassName", None)
    sizes = [parse_quantity(each["resources"].get("requests", {}).get("storage", "0")) for each in (spec, was)]
    if new["status"].get("phase") == "Bound":
        _allow_growth(spec, was)
    if spec != was:
        changed = sorted(name for name in spec.keys() | was.keys() if spec.get(name) != was.get(name))
        detail = (
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
            f"\nchanged: {', '.join(changed)}"
        )
        errors.append(forbidden("spec", detail))
    capacity = parse_quantity(old["status"].get("capacity", {}).get("storage", "0"))
    if sizes[0] < sizes[1] and sizes[0] <= capacity:
        path = "spec.resources.requests.storage"
        errors.append(forbidden(path, "field can not be less than status.capacity"))
    check_immutable(errors, Enum(new["spec"]["volumeMode"]), old["spec"]["volumeMode"], "volumeMode")
    if old["status"].get("currentVolumeAttributesClassName") is not None:
        _check_class_change(errors, new["spec"], old["spec"])
    return errors


def _allow_growth(spec: Object, was: Object) -> None:
    requests = spec["resources"].get("requests")
    if requests is not None and "storage" in was["resources"].get("requests", {}):
        kept = {**requests, "storage": was["resources"]["requests"]["storage"]}
        spec["resources"] = {**spec["resources"], "requests": kept}
    for each in (spec, was):
        each.pop("volumeAttributesClassName", None)


def _check_class_change(errors: Errors, spec: Object, was: Object) -> None:
    name, path = spec.get("volumeAttributesClassName"), "spec.volumeAttributesClassName"
    if name != was.get("volumeAttributesClassName") and not name:
        what = "nil" if name is None else "empty string"
        detail = f"update to {what} is forbidden when status.currentVolumeAttributesClassName is not nil"
        errors.append(forbidden(path, detail))


def validate_claim_status(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    for field in ("capacity", "allocatedResources"):
        for name, amount in new["status"].get(field, {}).items():
            value = parse_quantity(amount).value
            if value < 0:
                errors.append(invalid(f"status.{field}[{name}]", value, "must be a valid resource quantity"))
    for field in ("allocatedResources", "allocatedResourceStatuses"):
        _check_grown(errors, new["status"].get(field, {}), f"status.{field}")
    return errors


def _check_grown(errors: Errors, grown: Object, path: str) -> None:
    """Of a claim grows its storage, or what somebody else has given a name with a domain."""
    for name, told in grown.items():
        check_label_key(errors, name, path)
        if ("/" not in name and name != "storage") or name.partition("/")[0].endswith("kubernetes.io"):
            errors.append(not_supported(path, Enum(name), ("storage",)))
        if path.endswith("Statuses") and told not in _GROWING:
            errors.append(not_supported(path, Enum(name), _GROWING))
