"""The rules for requests, limits and claims, of containers and of the pod as a whole."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from mooring.api.core.resources import (
    STANDARD_CONTAINER_RESOURCES,
    aggregate_containers,
    is_extended_resource,
    is_hugepages,
    is_integer_resource,
    is_native_resource,
    is_overcommit_allowed,
    is_pod_level_resource,
    is_standard_resource,
)
from mooring.api.core.validation.meta import check_dns_label, check_texts
from mooring.kube.errors import Enum, FieldError, QuantityError, duplicate, forbidden, invalid, not_supported, required
from mooring.kube.names import is_dns1123_subdomain, is_qualified_name
from mooring.kube.quantities import Quantity, parse_quantity

__all__ = [
    "check_container_resource_name",
    "check_container_resources",
    "check_overhead",
    "check_pod_claims",
    "check_pod_resources",
    "check_resource_name",
    "check_resource_quantity",
    "claim_names",
]

Object = Mapping[str, Any]
Errors = list[FieldError]
NameCheck = Callable[[Errors, str, str], None]

_POD_LEVEL_NAMES: Final = ("cpu", "hugepages-", "memory")
_MIRROR: Final = "kubernetes.io/config.mirror"


def check_container_resources(errors: Errors, resources: Object, claims: Collection[str], path: str) -> None:
    _check_requirements(errors, resources, check_container_resource_name, claims, path)


def check_overhead(errors: Errors, overhead: Mapping[str, str], path: str) -> None:
    _check_requirements(errors, {"limits": overhead}, check_container_resource_name, (), path)


def check_resource_quantity(errors: Errors, name: str, quantity: Quantity, path: str) -> None:
    if quantity.mantissa < 0:
        errors.append(invalid(path, str(quantity), "must be greater than or equal to 0"))
    if is_integer_resource(name) and quantity.milli_value % 1000:
        errors.append(invalid(path, Enum(quantity), "must be an integer"))


# Names


def check_resource_name(errors: Errors, name: str, path: str) -> bool:
    if texts := is_qualified_name(name):
        check_texts(errors, path, Enum(name), texts)
        return False
    if "/" not in name and not is_standard_resource(name):
        errors.append(invalid(path, Enum(name), "must be a standard resource type or fully qualified"))
        return False
    return True


def check_container_resource_name(errors: Errors, name: str, path: str) -> None:
    if name in STANDARD_CONTAINER_RESOURCES:
        return
    check_resource_name(errors, name, path)
    if "/" not in name:
        if not is_hugepages(name):
            errors.append(invalid(path, Enum(name), "must be a standard resource for containers"))
    elif not is_native_resource(name) and not is_extended_resource(name):
        errors.append(invalid(path, Enum(name), "doesn't follow extended resource name standard"))


def _check_pod_resource_name(errors: Errors, name: str, path: str) -> None:
    if check_resource_name(errors, name, path) and not is_pod_level_resource(name):
        errors.append(not_supported(path, Enum(name), _POD_LEVEL_NAMES))


# Requirements


def _check_requirements(
    errors: Errors, resources: Object, check_name: NameCheck, claims: Collection[str], path: str
) -> None:
    if not resources:
        return
    limits: Mapping[str, str] = resources.get("limits", {})
    requests: Mapping[str, str] = resources.get("requests", {})
    for name in sorted(limits):
        _check_entry(errors, name, parse_quantity(limits[name]), check_name, f"{path}.limits[{name}]")
        _check_hugepages(errors, name, limits[name], f"{path}.limits[{name}]")
    for name in sorted(requests):
        quantity = parse_quantity(requests[name])
        _check_entry(errors, name, quantity, check_name, f"{path}.requests[{name}]")
        _check_against_limit(errors, name, quantity, limits.get(name), path)
        _check_hugepages(errors, name, requests[name], f"{path}.requests[{name}]")
    names = limits.keys() | requests.keys()
    if any(map(is_hugepages, names)) and names.isdisjoint({"cpu", "memory"}):
        errors.append(forbidden(path, "HugePages require cpu or memory"))
    _check_claim_references(errors, resources.get("claims", ()), claims, f"{path}.claims")


def _check_entry(errors: Errors, name: str, quantity: Quantity, check_name: NameCheck, path: str) -> None:
    check_name(errors, name, path)
    check_resource_quantity(errors, name, quantity, path)


def _check_against_limit(errors: Errors, name: str, quantity: Quantity, limit: str | None, path: str) -> None:
    if limit is None:
        if not is_overcommit_allowed(name):
            errors.append(required(f"{path}.limits", "Limit must be set for non overcommitable resources"))
        return
    bound = parse_quantity(limit)
    if quantity == bound:
        return
    if not is_overcommit_allowed(name):
        detail = f"must be equal to {name} limit of {bound}"
        errors.append(invalid(f"{path}.requests", str(quantity), detail))
    elif quantity > bound:
        detail = f"must be less than or equal to {name} limit of {bound}"
        errors.append(invalid(f"{path}.requests", str(quantity), detail))


def _check_hugepages(errors: Errors, name: str, text: str, path: str) -> None:
    if not is_hugepages(name):
        return
    quantity = parse_quantity(text)
    if not _is_divisible(quantity, name.removeprefix("hugepages-")):
        detail = f"{quantity} is not positive integer multiple of {name}"
        errors.append(invalid(path, str(quantity), detail))


def _is_divisible(quantity: Quantity, page_size: str) -> bool:
    try:
        size = parse_quantity(page_size)
    except QuantityError:
        return False
    if size.mantissa <= 0 or size.milli_value % 1000 or not size.value:
        return False
    return quantity.value % size.value == 0


# Claims


def claim_names(claims: Sequence[Object]) -> frozenset[str]:
    return frozenset(claim["name"] for claim in claims if claim["name"])


def check_pod_claims(errors: Errors, claims: Sequence[Object], annotations: Mapping[str, str], path: str) -> None:
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        if _MIRROR in annotations:
            errors.append(forbidden("[]", "static pods do not support resource claims"))
            continue
        here = f"{path}[{index}]"
        name = claim["name"]
        if not name:
            errors.append(required(f"{here}.name", ""))
        elif name in seen:
            errors.append(duplicate(f"{here}.name", name))
        else:
            check_dns_label(errors, name, f"{here}.name")
            seen.add(name)
        sources = [key for key in ("resourceClaimName", "resourceClaimTemplateName") if key in claim]
        if len(sources) != 1:
            shown = {
                "Name": name,
                "ResourceClaimName": claim.get("resourceClaimName"),
                "ResourceClaimTemplateName": claim.get("resourceClaimTemplateName"),
            }
            detail = (
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
                if sources
                else "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            )
            errors.append(invalid(here, shown, detail))
        for key in sources:
            check_texts(errors, f"{here}.{key}", claim[key], is_dns1123_subdomain(claim[key]))


def _check_claim_references(errors: Errors, claims: Sequence[Object], known: Collection[str], path: str) -> None:
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        here, name, request = f"{path}[{index}]", claim["name"], claim.get("request", "")
        if not name:
            errors.append(required(here, ""))
            continue
        if name in seen:
            errors.append(duplicate(here, name))
        else:
            key = f"{name}/{request}" if request else name
            if request:
                check_dns_label(errors, request, f"{here}.request")
            if key in seen:
                errors.append(duplicate(here, key))
            elif not request:
                errors += [duplicate(here, name) for other in seen if other.startswith(f"{name}/")]
            seen.add(key)
        if name not in known:
            names = f": {', '.join(sorted(known))}" if known else " which is empty"
            detail = f"must be one of the names in pod.spec.resourceClaims{names}"
            errors.append(FieldError("Not found", here, name, detail))


# The pod as a whole


def check_pod_resources(errors: Errors, spec: Object, claims: Collection[str], path: str) -> None:
    resources = spec["resources"]
    here = f"{path}.resources"
    if spec.get("os", {}).get("name") == "windows":
        errors.append(forbidden(here, "may not be set for a windows pod"))
        return
    if "claims" in resources:
        errors.append(forbidden(f"{here}.claims", "claims may not be set for Resources at pod-level"))
    _check_requirements(errors, resources, _check_pod_resource_name, claims, here)
    _check_sums(errors, spec, resources, here)


def _check_sums(errors: Errors, spec: Object, resources: Object, path: str) -> None:
    requests: Mapping[str, str] = resources.get("requests", {})
    limits: Mapping[str, str] = resources.get("limits", {})
    for name, needed in sorted(aggregate_containers(spec, "requests").items()):
        if name in requests and needed > parse_quantity(requests[name]):
            detail = f"must be greater than or equal to aggregate container requests of {needed}"
            errors.append(invalid(f"{path}.requests[{name}]", str(parse_quantity(requests[name])), detail))
    for name, needed in sorted(aggregate_containers(spec, "limits").items()):
        if is_hugepages(name) and name in limits and needed > parse_quantity(limits[name]):
            detail = f"must be greater than or equal to aggregate container limits of {needed}"
            errors.append(invalid(f"{path}.limits[{name}]", str(parse_quantity(limits[name])), detail))
    for index, container in enumerate(spec.get("containers") or ()):
        for name, text in sorted(container["resources"].get("limits", {}).items()):
            limit = parse_quantity(text)
            if name in limits and limit > parse_quantity(limits[name]):
                detail = f"must be less than or equal to pod limits of {parse_quantity(limits[name])}"
                errors.append(invalid(f"{path}.containers[{index}][{name}].limits", str(limit), detail))
