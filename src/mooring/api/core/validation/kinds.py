"""What the API says about core objects other than pods and nodes: the rules that people meet.

Expects defaulted objects. Rules stand in the API's order.
"""

import base64
import binascii
from typing import Any, Final

import msgspec

from mooring.api.core.pod_templates import check_always_running, check_immutable, check_template, matches_template
from mooring.api.core.validation.meta import check_finalizer, check_nonnegative
from mooring.kube.errors import Enum, FieldError, forbidden, invalid, required, too_long
from mooring.kube.json_errors import json_complaint, unmarshal_complaint
from mooring.kube.names import is_config_map_key
from mooring.kube.objects import Object

__all__ = [
    "validate_config_map",
    "validate_config_map_update",
    "validate_namespace",
    "validate_namespace_finalizers",
    "validate_namespace_status",
    "validate_pod_template",
    "validate_replication_controller",
    "validate_secret",
    "validate_secret_update",
]

Errors = list[FieldError]

_MAX_SIZE: Final = 1024 * 1024
_SEALED: Final = "field is immutable when `immutable` is set"
_SERVICE_TYPES: Final = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
# The keys without which a secret of a type is useless.
_SECRET_KEYS: Final = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}
_JSON_SECRETS: Final = ("kubernetes.io/dockercfg", "kubernetes.io/dockerconfigjson")


def _size(encoded: str) -> int:
    try:
        return len(base64.b64decode(encoded))
    except (binascii.Error, ValueError):
        return len(encoded)


def _check_keys(errors: Errors, data: dict[str, Any], path: str) -> None:
    for key in sorted(data):
        errors += [invalid(f"{path}[{key}]", key, text) for text in is_config_map_key(key)]


def validate_config_map(obj: Object) -> list[FieldError]:
    errors: Errors = []
    data, binary = obj.get("data") or {}, obj.get("binaryData") or {}
    _check_keys(errors, data, "data")
    for key in sorted(data.keys() & binary.keys()):
        errors.append(invalid(f"data[{key}]", key, "duplicate of key present in binaryData"))
    _check_keys(errors, binary, "binaryData")
    strange = [key for key, value in binary.items() if not isinstance(value, str)]
    if strange:
        return [*errors, *(invalid(f"binaryData[{key}]", binary[key], "must be a string in base64") for key in strange)]
    if sum(len(value.encode()) for value in data.values()) + sum(map(_size, binary.values())) > _MAX_SIZE:
        errors.append(too_long("", _MAX_SIZE))
    return errors


def validate_config_map_update(new: Object, old: Object) -> list[FieldError]:
    return _check_sealed(new, old, ("data", "binaryData"))


def _check_sealed(new: Object, old: Object, names: tuple[str, ...]) -> list[FieldError]:
    if not old.get("immutable"):
        return []
    errors = [] if new.get("immutable") else [forbidden("immutable", _SEALED)]
    return errors + [forbidden(name, _SEALED) for name in names if new.get(name) != old.get(name)]


def validate_secret(obj: Object) -> list[FieldError]:
    errors: Errors = []
    data, kind = obj.get("data") or {}, obj["type"]
    _check_keys(errors, data, "data")
    strange = [key for key, value in data.items() if not isinstance(value, str)]
    if strange:
        return [*errors, *(invalid(f"data[{key}]", data[key], "must be a string in base64") for key in strange)]
    if sum(map(_size, data.values())) > _MAX_SIZE:
        errors.append(too_long("data", _MAX_SIZE))
    if kind == "kubernetes.io/service-account-token":
        key = "kubernetes.io/service-account.name"
        if not obj["metadata"].get("annotations", {}).get(key):
            errors.append(required(f"metadata.annotations[{key}]", ""))
    elif kind == "kubernetes.io/basic-auth":
        if "username" not in data and "password" not in data:
            errors += [required("data[username]", ""), required("data[password]", "")]
    else:
        errors += [required(f"data[{key}]", "") for key in _SECRET_KEYS.get(kind, ()) if key not in data]
        if kind in _JSON_SECRETS:
            for key in _SECRET_KEYS[kind]:
                _check_json(errors, data.get(key), f"data[{key}]")
    return errors


def _check_json(errors: Errors, encoded: str | None, path: str) -> None:
    if encoded is None:
        return
    text = base64.b64decode(encoded)
    why = json_complaint(text)
    if not why:
        value = msgspec.json.decode(text)
        if value is None or isinstance(value, dict):
            return
        why = unmarshal_complaint(value, "map[string]interface {}")
    errors.append(invalid(path, "<secret contents redacted>", why))


def validate_secret_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    check_immutable(errors, new["type"], old["type"], "type")
    return errors + _check_sealed(new, old, ("data",))


def validate_replication_controller(obj: Object) -> list[FieldError]:
    errors: Errors = []
    spec = obj["spec"]
    check_nonnegative(errors, spec.get("minReadySeconds", 0), "spec.minReadySeconds")
    if not spec.get("selector"):
        errors.append(required("spec.selector", ""))
    check_nonnegative(errors, spec["replicas"], "spec.replicas")
    if "template" not in spec:
        return [*errors, required("spec.template", "")]
    selector = {"matchLabels": spec.get("selector") or {}}
    if not matches_template(errors, selector, spec["template"], "spec.template"):
        # Whatever the selector holds, the template has other labels.
        labels = dict(sorted((spec["template"]["metadata"].get("labels") or {}).items())) or None
        detail = "`selector` does not match template `labels`"
        errors.append(invalid("spec.template.metadata.labels", labels, detail))
    check_template(errors, spec["template"], "spec.template")
    check_always_running(errors, spec["template"], "spec.template", "ReplicationController")
    return errors


def validate_pod_template(obj: Object) -> list[FieldError]:
    errors: Errors = []
    check_template(errors, obj["template"], "template")
    return errors


def validate_namespace(obj: Object) -> list[FieldError]:
    errors: Errors = []
    for finalizer in obj["spec"].get("finalizers", ()):
        check_finalizer(errors, finalizer, "spec.finalizers")
    return errors


def validate_namespace_finalizers(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    for index, finalizer in enumerate(new["spec"].get("finalizers", ())):
        check_finalizer(errors, finalizer, f"spec.finalizers[{index}]")
    return errors


def validate_namespace_status(new: Object, old: Object) -> list[FieldError]:
    phase = new["status"].get("phase", "")
    leaving = "deletionTimestamp" in new["metadata"]
    wanted, when = ("Terminating", "is not empty") if leaving else ("Active", "is empty")
    if phase == wanted:
        return []
    return [invalid("status.Phase", Enum(phase), f"may only be '{wanted}' if `deletionTimestamp` {when}")]
