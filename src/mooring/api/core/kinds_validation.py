"""What the API says about core objects other than pods and nodes: the rules that people meet.

Expects defaulted objects. Rules stand in the API's order.
"""

import base64
import binascii
from typing import Any, Final

from mooring.api.core.decoding import decode_or_refuse
from mooring.api.core.validation_claims import check_claim_spec
from mooring.api.core.validation_meta import check_labels, check_nonnegative
from mooring.api.templates import check_always_running, check_immutable, check_template, matches_template
from mooring.kube.errors import Enum, FieldError, duplicate, forbidden, invalid, not_supported, required, too_long
from mooring.kube.names import is_config_map_key, is_dns1123_label, is_dns1123_subdomain, is_port_number
from mooring.kube.quantities import parse_quantity

__all__ = [
    "validate_config_map",
    "validate_config_map_update",
    "validate_event",
    "validate_replication_controller",
    "validate_secret",
    "validate_secret_update",
    "validate_service",
    "validate_service_update",
    "validate_volume_claim",
    "validate_volume_claim_update",
]

Object = dict[str, Any]
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
    return errors


def validate_secret_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    check_immutable(errors, new["type"], old["type"], "type")
    return errors + _check_sealed(new, old, ("data",))


def validate_volume_claim(obj: Object) -> list[FieldError]:
    errors: Errors = []
    check_claim_spec(errors, decode_or_refuse("PersistentVolumeClaimSpec", obj["spec"], "spec"), "spec")
    return errors


def validate_volume_claim_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    bound = new.get("status", {}).get("phase") == "Bound"
    free = {"volumeName"} if not old["spec"].get("volumeName") else set()
    if bound:
        free |= {"resources", "volumeAttributesClassName"}
    if "storageClassName" not in old["spec"]:
        free.add("storageClassName")
    kept, was = ({k: v for k, v in obj["spec"].items() if k not in free} for obj in (new, old))
    if kept != was:
        changed = sorted(key for key in kept.keys() | was.keys() if kept.get(key) != was.get(key))
        detail = (
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
            f"\nchanged: {', '.join(changed)}"
        )
        errors.append(forbidden("spec", detail))
    sizes = [parse_quantity(obj["spec"]["resources"].get("requests", {}).get("storage", "0")) for obj in (new, old)]
    capacity = parse_quantity(old.get("status", {}).get("capacity", {}).get("storage", "0"))
    if sizes[0] < sizes[1] and sizes[0] <= capacity:
        path = "spec.resources.requests.storage"
        errors.append(forbidden(path, "field can not be less than status.capacity"))
    check_immutable(errors, new["spec"].get("volumeMode"), old["spec"].get("volumeMode"), "volumeMode")
    return errors


def validate_service(obj: Object) -> list[FieldError]:
    errors: Errors = []
    spec = obj["spec"]
    ports, kind = spec.get("ports", ()), spec["type"]
    headless = spec.get("clusterIP") == "None"
    if not ports and not headless and kind != "ExternalName":
        errors.append(required("spec.ports", ""))
    if headless and kind in ("NodePort", "LoadBalancer"):
        detail = f"may not be set to 'None' for {kind} services"
        errors.append(invalid("spec.clusterIPs[0]", "None", detail))
    if kind == "ExternalName":
        name = spec.get("externalName", "").removesuffix(".")
        errors += (
            [invalid("spec.externalName", name, text) for text in is_dns1123_subdomain(name)]
            if name
            else [required("spec.externalName", "")]
        )
    names: set[str] = set()
    for index, port in enumerate(ports):
        _check_port(errors, port, len(ports) > 1, names, f"spec.ports[{index}]")
    check_labels(errors, spec.get("selector"), "spec.selector")
    affinity = spec["sessionAffinity"]
    if affinity not in ("ClientIP", "None"):
        errors.append(not_supported("spec.sessionAffinity", Enum(affinity), ("ClientIP", "None")))
    if kind not in _SERVICE_TYPES:
        errors.append(not_supported("spec.type", Enum(kind), _SERVICE_TYPES))
    seen: set[tuple[Any, Any]] = set()
    for index, port in enumerate(ports):
        key = port["protocol"], port.get("port")
        if key in seen:
            errors.append(duplicate(f"spec.ports[{index}]", {"protocol": key[0], "port": key[1]}))
        seen.add(key)
    return errors


def _check_port(errors: Errors, port: Object, named: bool, names: set[str], path: str) -> None:
    name = port.get("name", "")
    if name:
        errors += [invalid(f"{path}.name", name, text) for text in is_dns1123_label(name)]
        if name in names:
            errors.append(duplicate(f"{path}.name", name))
        names.add(name)
    elif named:
        errors.append(required(f"{path}.name", ""))
    number = port.get("port", 0)
    errors += [invalid(f"{path}.port", number, text) for text in is_port_number(number)]
    if port["protocol"] not in _PROTOCOLS:
        errors.append(not_supported(f"{path}.protocol", Enum(port["protocol"]), _PROTOCOLS))
    target = port["targetPort"]
    if isinstance(target, int):
        errors += [invalid(f"{path}.targetPort", target, text) for text in is_port_number(target)]


def validate_service_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    was = old["spec"].get("clusterIP")
    if was and new["spec"]["type"] != "ExternalName" and old["spec"]["type"] != "ExternalName":
        check_immutable(errors, new["spec"].get("clusterIP"), was, "spec.clusterIP")
    return errors


def validate_replication_controller(obj: Object) -> list[FieldError]:
    errors: Errors = []
    spec = obj["spec"]
    check_nonnegative(errors, spec.get("minReadySeconds", 0), "spec.minReadySeconds")
    if not spec.get("selector"):
        errors.append(required("spec.selector", ""))
    check_nonnegative(errors, spec["replicas"], "spec.replicas")
    if "template" not in spec:
        return [*errors, required("spec.template", "")]
    matches_template(errors, {"matchLabels": spec.get("selector") or {}}, spec["template"], "spec.template")
    check_template(errors, spec["template"], "spec.template")
    check_always_running(errors, spec["template"], "spec.template", "ReplicationController")
    return errors


def validate_event(obj: Object) -> list[FieldError]:
    """Of an event in the core group's shape."""
    errors: Errors = []
    subject, namespace = obj.get("involvedObject") or {}, obj["metadata"]["namespace"]
    where = subject.get("namespace", "")
    if not obj.get("eventTime"):
        if (where or "default") != namespace:
            errors.append(invalid("involvedObject.namespace", where, "does not match event.namespace"))
        return errors
    if not where and namespace not in ("default", "kube-system"):
        errors.append(invalid("involvedObject.namespace", where, "does not match event.namespace"))
    for name, limit in (("reportingComponent", 0), ("reportingInstance", 128), ("action", 128), ("reason", 128)):
        value = obj.get(name, "")
        if not value:
            errors.append(required(name, ""))
        elif limit and len(value) > limit:
            errors.append(invalid(name, "", f"can have at most {limit} characters"))
    if len(obj.get("message", "")) > 1024:
        errors.append(invalid("message", "", "can have at most 1024 characters"))
    return errors
