"""What the API says about Deployments, ReplicaSets, StatefulSets, DaemonSets and ControllerRevisions.

Expects defaulted objects. Rules stand in the API's order, and so do their texts.
"""

import re
from typing import Any, Final

from mooring.api.core.pod_templates import (
    check_always_running,
    check_immutable,
    check_selector,
    check_template,
    matches_template,
)
from mooring.api.core.validation.claims import check_claim_spec
from mooring.api.core.validation.meta import check_dns_label, check_label_selector, check_nonnegative
from mooring.kube.errors import Enum, FieldError, forbidden, invalid, not_supported, required
from mooring.kube.objects import Object

__all__ = [
    "check_percent_limit",
    "check_positive_or_percent",
    "validate_controller_revision",
    "validate_controller_revision_update",
    "validate_daemon_set",
    "validate_daemon_set_update",
    "validate_deployment",
    "validate_replica_set",
    "validate_selector_update",
    "validate_stateful_set",
    "validate_stateful_set_update",
]

Errors = list[FieldError]

_PERCENT: Final = re.compile("[0-9]+%").fullmatch
_PERCENT_TEXT: Final = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)
_MUTABLE: Final = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)


def check_positive_or_percent(errors: Errors, value: int | str, path: str) -> None:
    if isinstance(value, str):
        if not _PERCENT(value):
            errors.append(invalid(path, value, _PERCENT_TEXT))
    else:
        check_nonnegative(errors, value, path)


def check_percent_limit(errors: Errors, value: int | str, path: str) -> None:
    if isinstance(value, str) and _PERCENT(value) and int(value[:-1]) > 100:
        errors.append(invalid(path, value, "must not be greater than 100%"))


def _amount(value: int | str) -> int:
    if isinstance(value, int):
        return value
    digits = value.removesuffix("%")
    return int(digits) if digits.isdecimal() else 0


def _check_numbers(errors: Errors, spec: Object, *names: str) -> None:
    for name in names:
        if name in spec:
            check_nonnegative(errors, spec[name], f"spec.{name}")


# Deployments and ReplicaSets


def validate_deployment(obj: Object) -> list[FieldError]:
    errors: Errors = []
    spec = obj["spec"]
    _check_numbers(errors, spec, "replicas")
    _check_replicated(errors, spec)
    _check_deployment_strategy(errors, spec["strategy"], "spec.strategy")
    _check_numbers(errors, spec, "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
    deadline = spec["progressDeadlineSeconds"]
    if deadline <= spec.get("minReadySeconds", 0):
        errors.append(invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"))
    return errors


def validate_replica_set(obj: Object) -> list[FieldError]:
    errors: Errors = []
    _check_numbers(errors, obj["spec"], "replicas", "minReadySeconds")
    _check_replicated(errors, obj["spec"])
    return errors


def _check_replicated(errors: Errors, spec: Object) -> None:
    # The API calls an empty selector invalid "for deployment" in ReplicaSets too.
    selector, template = spec.get("selector"), spec["template"]
    check_selector(errors, selector, "spec.selector", "deployment")
    if not matches_template(errors, selector, template, "spec.template"):
        errors.append(invalid("spec.selector", selector, "invalid label selector"))
        return
    check_template(errors, template, "spec.template")
    check_always_running(errors, template, "spec.template", "ReplicaSet")


def _check_deployment_strategy(errors: Errors, strategy: Object, path: str) -> None:
    rolling: Any = strategy.get("rollingUpdate")
    if strategy["type"] == "Recreate":
        if rolling is not None:
            detail = "may not be specified when strategy `type` is 'Recreate'"
            errors.append(forbidden(f"{path}.rollingUpdate", detail))
    elif strategy["type"] == "RollingUpdate":
        here = f"{path}.rollingUpdate"
        unavailable, surge = rolling["maxUnavailable"], rolling["maxSurge"]
        check_positive_or_percent(errors, unavailable, f"{here}.maxUnavailable")
        check_positive_or_percent(errors, surge, f"{here}.maxSurge")
        if _amount(unavailable) == 0 and _amount(surge) == 0:
            errors.append(invalid(f"{here}.maxUnavailable", unavailable, "may not be 0 when `maxSurge` is 0"))
        check_percent_limit(errors, unavailable, f"{here}.maxUnavailable")
    else:
        shown = {"Type": strategy["type"], "RollingUpdate": rolling}
        errors.append(not_supported(path, shown, ("Recreate", "RollingUpdate")))


def validate_selector_update(new: Object, old: Object) -> list[FieldError]:
    """The selector is immutable: the pods of the old selection would lose their owner."""
    errors: Errors = []
    check_immutable(errors, new["spec"].get("selector"), old["spec"].get("selector"), "spec.selector")
    return errors


# StatefulSets


def validate_stateful_set(obj: Object) -> list[FieldError]:
    errors: Errors = []
    _check_stateful_set(errors, obj["spec"], new=True)
    return errors


def _check_stateful_set(errors: Errors, spec: Object, *, new: bool) -> None:
    """What cannot change is not looked at again in one that is not new."""
    policy = spec["podManagementPolicy"]
    if policy not in ("OrderedReady", "Parallel"):
        detail = "must be 'OrderedReady' or 'Parallel'"
        errors.append(invalid("spec.podManagementPolicy", Enum(policy), detail))
    _check_stateful_strategy(errors, spec["updateStrategy"], "spec.updateStrategy")
    for name, value in spec["persistentVolumeClaimRetentionPolicy"].items():
        if value not in ("Retain", "Delete"):
            path = f"spec.persistentVolumeClaimRetentionPolicy.{name}"
            errors.append(not_supported(path, Enum(value), ("Retain", "Delete")))
    for index, claim in enumerate(spec.get("volumeClaimTemplates", ()) if new else ()):
        check_claim_spec(errors, claim.get("spec") or {}, f"spec.volumeClaimTemplates[{index}].spec")
    _check_numbers(errors, spec, "replicas", "minReadySeconds")
    if "ordinals" in spec:
        check_nonnegative(errors, spec["ordinals"].get("start", 0), "spec.ordinals.start")
    if new and spec.get("serviceName"):
        check_dns_label(errors, spec["serviceName"], "spec.serviceName")
    selector = spec.get("selector")
    check_selector(errors, selector, "spec.selector", "statefulset")
    template = _with_claims(spec)
    if matches_template(errors, selector, template, "spec.template"):
        check_template(errors, template, "spec.template")
    else:
        errors.append(invalid("spec.selector", selector, ""))
    check_always_running(errors, spec["template"], "spec.template", "StatefulSet")


def _with_claims(spec: Object) -> Object:
    """The template as its pods will look: with a volume per claim, and without what the controller sets."""
    template: Object = spec["template"]
    claims = [claim.get("metadata", {}).get("name", "") for claim in spec.get("volumeClaimTemplates", ())]
    inner = {key: value for key, value in template["spec"].items() if key not in ("subdomain", "hostname")}
    if claims:
        made = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
        kept = [volume for volume in inner.get("volumes", ()) if volume["name"] not in claims]
        inner["volumes"] = [*made, *kept]
    return {**template, "spec": inner}


def _check_stateful_strategy(errors: Errors, strategy: Object, path: str) -> None:
    rolling = strategy.get("rollingUpdate")
    if strategy["type"] == "OnDelete":
        if rolling is not None:
            detail = "only allowed for updateStrategy 'RollingUpdate'"
            errors.append(invalid(f"{path}.rollingUpdate", rolling, detail))
    elif strategy["type"] != "RollingUpdate":
        shown = {"Type": strategy["type"], "RollingUpdate": rolling}
        errors.append(invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'"))
    elif rolling is not None:
        here = f"{path}.rollingUpdate"
        check_nonnegative(errors, rolling["partition"], f"{here}.partition")
        unavailable = rolling.get("maxUnavailable")
        if unavailable is not None:
            check_positive_or_percent(errors, unavailable, f"{here}.maxUnavailable")
            if _amount(unavailable) == 0:
                errors.append(invalid(f"{here}.maxUnavailable", unavailable, "cannot be 0"))
            check_percent_limit(errors, unavailable, f"{here}.maxUnavailable")


def validate_stateful_set_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    _check_stateful_set(errors, new["spec"], new=False)
    kept, was = ({k: v for k, v in obj["spec"].items() if k not in _MUTABLE} for obj in (new, old))
    if kept == was:
        return errors
    detail = (
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
        "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
    )
    return [*errors, forbidden("spec", detail)]


# DaemonSets


def validate_daemon_set(obj: Object) -> list[FieldError]:
    errors: Errors = []
    spec = obj["spec"]
    selector, template = spec.get("selector"), spec["template"]
    check_label_selector(errors, selector, "spec.selector")
    if selector is None:
        detail = "`selector` does not match template `labels`"
        shown = dict(sorted((template["metadata"].get("labels") or {}).items())) or None
        errors.append(invalid("spec.template.metadata.labels", shown, detail))
    else:
        matches_template(errors, selector, template, "spec.template")
        if not selector.get("matchLabels") and not selector.get("matchExpressions"):
            errors.append(invalid("spec.selector", selector, "empty selector is invalid for daemonset"))
    check_template(errors, template, "spec.template")
    check_always_running(errors, template, "spec.template", "DaemonSet")
    _check_numbers(errors, spec, "minReadySeconds")
    _check_daemon_strategy(errors, spec["updateStrategy"], "spec.updateStrategy")
    _check_numbers(errors, spec, "revisionHistoryLimit")
    return errors


def _check_daemon_strategy(errors: Errors, strategy: Object, path: str) -> None:
    if strategy["type"] == "OnDelete":
        return
    if strategy["type"] != "RollingUpdate":
        shown = {"Type": strategy["type"], "RollingUpdate": strategy.get("rollingUpdate")}
        errors.append(not_supported(path, shown, ("RollingUpdate", "OnDelete")))
        return
    here, rolling = f"{path}.rollingUpdate", strategy["rollingUpdate"]
    unavailable, surge = rolling["maxUnavailable"], rolling["maxSurge"]
    for check in (check_positive_or_percent, check_percent_limit):
        check(errors, unavailable, f"{here}.maxUnavailable")
        check(errors, surge, f"{here}.maxSurge")
    if _amount(unavailable) and _amount(surge):
        errors.append(invalid(f"{here}.maxSurge", surge, "may not be set when maxUnavailable is non-zero"))
    elif not _amount(unavailable) and not _amount(surge):
        errors.append(required(f"{here}.maxUnavailable", "cannot be 0 when maxSurge is 0"))


validate_daemon_set_update = validate_selector_update


# ControllerRevisions


def validate_controller_revision(obj: Object) -> list[FieldError]:
    errors: Errors = []
    check_nonnegative(errors, obj.get("revision", 0), "revision")
    if obj.get("data") is None:
        errors.append(required("data", "data is mandatory"))
    elif not isinstance(obj["data"], dict):
        errors.append(required("data", "data must be a valid JSON object"))
    return errors


def validate_controller_revision_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    check_nonnegative(errors, new["revision"], "revision")
    check_immutable(errors, new.get("data"), old.get("data"), "data")
    return errors
