"""What drivers of the Container Storage Interface tell about themselves: their defaults and validation.

A CSIDriver is a driver, a CSINode has the drivers of one node, a CSIStorageCapacity what a driver has left for a class.
Rules stand in the API's order.
"""

from typing import Final

from mooring.api.core.pod_templates import check_immutable
from mooring.api.core.validation.disks import check_driver
from mooring.api.core.validation.meta import check_label_key, check_label_selector, check_nonnegative, check_texts
from mooring.kube.errors import Enum, FieldError, duplicate, invalid, not_supported, required
from mooring.kube.names import byte_length, is_dns1123_subdomain
from mooring.kube.objects import Object
from mooring.kube.quantities import parse_quantity

__all__ = [
    "default_capacity",
    "default_driver",
    "driver_warnings",
    "prepare_driver_update",
    "validate_capacity",
    "validate_capacity_update",
    "validate_csi_node",
    "validate_csi_node_update",
    "validate_driver",
    "validate_driver_update",
]

Errors = list[FieldError]

_DRIVER_DEFAULTS: Final = {
    "attachRequired": True,
    "podInfoOnMount": False,
    "storageCapacity": False,
    "fsGroupPolicy": "ReadWriteOnceWithFSType",
    "requiresRepublish": False,
    "seLinuxMount": False,
}
_GROUP_POLICIES: Final = ("File", "None", "ReadWriteOnceWithFSType")
_LIFECYCLE_MODES: Final = ("Persistent", "Ephemeral")
_SHORTEST_TOKEN_SECONDS: Final = 600
_LONGEST_TOKEN_SECONDS: Final = 1 << 32
_SHORTEST_UPDATE_SECONDS: Final = 10
_MAX_NODE_ID_BYTES: Final = 256


# Drivers


def default_driver(obj: Object) -> None:
    spec = obj["spec"]
    for name, value in _DRIVER_DEFAULTS.items():
        spec.setdefault(name, value)
    spec["volumeLifecycleModes"] = spec.get("volumeLifecycleModes") or ["Persistent"]


def validate_driver(obj: Object) -> list[FieldError]:
    errors: Errors = []
    spec = obj["spec"]
    policy = spec["fsGroupPolicy"]
    if policy not in _GROUP_POLICIES:
        errors.append(not_supported("spec.fsGroupPolicy", Enum(policy), _GROUP_POLICIES))
    _check_token_requests(errors, spec.get("tokenRequests", ()))
    for mode in spec["volumeLifecycleModes"]:
        if mode not in _LIFECYCLE_MODES:
            errors.append(not_supported("spec.volumeLifecycleModes", Enum(mode), _LIFECYCLE_MODES))
    period = spec.get("nodeAllocatableUpdatePeriodSeconds")
    if period is not None and period < _SHORTEST_UPDATE_SECONDS:
        path = "spec.nodeAllocatableUpdatePeriodSeconds"
        errors.append(invalid(path, period, "must be greater than or equal to 10 seconds"))
    in_secrets = spec.get("serviceAccountTokenInSecrets")
    if in_secrets is not None and not spec.get("tokenRequests"):
        detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
        errors.append(invalid("spec.serviceAccountTokenInSecrets", in_secrets, detail))
    return errors


def _check_token_requests(errors: Errors, requests: list[Object]) -> None:
    audiences: set[str] = set()
    for index, each in enumerate(requests):
        path, audience, seconds = f"spec.tokenRequests[{index}]", each["audience"], each.get("expirationSeconds")
        if audience in audiences:
            errors.append(duplicate(f"{path}.audience", audience))
            continue
        audiences.add(audience)
        if seconds is None:
            continue
        if seconds < _SHORTEST_TOKEN_SECONDS:
            detail = "may not specify a duration less than 10 minutes"
            errors.append(invalid(f"{path}.expirationSeconds", seconds, detail))
        if seconds > _LONGEST_TOKEN_SECONDS:
            detail = "may not specify a duration larger than 2^32 seconds"
            errors.append(invalid(f"{path}.expirationSeconds", seconds, detail))


def prepare_driver_update(new: Object, old: Object) -> None:
    """Generations are counted from the first change on: a new driver has none."""
    if new["spec"] != old["spec"]:
        new["metadata"] = {**new["metadata"], "generation": old["metadata"].get("generation", 0) + 1}


def validate_driver_update(new: Object, old: Object) -> list[FieldError]:
    errors = validate_driver(new)
    spec, was = new["spec"], old["spec"]
    # The misspelt field is the real server's.
    check_immutable(errors, spec["attachRequired"], was["attachRequired"], "spec.attachedRequired")
    check_immutable(errors, spec["volumeLifecycleModes"], was["volumeLifecycleModes"], "spec.volumeLifecycleModes")
    return errors


def driver_warnings(obj: Object) -> list[str]:
    spec = obj["spec"]
    if not spec.get("tokenRequests") or spec.get("serviceAccountTokenInSecrets") is not None:
        return []
    return [
        "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true "
        "to prevent possible logging of tokens in volume attributes"
    ]


# Drivers of a node


def validate_csi_node(obj: Object) -> list[FieldError]:
    errors: Errors = []
    names: set[str] = set()
    for index, driver in enumerate(obj["spec"]["drivers"] or ()):
        _check_node_driver(errors, driver, names, f"spec.drivers[{index}]")
        names.add(driver["name"])
    return errors


def _check_node_driver(errors: Errors, driver: Object, names: set[str], path: str) -> None:
    check_driver(errors, driver["name"], f"{path}.name")
    identity = driver["nodeID"]
    if not identity:
        errors.append(required(f"{path}.nodeID", ""))
    if byte_length(identity) > _MAX_NODE_ID_BYTES:
        errors.append(invalid(f"{path}.nodeID", identity, f"must be {_MAX_NODE_ID_BYTES} characters or less"))
    check_nonnegative(errors, driver.get("allocatable", {}).get("count", 0), f"{path}.allocatable.count")
    if driver["name"] in names:
        errors.append(duplicate(f"{path}.name", driver["name"]))
    keys: set[str] = set()
    for key in driver["topologyKeys"] or ():
        if not key:
            errors.append(required(path, ""))
        if key in keys:
            errors.append(duplicate(path, key))
        keys.add(key)
        check_label_key(errors, key, path)


def validate_csi_node_update(new: Object, old: Object) -> list[FieldError]:
    """A driver's volumes may be counted anew; the rest of what it said stays."""
    # The real server looks at the new object once more here, so what is wrong with it is said twice.
    errors = validate_csi_node(new)
    for before in old["spec"]["drivers"] or ():
        for driver in new["spec"]["drivers"] or ():
            if driver["name"] == before["name"]:
                check_immutable(errors, _shown_driver(driver), _shown_driver(before), "spec.drivers")
    return errors


def _shown_driver(driver: Object) -> Object:
    """What must not change of a driver, as the real server shows it: by the names of its own type."""
    keys = driver["topologyKeys"]
    return {"Name": driver["name"], "NodeID": driver["nodeID"], "TopologyKeys": keys, "Allocatable": None}


# Capacities


def default_capacity(obj: Object) -> None:
    for name in ("capacity", "maximumVolumeSize"):
        if name in obj:
            obj[name] = str(parse_quantity(obj[name]))


def validate_capacity(obj: Object) -> list[FieldError]:
    errors: Errors = []
    check_label_selector(errors, obj.get("nodeTopology"), "nodeTopology")
    name = obj["storageClassName"]
    check_texts(errors, "storageClassName", name, is_dns1123_subdomain(name))
    if "capacity" in obj and parse_quantity(obj["capacity"]).value < 0:
        errors.append(invalid("capacity", obj["capacity"], "must be greater than or equal to 0"))
    return errors


def validate_capacity_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    check_immutable(errors, new.get("nodeTopology"), old.get("nodeTopology"), "nodeTopology")
    check_immutable(errors, new["storageClassName"], old["storageClassName"], "storageClassName")
    return errors
