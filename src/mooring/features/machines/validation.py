"""What is refused in Clusters, pools and Machines beyond their schemas. Expects objects with their defaults in."""

from __future__ import annotations

import re
from typing import Any, Final

from mooring.features.machines.api.names import AUTOSCALER_MAX_SIZE, AUTOSCALER_MIN_SIZE
from mooring.features.machines.defaults import autoscaler_bounds
from mooring.features.machines.pools.naming import RANDOM_AT_THE_END
from mooring.kube.errors import FieldError, SelectorError, forbidden, invalid, required
from mooring.kube.intorpercent import IntOrPercentError, resolve
from mooring.kube.objects import Object
from mooring.kube.selectors import selector_from_dict

__all__ = ["validate_cluster", "validate_machine", "validate_machine_deployment", "validate_set"]

Errors = list[FieldError]

_LABEL_VALUE_MAX_CHARS: Final = 63
_ROLLING: Final = "spec.rollout.strategy.rollingUpdate"
_VERSION: Final = re.compile(
    r"v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?"
)


def validate_cluster(obj: Object, old: Object | None) -> Errors:
    errors: Errors = []
    if obj["spec"].get("topology") is not None:
        detail = (
            "Clusters from a ClusterClass are not supported; write infrastructureRef and MachineDeployments instead"
        )
        errors.append(forbidden("spec.topology", detail))
    return errors


def validate_machine(obj: Object, old: Object | None) -> Errors:
    errors: Errors = []
    _check_machine_spec(errors, "spec", obj["spec"])
    _check_immutable(errors, obj, old)
    return errors


def validate_set(obj: Object, old: Object | None) -> Errors:
    """A MachineSet."""
    errors: Errors = []
    _check_pool(errors, obj)
    _check_immutable(errors, obj, old)
    return errors


def validate_machine_deployment(obj: Object, old: Object | None) -> Errors:
    errors: Errors = []
    name = obj["metadata"].get("name", "")
    if len(name) > _LABEL_VALUE_MAX_CHARS or "." in name:
        detail = f"it becomes the value of a label: at most {_LABEL_VALUE_MAX_CHARS} characters and no dots"
        errors.append(invalid("metadata.name", name, detail))
    _check_pool(errors, obj)
    _check_rollout(errors, obj["spec"])
    _check_bounds(errors, obj)
    _check_immutable(errors, obj, old)
    return errors


def _check_immutable(errors: Errors, obj: Object, old: Object | None) -> None:
    if old is not None and obj["spec"].get("clusterName") != old.get("spec", {}).get("clusterName"):
        errors.append(invalid("spec.clusterName", obj["spec"].get("clusterName"), "field is immutable"))


def _check_pool(errors: Errors, obj: Object) -> None:
    spec = obj["spec"]
    template = spec["template"]
    if spec.get("replicas", 0) < 0:
        errors.append(invalid("spec.replicas", spec["replicas"], "must be greater than or equal to 0"))
    if template["spec"].get("clusterName") != spec.get("clusterName"):
        detail = f"must be the same as spec.clusterName, {spec.get('clusterName')}"
        errors.append(invalid("spec.template.spec.clusterName", template["spec"].get("clusterName"), detail))
    _check_selector(errors, spec["selector"], template["metadata"]["labels"])
    _check_machine_spec(errors, "spec.template.spec", template["spec"])
    naming = (spec.get("machineNaming") or {}).get("template")
    if naming is not None and not RANDOM_AT_THE_END.search(naming):
        detail = "must end with -{{ .random }}, or two Machines could have one name"
        errors.append(invalid("spec.machineNaming.template", naming, detail))


def _check_selector(errors: Errors, selector: Object, labels: dict[str, str]) -> None:
    try:
        matches = selector_from_dict(selector).matches(labels)
    except SelectorError as error:
        errors.append(invalid("spec.selector", selector, str(error)))
        return
    if not matches:
        detail = "must match spec.template.metadata.labels; add the labels of the selector to the template"
        errors.append(invalid("spec.selector", selector, detail))


def _check_machine_spec(errors: Errors, path: str, spec: Object) -> None:
    bootstrap = spec.get("bootstrap") or {}
    if not bootstrap.get("configRef") and bootstrap.get("dataSecretName") is None:
        detail = "either spec.bootstrap.dataSecretName or spec.bootstrap.configRef must be set"
        errors.append(required(f"{path}.bootstrap", detail))
    version = spec.get("version")
    if version is not None and not _VERSION.fullmatch(version):
        errors.append(invalid(f"{path}.version", version, "must be a semantic version such as v1.34.1"))


def _check_rollout(errors: Errors, spec: Object) -> None:
    rolling = spec["rollout"]["strategy"].get("rollingUpdate")
    if rolling is None:
        return
    numbers = [_number(errors, rolling, name, spec["replicas"]) for name in ("maxSurge", "maxUnavailable")]
    if numbers == [0, 0]:
        detail = "may not be 0 when maxSurge is 0; with neither, no Machine could ever be replaced"
        errors.append(invalid(f"{_ROLLING}.maxUnavailable", rolling["maxUnavailable"], detail))


def _number(errors: Errors, rolling: Object, name: str, replicas: int) -> int | None:
    value: Any = rolling[name]
    try:
        # Of a hundred: a percentage that rounds to nothing for few Machines is still one.
        number = resolve(value, 100, up=True)
    except IntOrPercentError as error:
        errors.append(invalid(f"{_ROLLING}.{name}", value, str(error)))
        return None
    if number < 0:
        errors.append(invalid(f"{_ROLLING}.{name}", value, "must be greater than or equal to 0"))
    return number


def _check_bounds(errors: Errors, obj: Object) -> None:
    """Bounds for an autoscaler that it could not read would hide every pool from it, so they are refused here."""
    annotations = obj["metadata"].get("annotations") or {}
    for name in (AUTOSCALER_MIN_SIZE, AUTOSCALER_MAX_SIZE):
        if name in annotations and not str(annotations[name]).isdecimal():
            errors.append(invalid(f"metadata.annotations[{name}]", annotations[name], "must be a number, 0 or more"))
            return
    if AUTOSCALER_MIN_SIZE in annotations and AUTOSCALER_MAX_SIZE in annotations and autoscaler_bounds(obj) is None:
        detail = f"must not be less than {AUTOSCALER_MIN_SIZE}, {annotations[AUTOSCALER_MIN_SIZE]}"
        errors.append(invalid(f"metadata.annotations[{AUTOSCALER_MAX_SIZE}]", annotations[AUTOSCALER_MAX_SIZE], detail))
