"""The rules for nodes, as far as placement depends on them: metadata, taints and resources."""

from collections.abc import Mapping, Sequence
from typing import Any

from mooring.api.core.decoding.decoder import decode, mismatches
from mooring.api.core.validation.affinity import check_taint_effect
from mooring.api.core.validation.meta import check_label_key, check_metadata
from mooring.api.core.validation.resources import check_resource_quantity
from mooring.kube.errors import FieldError, QuantityError, invalid, required, type_invalid
from mooring.kube.names import is_label_value, is_valid_name
from mooring.kube.quantities import parse_quantity

__all__ = ["validate_node", "validate_node_resources", "validate_taints"]

Object = Mapping[str, Any]
Errors = list[FieldError]


def validate_taints(taints: Any, path: str = "metadata.taints") -> list[FieldError]:
    """What the API says about a node's taints. It says it about `metadata.taints`, though they are in the spec."""
    errors: Errors = []
    if not isinstance(taints, list):
        return [type_invalid(path, taints, "must be an array of taints")]
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        here = f"{path}[{index}]"
        texts = _texts(errors, taint, ("key", "value", "effect"), here)
        if texts is None:
            continue
        key, value, effect = texts
        check_label_key(errors, key, f"{here}.key")
        if problems := is_label_value(value):
            errors.append(invalid(f"{here}.value", value, ";".join(problems)))
        if effect:
            check_taint_effect(errors, effect, f"{here}.effect")
        else:
            errors.append(required(f"{here}.effect", ""))
        if (key, effect) in seen:
            shown = {"Key": key, "Value": value, "Effect": effect, "TimeAdded": taint.get("timeAdded")}
            errors.append(FieldError("Duplicate value", here, shown, "taints must be unique by key and effect pair"))
        seen.add((key, effect))
    return errors


def _texts(errors: Errors, owner: Any, names: Sequence[str], path: str) -> list[str] | None:
    if not isinstance(owner, dict):
        errors.append(type_invalid(path, owner, "must be an object"))
        return None
    values = [owner.get(name) or "" for name in names]
    wrong = [name for name, value in zip(names, values, strict=True) if not isinstance(value, str)]
    errors += [type_invalid(f"{path}.{name}", owner[name], "must be a string") for name in wrong]
    return None if wrong else values


def validate_node(node: Any) -> list[FieldError]:
    """What the API says about a node's metadata, taints, capacity and allocatable."""
    if not isinstance(node, dict):
        return [type_invalid("object", node, "must be an object")]
    errors: Errors = []
    metadata, spec, _ = (_object(errors, node, name) for name in ("metadata", "spec", "status"))
    decoded = decode("ObjectMeta", metadata)
    if decoded is None:
        errors += mismatches("ObjectMeta", metadata, "metadata")
    else:
        check_metadata(errors, decoded, lambda name, prefix: is_valid_name(name, prefix=prefix), namespaced=False)
    if spec.get("taints"):
        errors += validate_taints(spec["taints"])
    errors += validate_node_resources(node)
    return errors


def validate_node_resources(node: Any) -> list[FieldError]:
    """What the API says about capacity and allocatable."""
    errors: Errors = []
    status = _object([], node, "status")
    for name in ("capacity", "allocatable"):
        _check_resources(errors, _object(errors, status, name, "status."), f"status.{name}")
    return errors


def _object(errors: Errors, owner: Object, name: str, prefix: str = "") -> dict[str, Any]:
    value = owner.get(name)
    if value is None:
        return {}
    if isinstance(value, dict):
        return value
    errors.append(type_invalid(f"{prefix}{name}", value, "must be an object"))
    return {}


def _check_resources(errors: Errors, resources: Mapping[Any, Any], path: str) -> None:
    for name in sorted(map(str, resources)):
        here = f"{path}.{name}"
        try:
            quantity = parse_quantity(resources.get(name, ""))
        except QuantityError as error:
            errors.append(invalid(here, resources.get(name), error.message))
        else:
            check_resource_quantity(errors, name, quantity, here)
