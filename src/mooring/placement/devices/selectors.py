"""Which devices an expression selects.

An expression is compiled once and asked once per device: devices do not change while their slice does not, and many
requests ask the same of them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from mooring.api.resource.expressions import device_environment
from mooring.kube.cel.environment import CelProgram
from mooring.kube.cel.errors import CelCompileError, CelRuntimeError
from mooring.kube.quantities import parse_quantity
from mooring.kube.versions import parse_version
from mooring.placement.devices.inventory import DeviceInfo

MAX_PROGRAMS = 1000


class SelectorFailure(Exception):
    """An expression that cannot be compiled, or that has no value for a device; the text says which."""


def selects(expression: str, device: DeviceInfo) -> bool:
    """Whether a device is selected. Raises SelectorFailure."""
    found = device.answers.get(expression)
    if found is None:
        found = device.answers[expression] = _ask(expression, device)
    if isinstance(found, str):
        raise SelectorFailure(found)
    return found


@lru_cache(MAX_PROGRAMS)
def _program(expression: str) -> CelProgram | str:
    """The compiled expression, or why there is none."""
    try:
        return device_environment().condition(expression)
    except CelCompileError as error:
        return f"CEL compile error: {error.message}"


def _ask(expression: str, device: DeviceInfo) -> bool | str:
    program = _program(expression)
    if isinstance(program, str):
        return program
    if device.variables is None:
        device.variables = _variables(device)
    variables = device.variables
    while True:
        try:
            return program.holds(variables)
        except CelRuntimeError as error:
            domain, known = error.missing_key, variables["device"]
            if domain is None or (domain in known["attributes"] and domain in known["capacity"]):
                return f"CEL runtime error: {error.message}"
            variables = _with_domain(variables, domain)


def _with_domain(variables: dict[str, Any], domain: str) -> dict[str, Any]:
    """The same device with a domain in which it has nothing: asking for one is no error, as with Kubernetes.

    Maps cannot answer for a key that they do not have, so it is put in once it is asked for. The missing key may be
    that of an attribute just as well; then it is missed again.
    """
    device = variables["device"]
    return {
        "device": {
            **device,
            "attributes": {domain: {}, **device["attributes"]},
            "capacity": {domain: {}, **device["capacity"]},
        }
    }


def _variables(device: DeviceInfo) -> dict[str, Any]:
    attributes: dict[str, dict[str, Any]] = {}
    for name, attribute in device.attributes.items():
        domain, identifier = _qualified(name, device.id.driver)
        attributes.setdefault(domain, {})[identifier] = _value(attribute)
    capacity: dict[str, dict[str, Any]] = {}
    for name, amount in device.capacity.items():
        domain, identifier = _qualified(name, device.id.driver)
        capacity.setdefault(domain, {})[identifier] = parse_quantity(amount.value)
    return {"device": {"driver": device.id.driver, "attributes": attributes, "capacity": capacity}}


def _qualified(name: str, driver: str) -> tuple[str, str]:
    """The domain and the identifier of an attribute; what has no domain is in that of the driver."""
    domain, slash, identifier = name.partition("/")
    return (domain, identifier) if slash else (driver, name)


def _value(attribute: Any) -> Any:
    for value in (attribute.int_value, attribute.bool_value, attribute.string_value):
        if value is not None:
            return value
    return parse_version(attribute.version_value or "0.0.0")
