"""What the API says about the status of a pod, and about the sections of a pod that have sub-resources of their own."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mooring.api.core.addresses import check_ip, family_of, is_ip
from mooring.api.core.validation.meta import check_label_key, check_texts
from mooring.kube.errors import Enum, FieldError, forbidden, internal, invalid, not_supported, required, too_long
from mooring.kube.names import is_condition_reason, is_dns1123_subdomain

__all__ = ["check_conditions", "validate_ephemeral_update", "validate_pod_status_update"]

Object = Mapping[str, Any]
Errors = list[FieldError]

_SYSTEM_CONDITIONS: Final = frozenset({"PodScheduled", "Ready", "Initialized"})
_STATUSES: Final = ("False", "True", "Unknown")
_MAX_REASON_BYTES: Final = 1024
_MAX_ID: Final = 2**31 - 1
_MIRROR: Final = "kubernetes.io/config.mirror"


def validate_pod_status_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    status, was = new["status"], old["status"]
    for index, condition in enumerate(status.get("conditions", ())):
        path = f"status.conditions[{index}]"
        if condition.get("observedGeneration", 0) < 0:
            detail = "must be a non-negative integer"
            errors.append(invalid(f"{path}.observedGeneration", condition["observedGeneration"], detail))
        if condition["type"] not in _SYSTEM_CONDITIONS:
            check_label_key(errors, condition["type"], f"{path}.Type")
    _check_nomination(errors, status, was, old["spec"])
    if status.get("observedGeneration", 0) < 0:
        detail = "must be a non-negative integer"
        errors.append(invalid("status.observedGeneration", status["observedGeneration"], detail))
    if status.get("qosClass") != was.get("qosClass"):
        errors.append(invalid("status.qosClass", Enum(status.get("qosClass", "")), "field is immutable"))
    for name in ("containerStatuses", "initContainerStatuses"):
        _check_revival(errors, status.get(name, ()), was.get(name, ()), old["spec"], f"status.{name}")
    for name in ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"):
        for index, each in enumerate(status.get(name, ())):
            _check_user(errors, each.get("user", {}).get("linux", {}), f"status.{name}[{index}].user.linux")
    _check_addresses(errors, status, was, "podIPs")
    _check_addresses(errors, status, was, "hostIPs")
    return errors


def _check_user(errors: Errors, user: Object, path: str) -> None:
    numbers = [(name, user[name]) for name in ("uid", "gid") if name in user]
    numbers += [(f"supplementalGroups[{index}]", each) for index, each in enumerate(user.get("supplementalGroups", ()))]
    for name, number in numbers:
        if not 0 <= number <= _MAX_ID:
            errors.append(invalid(f"{path}.{name}", number, f"must be between 0 and {_MAX_ID}, inclusive"))


def _check_nomination(errors: Errors, status: Object, was: Object, spec: Object) -> None:
    nominated, path = status.get("nominatedNodeName", ""), "status.nominatedNodeName"
    if not nominated or nominated == was.get("nominatedNodeName"):
        return
    check_texts(errors, path, nominated, is_dns1123_subdomain(nominated))
    if spec.get("nodeName"):
        errors.append(forbidden(path, "may not be set on pods that are already bound to a node"))


def _check_revival(errors: Errors, new: Sequence[Object], old: Sequence[Object], spec: Object, path: str) -> None:
    """A container that has ended for good stays ended."""
    sidecars = {each["name"] for each in spec.get("initContainers", ()) if each.get("restartPolicy") == "Always"}
    for index, was in enumerate(old):
        ended = was.get("state", {}).get("terminated")
        if ended is None or was["name"] in sidecars or _restarts(spec, ended.get("exitCode", 0)):
            continue
        if any(each["name"] == was["name"] and "terminated" not in each.get("state", {}) for each in new):
            errors.append(forbidden(f"{path}[{index}].state", "may not be transitioned to non-terminated state"))


def _restarts(spec: Object, code: int) -> bool:
    policy = spec["restartPolicy"]
    return bool(policy == "Always" or (policy == "OnFailure" and code != 0))


def _check_addresses(errors: Errors, status: Object, was: Object, name: str) -> None:
    path, given = f"status.{name}", [each.get("ip", "") for each in status.get(name, ())]
    if name == "hostIPs" and given and status.get("hostIP", "") != given[0]:
        errors.append(invalid(f"{path}[0].ip", given[0], "must be equal to `hostIP`"))
    known = [each.get("ip", "") for each in was.get(name, ())]
    for index, address in enumerate(given):
        check_ip(errors, address, f"{path}[{index}]", known)
    one_each = len(set(map(family_of, given))) == len(given)
    wrong = next((index for index, address in enumerate(given) if not is_ip(address)), None)
    if len(given) > 1 and wrong is not None:
        detail = f"failed to check for dual stack with error:invalid IP[{wrong}]: {given[wrong]}"
        errors.append(internal(path, detail))
    if len(given) > 1 and (wrong is not None or not one_each):
        errors.append(invalid(path, status[name], "may specify no more than one IP for each IP family"))


def check_conditions(errors: Errors, conditions: Sequence[Object], path: str) -> None:
    """The rules for conditions of the newer kind, with a reason and a time."""
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        here = f"{path}[{index}]"
        if condition["type"] in seen:
            errors.append(FieldError("Duplicate value", f"{here}.type", condition["type"], ""))
        seen.add(condition["type"])
        check_label_key(errors, condition["type"], f"{here}.type")
        if condition["status"] not in _STATUSES:
            errors.append(not_supported(f"{here}.status", Enum(condition["status"]), _STATUSES))
        if condition.get("observedGeneration", 0) < 0:
            detail = "must be greater than or equal to zero"
            errors.append(invalid(f"{here}.observedGeneration", condition["observedGeneration"], detail))
        if condition["lastTransitionTime"] is None:
            errors.append(required(f"{here}.lastTransitionTime", ""))
        reason = condition["reason"]
        if not reason:
            errors.append(required(f"{here}.reason", ""))
            continue
        check_texts(errors, f"{here}.reason", reason, is_condition_reason(reason))
        if len(reason) > _MAX_REASON_BYTES:
            errors.append(too_long(f"{here}.reason", _MAX_REASON_BYTES))


# Sections


def validate_ephemeral_update(new: Object, old: Object) -> list[FieldError]:
    """Containers for debugging can be added, and nothing else."""
    if _MIRROR in old["metadata"].get("annotations", {}):
        return [forbidden("[]", "static pods do not support ephemeral containers")]
    errors: Errors = []
    given = {each["name"]: each for each in new["spec"].get("ephemeralContainers", ())}
    for was in old["spec"].get("ephemeralContainers", ()):
        name = was["name"]
        if name not in given:
            detail = f'existing ephemeral containers "{name}" may not be removed\n'
            errors.append(forbidden("spec.ephemeralContainers", detail))
        elif given[name] != was:
            changed = sorted(key for key in given[name].keys() | was.keys() if given[name].get(key) != was.get(key))
            detail = f'existing ephemeral containers "{name}" may not be changed\nchanged: {", ".join(changed)}'
            errors.append(forbidden("spec.ephemeralContainers", detail))
    return errors
