"""Requests for devices, in claims and in templates of claims: their defaults, and their validation in the API's order.

The API server drops what its gates are off for; here that is done with the defaults.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from mooring.api.core.validation.disks import check_driver
from mooring.api.core.validation.meta import check_dns_label, check_texts
from mooring.api.resource.expressions import device_environment
from mooring.api.resource.views import ALL, EXACT_COUNT, MAX_ALTERNATIVES
from mooring.kube.cel.errors import CelCompileError
from mooring.kube.errors import (
    Enum,
    FieldError,
    duplicate,
    go_json,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
)
from mooring.kube.names import byte_length, is_c_identifier, is_dns1123_subdomain
from mooring.kube.objects import Object

__all__ = [
    "MAX_ITEMS",
    "check_configuration",
    "check_each",
    "check_qualified_name",
    "check_request_reference",
    "check_selectors",
    "check_spec",
    "default_spec",
    "request_names",
]

Errors = list[FieldError]

MAX_ITEMS: Final = 32
MAX_IDENTIFIER_BYTES: Final = 32
_MAX_EXPRESSION_BYTES: Final = 10 * 1024
_MAX_PARAMETERS_BYTES: Final = 10 * 1024
_ONE_KIND: Final = "exactly one of `exactly` or `firstAvailable` is required"
_REFERENCE: Final = (
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
)
_DROPPED: Final = ("tolerations", "capacity")


def default_spec(spec: Object) -> None:
    devices = spec.get("devices", {})
    for constraint in devices.get("constraints") or ():
        constraint.pop("distinctAttribute", None)
    for request in devices.get("requests") or ():
        for wanted in (*([request["exactly"]] if "exactly" in request else ()), *(request.get("firstAvailable") or ())):
            for name in _DROPPED:
                wanted.pop(name, None)
            if not wanted.get("allocationMode"):
                wanted["allocationMode"] = EXACT_COUNT
            if wanted["allocationMode"] == EXACT_COUNT and not wanted.get("count"):
                wanted["count"] = 1


def check_spec(errors: Errors, spec: Object, path: str) -> None:
    devices, here = spec.get("devices", {}), f"{path}.devices"
    names = request_names(spec)
    check_each(errors, devices.get("requests") or (), f"{here}.requests", MAX_ITEMS, _check_request, _name)
    check_each(
        errors,
        devices.get("constraints") or (),
        f"{here}.constraints",
        MAX_ITEMS,
        lambda errors, constraint, at: _check_constraint(errors, constraint, at, names),
    )
    check_each(
        errors,
        devices.get("config") or (),
        f"{here}.config",
        MAX_ITEMS,
        lambda errors, config, at: _check_claim_configuration(errors, config, at, names),
    )


def request_names(spec: Object) -> set[str]:
    """How the requests of a claim, and their alternatives, can be referred to."""
    found = set()
    for request in spec.get("devices", {}).get("requests") or ():
        found.add(request["name"])
        found.update(f"{request['name']}/{one['name']}" for one in request.get("firstAvailable") or ())
    return found


def check_each(
    errors: Errors,
    items: Sequence[Any],
    path: str,
    limit: int,
    check: Callable[[Errors, Any, str], None],
    key: Callable[[Any], Any] | None = None,
) -> None:
    """The items of a list, each by itself and then against those before it. A list that is too long is not read."""
    if len(items) > limit:
        errors.append(too_many(path, len(items), limit))
        return
    for index, item in enumerate(items):
        check(errors, item, f"{path}[{index}]")
    keys = [key(item) for item in items] if key is not None else []
    errors.extend(duplicate(f"{path}[{i}]", found) for i, found in enumerate(keys) if found in keys[:i])


def _name(item: Object) -> str:
    return str(item["name"])


def _check_request(errors: Errors, request: Object, path: str) -> None:
    check_dns_label(errors, request["name"], f"{path}.name")
    exactly, alternatives = request.get("exactly"), request.get("firstAvailable")
    if exactly is None and not alternatives:
        errors.append(required(path, _ONE_KIND))
    elif exactly is not None and alternatives:
        errors.append(invalid(path, None, f"{_ONE_KIND}, but multiple fields are set"))
    elif alternatives:
        check_each(errors, alternatives, f"{path}.firstAvailable", MAX_ALTERNATIVES, _check_alternative, _name)
    elif exactly is not None:
        _check_wanted(errors, exactly, f"{path}.exactly")


def _check_alternative(errors: Errors, wanted: Object, path: str) -> None:
    check_dns_label(errors, wanted["name"], f"{path}.name")
    _check_wanted(errors, wanted, path)


def _check_wanted(errors: Errors, wanted: Object, path: str) -> None:
    name, count, mode = wanted["deviceClassName"], wanted.get("count", 0), wanted["allocationMode"]
    if name:
        check_texts(errors, f"{path}.deviceClassName", name, is_dns1123_subdomain(name))
    else:
        errors.append(required(f"{path}.deviceClassName", ""))
    check_selectors(errors, wanted.get("selectors") or (), f"{path}.selectors")
    if mode == ALL:
        if count:
            errors.append(invalid(f"{path}.count", count, f"must not be specified when allocationMode is '{ALL}'"))
    elif mode == EXACT_COUNT:
        if count <= 0:
            errors.append(invalid(f"{path}.count", count, "must be greater than zero"))
    else:
        errors.append(not_supported(f"{path}.allocationMode", Enum(mode), (ALL, EXACT_COUNT)))


def check_selectors(errors: Errors, selectors: Sequence[Object], path: str) -> None:
    check_each(errors, selectors, path, MAX_ITEMS, _check_selector)


def _check_selector(errors: Errors, selector: Object, path: str) -> None:
    if "cel" not in selector:
        errors.append(required(f"{path}.cel", ""))
        return
    expression, here = selector["cel"]["expression"], f"{path}.cel.expression"
    if byte_length(expression) > _MAX_EXPRESSION_BYTES:
        errors.append(too_long(here, _MAX_EXPRESSION_BYTES))
        return
    try:
        device_environment().condition(expression)
    except CelCompileError as error:
        errors.append(invalid(here, expression, error.message))


def check_request_reference(errors: Errors, name: str, path: str, names: set[str]) -> None:
    parts = name.split("/")
    if len(parts) > 2:
        errors.append(invalid(path, name, _REFERENCE))
        return
    for part in parts:
        check_dns_label(errors, part, path)
    if name not in names:
        errors.append(invalid(path, name, _REFERENCE))


def _check_constraint(errors: Errors, constraint: Object, path: str, names: set[str]) -> None:
    _check_references(errors, constraint, path, names)
    attribute, here = constraint.get("matchAttribute"), f"{path}.matchAttribute"
    if attribute is None:
        errors.append(required(here, ""))
        return
    check_qualified_name(errors, attribute, here)
    if "/" not in attribute:
        errors.append(
            invalid(here, attribute, "a fully qualified name must be a domain and a name separated by a slash")
        )


def _check_references(errors: Errors, owner: Object, path: str, names: set[str]) -> None:
    check_each(
        errors,
        owner.get("requests") or (),
        f"{path}.requests",
        MAX_ITEMS,
        lambda errors, name, at: check_request_reference(errors, name, at, names),
        str,
    )


def check_qualified_name(errors: Errors, name: str, path: str) -> None:
    """The name of an attribute or of a capacity, with or without a domain."""
    parts = name.split("/")
    if len(parts) == 2:
        domain, identifier = parts
        if domain:
            check_driver(errors, domain, path)
        else:
            errors.append(invalid(path, "", "the domain must not be empty"))
        if identifier:
            _check_identifier(errors, identifier, path)
        else:
            errors.append(invalid(path, "", "the name must not be empty"))
    elif len(parts) == 1:
        _check_identifier(errors, name, path)


def _check_identifier(errors: Errors, identifier: str, path: str) -> None:
    if byte_length(identifier) > MAX_IDENTIFIER_BYTES:
        errors.append(too_long(path, MAX_IDENTIFIER_BYTES))
    check_texts(errors, path, identifier, is_c_identifier(identifier))


def _check_claim_configuration(errors: Errors, config: Object, path: str, names: set[str]) -> None:
    _check_references(errors, config, path, names)
    check_configuration(errors, config, path)


def check_configuration(errors: Errors, config: Object, path: str) -> None:
    """What is handed to a driver as it is."""
    opaque, here = config.get("opaque"), f"{path}.opaque"
    if opaque is None:
        errors.append(required(here, ""))
        return
    check_driver(errors, opaque["driver"], f"{here}.driver")
    parameters = opaque["parameters"]
    if parameters is None:
        errors.append(required(f"{here}.parameters", ""))
    elif byte_length(go_json(parameters)) > _MAX_PARAMETERS_BYTES:
        errors.append(too_long(f"{here}.parameters", _MAX_PARAMETERS_BYTES))
    elif not isinstance(parameters, dict):
        errors.append(invalid(f"{here}.parameters", "<value omitted>", "must be a valid JSON object"))
