"""The rules for probes and lifecycle hooks."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from mooring.api.core.validation.meta import check_nonnegative, check_texts
from mooring.kube.errors import Enum, FieldError, forbidden, invalid, not_supported, required
from mooring.kube.names import is_http_header_name, is_port_name, is_port_number

__all__ = ["check_lifecycle", "check_probes"]

Object = Mapping[str, Any]
Errors = list[FieldError]

_COUNTS: Final = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")


def check_probes(errors: Errors, container: Object, path: str) -> None:
    if (probe := container.get("livenessProbe")) is not None:
        _check_probe(errors, probe, f"{path}.livenessProbe")
        _check_single_success(errors, probe, f"{path}.livenessProbe")
    if (probe := container.get("readinessProbe")) is not None:
        _check_probe(errors, probe, f"{path}.readinessProbe")
        if "terminationGracePeriodSeconds" in probe:
            here = f"{path}.readinessProbe.terminationGracePeriodSeconds"
            errors.append(invalid(here, probe["terminationGracePeriodSeconds"], "must not be set for readinessProbes"))
    if (probe := container.get("startupProbe")) is not None:
        _check_probe(errors, probe, f"{path}.startupProbe")
        _check_single_success(errors, probe, f"{path}.startupProbe")


def _check_single_success(errors: Errors, probe: Object, path: str) -> None:
    if probe.get("successThreshold", 0) != 1:
        errors.append(invalid(f"{path}.successThreshold", probe.get("successThreshold", 0), "must be 1"))


def _check_probe(errors: Errors, probe: Object, path: str) -> None:
    _check_handler(errors, probe, None, path)
    for name in _COUNTS:
        check_nonnegative(errors, probe.get(name, 0), f"{path}.{name}")
    grace = probe.get("terminationGracePeriodSeconds", 1)
    if grace <= 0:
        errors.append(invalid(f"{path}.terminationGracePeriodSeconds", grace, "must be greater than 0"))


def check_lifecycle(errors: Errors, lifecycle: Object, grace_period: int | None, path: str) -> None:
    for name in ("postStart", "preStop"):
        if name in lifecycle:
            _check_handler(errors, lifecycle[name], grace_period, f"{path}.{name}")


def _check_handler(errors: Errors, owner: Object, grace_period: int | None, path: str) -> None:
    given = [name for name in _HANDLERS if name in owner]
    if not given:
        errors.append(required(path, "must specify a handler type"))
        return
    _HANDLERS[given[0]](errors, owner[given[0]], grace_period, f"{path}.{given[0]}")
    errors += [forbidden(f"{path}.{name}", "may not specify more than 1 handler type") for name in given[1:]]


def _check_exec(errors: Errors, action: Object, grace_period: int | None, path: str) -> None:
    if not action.get("command"):
        errors.append(required(f"{path}.command", ""))


def _check_http_get(errors: Errors, action: Object, grace_period: int | None, path: str) -> None:
    if not action.get("path"):
        errors.append(required(f"{path}.path", ""))
    _check_port(errors, action["port"], f"{path}.port")
    if action.get("scheme", "") not in ("HTTP", "HTTPS"):
        errors.append(not_supported(f"{path}.scheme", Enum(action.get("scheme", "")), ("HTTP", "HTTPS")))
    for header in action.get("httpHeaders", ()):
        check_texts(errors, f"{path}.httpHeaders", header["name"], is_http_header_name(header["name"]))


def _check_port_of(errors: Errors, action: Object, grace_period: int | None, path: str) -> None:
    _check_port(errors, action["port"], f"{path}.port")


def _check_port(errors: Errors, port: int | str, path: str) -> None:
    texts = is_port_name(port) if isinstance(port, str) else is_port_number(port)
    errors += [invalid(path, port, text) for text in texts]


def _check_sleep(errors: Errors, action: Object, grace_period: int | None, path: str) -> None:
    if grace_period is not None and not 0 <= action["seconds"] <= grace_period:
        detail = f"must be non-negative and less than terminationGracePeriodSeconds ({grace_period})"
        errors.append(invalid(path, action["seconds"], detail))


_HANDLERS: Final[dict[str, Callable[[Errors, Object, int | None, str], None]]] = {
    "exec": _check_exec,
    "httpGet": _check_http_get,
    "tcpSocket": _check_port_of,
    "grpc": _check_port_of,
    "sleep": _check_sleep,
}
