"""The rules for containers, init containers and ephemeral containers."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from mooring.api.core.resources import is_sidecar
from mooring.api.core.validation.env import check_env, check_env_from
from mooring.api.core.validation.meta import check_dns_label, check_texts
from mooring.api.core.validation.mounts import check_volume_devices, check_volume_mounts
from mooring.api.core.validation.probes import check_lifecycle, check_probes
from mooring.api.core.validation.resources import check_container_resources
from mooring.api.core.validation.security import check_container_security
from mooring.kube.errors import (
    Enum,
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
    too_long,
)
from mooring.kube.names import is_port_name, is_port_number

__all__ = [
    "ContainerSurroundings",
    "check_containers",
    "check_ephemeral_containers",
    "check_image_spaces",
    "check_init_containers",
    "check_pull_policy",
]

Object = Mapping[str, Any]
Errors = list[FieldError]

_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_PULL_POLICIES: Final = ("Always", "IfNotPresent", "Never")
_RESTART_POLICIES: Final = ("Always", "Never", "OnFailure")
_MESSAGE_POLICIES: Final = ("File", "FallbackToLogsOnError")
_MAX_RULES: Final = 20
_MAX_EXIT_CODES: Final = 255
# In the order of the API's type, which is the order of the errors.
_EPHEMERAL_FORBIDDEN: Final = (
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
)


class ContainerSurroundings(NamedTuple):
    """What a container's rules need to know of its pod."""

    volumes: Mapping[str, Object]
    claims: Collection[str]
    grace_period: int | None
    restart_policy: str
    host_users: bool


def check_containers(errors: Errors, containers: Sequence[Object], pod: ContainerSurroundings, path: str) -> None:
    if not containers:
        errors.append(required(path, ""))
        return
    seen: set[str] = set()
    for index, container in enumerate(containers):
        here = f"{path}[{index}]"
        _check_common(errors, container, pod, here)
        if container["name"] in seen:
            errors.append(duplicate(f"{here}.name", container["name"]))
        seen.add(container["name"])
        _check_hooks(errors, container, pod, here)
        _check_restart_rules(errors, container, here)
    _check_host_ports(errors, containers, path)


def check_init_containers(
    errors: Errors, containers: Sequence[Object], regular: Sequence[Object], pod: ContainerSurroundings, path: str
) -> None:
    seen = {container["name"] for container in regular}
    for index, container in enumerate(containers):
        here = f"{path}[{index}]"
        _check_common(errors, container, pod, here)
        if container.get("restartPolicy") == "Always" and "restartPolicyRules" in container:
            detail = "restartPolicyRules are not allowed for init containers with restart policy Always"
            errors.append(forbidden(f"{here}.restartPolicyRules", detail))
        elif "restartPolicy" in container:
            _check_restart_rules(errors, container, here)
        elif "restartPolicyRules" in container:
            errors.append(required(f"{here}.restartPolicy", "must specify restartPolicy when restart rules are used"))
        if container["name"] in seen:
            errors.append(duplicate(f"{here}.name", container["name"]))
        elif container["name"]:
            seen.add(container["name"])
        # The index of this complaint is 0 for every init container: the API looks at each of them alone.
        _check_host_ports(errors, (container,), path)
        if is_sidecar(container):
            _check_hooks(errors, container, pod, here)
            continue
        for name in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe"):
            if name in container:
                detail = "may not be set for init containers without restartPolicy=Always"
                errors.append(forbidden(f"{here}.{name}", detail))


def check_ephemeral_containers(errors: Errors, spec: Object, pod: ContainerSurroundings, path: str) -> None:
    others = {container["name"] for name in ("containers", "initContainers") for container in spec.get(name) or ()}
    seen = set(others)
    for index, container in enumerate(spec.get("ephemeralContainers", ())):
        here = f"{path}[{index}]"
        _check_common(errors, container, pod, here)
        check_image_spaces(errors, container, here)
        if container["name"] in seen:
            errors.append(duplicate(f"{here}.name", container["name"]))
        seen.add(container["name"])
        target = container.get("targetContainerName")
        if target and target not in others:
            errors.append(not_found(f"{here}.targetContainerName", target))
        detail = "cannot be set for an Ephemeral Container"
        for name in _EPHEMERAL_FORBIDDEN:
            if container["resources"] if name == "resources" else name in container:
                errors.append(forbidden(f"{here}.{name}", detail))
        for position, mount in enumerate(container.get("volumeMounts", ())):
            for name in ("subPath", "subPathExpr"):
                if mount.get(name):
                    errors.append(forbidden(f"{here}.volumeMounts[{position}].{name}", detail))


def check_image_spaces(errors: Errors, container: Object, path: str) -> None:
    image = container.get("image", "")
    if image != image.strip():
        errors.append(invalid(f"{path}.image", image, "must not have leading or trailing whitespace"))


def _check_common(errors: Errors, container: Object, pod: ContainerSurroundings, path: str) -> None:
    if container["name"]:
        check_dns_label(errors, container["name"], f"{path}.name")
    else:
        errors.append(required(f"{path}.name", ""))
    if not container.get("image"):
        errors.append(required(f"{path}.image", ""))
    policy = container.get("terminationMessagePolicy", "")
    if policy not in _MESSAGE_POLICIES:
        here = f"{path}.terminationMessagePolicy"
        errors.append(not_supported(here, Enum(policy), _MESSAGE_POLICIES) if policy else required(here, ""))
    if "ports" in container:
        _check_ports(errors, container["ports"], f"{path}.ports")
    if "env" in container:
        check_env(errors, container["env"], f"{path}.env")
    if "envFrom" in container:
        check_env_from(errors, container["envFrom"], f"{path}.envFrom")
    if "volumeMounts" in container:
        check_volume_mounts(errors, container, pod.volumes, f"{path}.volumeMounts")
    if "volumeDevices" in container:
        check_volume_devices(errors, container, pod.volumes, f"{path}.volumeDevices")
    check_pull_policy(errors, container.get("imagePullPolicy", ""), f"{path}.imagePullPolicy")
    check_container_resources(errors, container["resources"], pod.claims, f"{path}.resources")
    if "resizePolicy" in container:
        _check_resize_policy(errors, container["resizePolicy"], pod.restart_policy, f"{path}.resizePolicy")
    if context := container.get("securityContext"):
        check_container_security(errors, context, f"{path}.securityContext", host_users=pod.host_users)


def _check_hooks(errors: Errors, container: Object, pod: ContainerSurroundings, path: str) -> None:
    if lifecycle := container.get("lifecycle"):
        check_lifecycle(errors, lifecycle, pod.grace_period, f"{path}.lifecycle")
    check_probes(errors, container, path)


def _check_ports(errors: Errors, ports: Sequence[Object], path: str) -> None:
    seen: set[str] = set()
    for index, port in enumerate(ports):
        here = f"{path}[{index}]"
        if name := port.get("name"):
            if texts := is_port_name(name):
                check_texts(errors, f"{here}.name", name, texts)
            elif name in seen:
                errors.append(duplicate(f"{here}.name", name))
            else:
                seen.add(name)
        if not port["containerPort"]:
            errors.append(required(f"{here}.containerPort", ""))
        for field in ("containerPort", "hostPort"):
            if number := port.get(field):
                errors += [invalid(f"{here}.{field}", number, text) for text in is_port_number(number)]
        protocol = port.get("protocol", "")
        if not protocol:
            errors.append(required(f"{here}.protocol", ""))
        elif protocol not in _PROTOCOLS:
            errors.append(not_supported(f"{here}.protocol", Enum(protocol), _PROTOCOLS))


def _check_host_ports(errors: Errors, containers: Sequence[Object], path: str) -> None:
    seen: set[str] = set()
    for index, container in enumerate(containers):
        for position, port in enumerate(container.get("ports", ())):
            if not port.get("hostPort"):
                continue
            shown = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{port['hostPort']}"
            if shown in seen:
                errors.append(duplicate(f"{path}[{index}].ports[{position}].hostPort", shown))
            seen.add(shown)


def check_pull_policy(errors: Errors, policy: str, path: str) -> None:
    if policy in _PULL_POLICIES:
        return
    errors.append(not_supported(path, Enum(policy), _PULL_POLICIES) if policy else required(path, ""))


def _check_restart_rules(errors: Errors, container: Object, path: str) -> None:
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules", ())
    if policy is None:
        if not rules:
            return
        errors.append(required(f"{path}.restartPolicy", "must specify restartPolicy when restart rules are used"))
    elif policy not in _RESTART_POLICIES:
        errors.append(not_supported(f"{path}.restartPolicy", Enum(policy), _RESTART_POLICIES))
    if len(rules) > _MAX_RULES:
        errors.append(too_long(f"{path}.restartPolicyRules", _MAX_RULES))
    for index, rule in enumerate(rules):
        here = f"{path}.restartPolicyRules[{index}]"
        if rule.get("action", "") != "Restart":
            errors.append(not_supported(f"{here}.action", Enum(rule.get("action", "")), ("Restart",)))
        codes = rule.get("exitCodes")
        if codes is None:
            errors.append(required(f"{here}.exitCodes", "must be specified"))
            continue
        operator = codes.get("operator", "")
        if operator not in ("In", "NotIn"):
            errors.append(not_supported(f"{here}.exitCodes.operator", Enum(operator), ("In", "NotIn")))
        if len(codes.get("values", ())) > _MAX_EXIT_CODES:
            errors.append(too_long(f"{here}.exitCodes.values", _MAX_EXIT_CODES))


def _check_resize_policy(errors: Errors, policies: Sequence[Object], pod_policy: str, path: str) -> None:
    seen: set[str] = set()
    for index, policy in enumerate(policies):
        resource, restart = policy["resourceName"], policy["restartPolicy"]
        if resource in seen:
            errors.append(duplicate(f"{path}[{index}]", Enum(resource)))
        seen.add(resource)
        for value, known in ((resource, ("cpu", "memory")), (restart, ("NotRequired", "RestartContainer"))):
            if not value:
                errors.append(required(path, ""))
            elif value not in known:
                errors.append(not_supported(path, Enum(value), known))
        if pod_policy == "Never" and restart != "NotRequired":
            detail = "must be 'NotRequired' when `restartPolicy` is 'Never'"
            errors.append(invalid(path, Enum(restart), detail))
