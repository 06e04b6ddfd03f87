"""Nodes: what the API server adds to them, and the rules that do not matter to placement."""

import re
from collections.abc import Sequence
from typing import Final

from mooring.api.core.addresses import check_cidr, family_of, is_cidr
from mooring.api.core.defaults.spec import rounded
from mooring.api.core.validation.nodes import validate_node, validate_node_resources, validate_taints
from mooring.kube.errors import FieldError, duplicate, forbidden, go_quote, internal, invalid
from mooring.kube.objects import Object

__all__ = [
    "default_node",
    "default_node_status",
    "prepare_node",
    "prepare_node_update",
    "validate_node_status",
    "validate_node_update",
    "validate_whole_node",
]

Errors = list[FieldError]

_FEATURE: Final = re.compile(r"[A-Z][A-Za-z0-9]*(/[A-Za-z0-9]+)*")
_FEATURE_FORM: Final = (
    "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or "
    "MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
)


def default_node(obj: Object) -> None:
    spec = obj["spec"]
    one, many = spec.get("podCIDR"), spec.get("podCIDRs", [])
    # The singular field is for older clients, and wins when they know of no other.
    if one and many[:1] != [one]:
        spec["podCIDRs"] = [one]
    elif many:
        spec["podCIDR"] = many[0]
    default_node_status(obj)


def prepare_node(obj: Object, now: str) -> None:
    # Kubelets are no longer configured through the API; admission sees that somebody tried.
    obj["spec"].pop("configSource", None)


def prepare_node_update(obj: Object, old: Object) -> None:
    prepare_node(obj, "")


def default_node_status(obj: Object) -> None:
    status = obj["status"]
    for name in ("capacity", "allocatable"):
        if name in status:
            status[name] = rounded(status[name])
    status.pop("config", None)
    if "allocatable" not in status and "capacity" in status:
        status["allocatable"] = dict(status["capacity"])


def validate_whole_node(obj: Object) -> list[FieldError]:
    errors = validate_node(obj)
    blocks = obj["spec"].get("podCIDRs", [])
    for index, block in enumerate(blocks):
        check_cidr(errors, block, f"spec.podCIDRs[{index}]")
    one_each = len(set(map(family_of, blocks))) == len(blocks)
    wrong = next((index for index, block in enumerate(blocks) if not is_cidr(block)), None)
    if len(blocks) > 1 and wrong is not None:
        detail = f"failed to check with dual stack with error:invalid CIDR[{wrong}]: <nil> (invalid CIDR address: "
        errors.append(internal("spec.podCIDRs", f"invalid PodCIDRs. {detail}{blocks[wrong]})"))
    if len(blocks) > 1 and (wrong is not None or not one_each):
        detail = "may specify no more than one CIDR for each IP family"
        errors.append(invalid("spec.podCIDRs", blocks, detail))
    return errors


def validate_node_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    errors += validate_node_resources(new)
    spec, was = new["spec"], old["spec"]
    if was.get("podCIDRs") and spec.get("podCIDRs", []) != was["podCIDRs"]:
        detail = 'node updates may not change podCIDR except from "" to valid'
        errors.append(forbidden("spec.podCIDRs", detail))
    if was.get("providerID") and spec.get("providerID") != was["providerID"]:
        detail = 'node updates may not change providerID except from "" to valid'
        errors.append(forbidden("spec.providerID", detail))
    if spec.get("externalID", "") != was.get("externalID", ""):
        errors.append(forbidden("spec.externalID", "may not be updated"))
    if spec.get("taints"):
        errors += validate_taints(spec["taints"])
    return errors


def validate_node_status(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    errors += validate_node_resources(new)
    seen: list[Object] = []
    for index, address in enumerate(new["status"].get("addresses", ())):
        if address in seen:
            shown = {"Type": address["type"], "Address": address["address"]}
            errors.append(duplicate(f"status.addresses[{index}]", shown))
        seen.append(address)
    _check_features(errors, new["status"].get("declaredFeatures", ()))
    return errors


def _check_features(errors: Errors, features: Sequence[str]) -> None:
    """What a kubelet says that it can do: each once, and in their order."""
    for index, feature in enumerate(features):
        here = f"status.declaredFeatures[{index}]"
        if not _FEATURE.fullmatch(feature):
            errors.append(invalid(here, feature, f"invalid feature name {go_quote(feature)}: {_FEATURE_FORM}"))
        before = features[index - 1] if index else ""
        if index and feature == before:
            errors.append(duplicate(here, feature))
        elif feature < before:
            errors.append(invalid(here, feature, "list must be sorted alphabetically"))
