"""Ingresses, their classes, and network policies: what the API server adds to them, and what it says, in its order."""

from typing import Final

from mooring.api.core.addresses import check_cidr, check_ip, is_cidr, is_ip, read_cidr
from mooring.api.core.pod_templates import check_immutable
from mooring.api.core.validation.meta import check_label_selector, check_texts
from mooring.kube.domains import check_domain_path, is_wildcard_domain
from mooring.kube.errors import Enum, FieldError, forbidden, invalid, not_supported, required, too_long
from mooring.kube.names import (
    byte_length,
    is_dns1035_label,
    is_dns1123_label,
    is_dns1123_subdomain,
    is_port_name,
    is_port_number,
    path_segment_texts,
)
from mooring.kube.objects import Object

__all__ = [
    "default_ingress_class",
    "default_network_policy",
    "validate_ingress",
    "validate_ingress_class",
    "validate_ingress_class_update",
    "validate_ingress_status",
    "validate_network_policy",
    "validate_network_policy_update",
]

Errors = list[FieldError]

_CLASS_ANNOTATION: Final = "kubernetes.io/ingress.class"
_PATH_TYPES: Final = ("Exact", "ImplementationSpecific", "Prefix")
_BAD_SEQUENCES: Final = ("//", "/./", "/../", "%2f", "%2F")
_BAD_ENDINGS: Final = ("/..", "/.")
_MAX_CONTROLLER_BYTES: Final = 250
_PROTOCOLS: Final = ("TCP", "UDP", "SCTP")


# Ingresses


def validate_ingress(obj: Object) -> list[FieldError]:
    errors: Errors = []
    spec = obj["spec"]
    rules, name = spec.get("rules", []), spec.get("ingressClassName")
    if not rules and "defaultBackend" not in spec:
        errors.append(invalid("spec", spec.get("rules"), "either `defaultBackend` or `rules` must be specified"))
    if "defaultBackend" in spec:
        _check_backend(errors, spec["defaultBackend"], "spec.defaultBackend")
    for index, rule in enumerate(rules):
        _check_rule(errors, rule, f"spec.rules[{index}]")
    for index, tls in enumerate(spec.get("tls", ())):
        for position, host in enumerate(tls.get("hosts", ())):
            _check_host(errors, host, f"spec.tls[{index}].hosts[{position}]")
        if secret := tls.get("secretName"):
            check_texts(errors, f"spec.tls[{index}].secretName", secret, is_dns1123_subdomain(secret))
    if name is not None:
        check_texts(errors, "spec.ingressClassName", name, is_dns1123_subdomain(name))
    annotation = obj["metadata"].get("annotations", {}).get(_CLASS_ANNOTATION)
    if annotation is not None and name is not None and annotation != name and not _is_stored(obj):
        detail = "must match `ingressClassName` when both are specified"
        errors.append(invalid(f"annotations.{_CLASS_ANNOTATION}", annotation, detail))
    return errors


def _is_stored(obj: Object) -> bool:
    return "resourceVersion" in obj["metadata"]


def _check_host(errors: Errors, host: str, path: str) -> None:
    check_texts(errors, path, host, is_wildcard_domain(host) if "*" in host else is_dns1123_subdomain(host))


def _check_rule(errors: Errors, rule: Object, path: str) -> None:
    if host := rule.get("host"):
        if is_ip(host):
            errors.append(invalid(f"{path}.host", host, "must be a DNS name, not an IP address"))
        _check_host(errors, host, f"{path}.host")
    if "http" not in rule:
        return
    if not rule["http"]["paths"]:
        errors.append(required(f"{path}.http.paths", ""))
    for index, each in enumerate(rule["http"]["paths"] or ()):
        _check_path(errors, each, f"{path}.http.paths[{index}]")


def _check_path(errors: Errors, each: Object, path: str) -> None:
    kind, target, here = each["pathType"], each.get("path", ""), f"{path}.path"
    if kind is None:
        errors.append(required(f"{path}.pathType", "pathType must be specified"))
        return
    if kind not in _PATH_TYPES:
        errors.append(not_supported(f"{path}.pathType", Enum(kind), _PATH_TYPES))
    elif not target.startswith("/") and (target or kind != "ImplementationSpecific"):
        errors.append(invalid(here, target, "must be an absolute path"))
    if kind in ("Exact", "Prefix"):
        errors += [invalid(here, target, f"must not contain '{text}'") for text in _BAD_SEQUENCES if text in target]
        errors += [invalid(here, target, f"cannot end with '{end}'") for end in _BAD_ENDINGS if target.endswith(end)]
    _check_backend(errors, each["backend"], f"{path}.backend")


def _check_backend(errors: Errors, backend: Object, path: str) -> None:
    service = backend.get("service")
    if "resource" in backend and service is not None:
        errors.append(invalid(path, "", "cannot set both resource and service backends"))
    elif "resource" in backend:
        _check_reference(errors, backend["resource"], f"{path}.resource")
    elif service is None:
        errors.append(invalid(path, "", "resource or service backend is required"))
    else:
        _check_service(errors, service, path)


def _check_service(errors: Errors, service: Object, path: str) -> None:
    name, port = service["name"], service["port"]
    if name:
        check_texts(errors, f"{path}.service.name", name, is_dns1035_label(name))
    else:
        errors.append(required(f"{path}.service.name", ""))
    if port.get("name") and port.get("number"):
        errors.append(invalid(path, "", "cannot set both port name & port number"))
    elif port.get("name"):
        check_texts(errors, f"{path}.service.port.name", port["name"], is_port_name(port["name"]))
    elif port.get("number"):
        errors += [invalid(f"{path}.service.port.number", port["number"], t) for t in is_port_number(port["number"])]
    else:
        errors.append(required(path, "port name or number is required"))


def _check_reference(errors: Errors, reference: Object, path: str) -> None:
    group = reference.get("apiGroup")
    if group is not None:
        check_texts(errors, f"{path}.apiGroup", group, is_dns1123_subdomain(group))
    for name in ("kind", "name"):
        if reference[name]:
            check_texts(errors, f"{path}.{name}", reference[name], path_segment_texts(reference[name]))
        else:
            errors.append(required(f"{path}.{name}", ""))


def validate_ingress_status(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    known = [each["ip"] for each in old["status"]["loadBalancer"].get("ingress", ()) if each.get("ip")]
    for index, each in enumerate(new["status"]["loadBalancer"].get("ingress", ())):
        path, host = f"status.loadBalancer.ingress[{index}]", each.get("hostname")
        if each.get("ip"):
            check_ip(errors, each["ip"], f"{path}.ip", known)
        if host:
            check_texts(errors, f"{path}.hostname", host, is_dns1123_subdomain(host))
            if is_ip(host):
                errors.append(invalid(f"{path}.hostname", host, "must be a DNS name, not an IP address"))
    return errors


# Classes


def default_ingress_class(obj: Object) -> None:
    parameters = obj["spec"].get("parameters")
    if parameters is not None and parameters["scope"] is None:
        parameters["scope"] = "Cluster"


def validate_ingress_class(obj: Object) -> list[FieldError]:
    errors: Errors = []
    spec = obj["spec"]
    controller, parameters = spec.get("controller", ""), spec.get("parameters")
    if byte_length(controller) > _MAX_CONTROLLER_BYTES:
        errors.append(too_long("spec.controller", _MAX_CONTROLLER_BYTES))
    check_domain_path(errors, controller, "spec.controller")
    if parameters is None:
        return errors
    path, scope, namespace = "spec.parameters", parameters["scope"], parameters.get("namespace")
    _check_reference(errors, parameters, path)
    if scope not in ("Cluster", "Namespace"):
        errors.append(not_supported(f"{path}.scope", scope, ("Cluster", "Namespace")))
    elif scope == "Namespace":
        if namespace is None:
            errors.append(required(f"{path}.namespace", "`parameters.scope` is set to 'Namespace'"))
        else:
            check_texts(errors, f"{path}.namespace", namespace, is_dns1123_label(namespace))
    elif namespace is not None:
        errors.append(forbidden(f"{path}.namespace", "`parameters.scope` is set to 'Cluster'"))
    return errors


def validate_ingress_class_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    check_immutable(errors, new["spec"].get("controller", ""), old["spec"].get("controller", ""), "spec.controller")
    return errors + validate_ingress_class(new)


# Network policies


def default_network_policy(obj: Object) -> None:
    spec = obj["spec"]
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
    for rule in (*spec.get("ingress", ()), *spec.get("egress", ())):
        for port in rule.get("ports", ()):
            port.setdefault("protocol", "TCP")


def validate_network_policy(obj: Object) -> list[FieldError]:
    errors: Errors = []
    _check_policy(errors, obj["spec"], ())
    return errors


def validate_network_policy_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    spec = old["spec"]
    peers = [each for rule in spec.get("ingress", ()) for each in rule.get("from", ())]
    peers += [each for rule in spec.get("egress", ()) for each in rule.get("to", ())]
    blocks = [each["ipBlock"] for each in peers if "ipBlock" in each]
    known = [text for block in blocks for text in (block["cidr"], *block.get("except", ()))]
    _check_policy(errors, new["spec"], known)
    return errors


def _check_policy(errors: Errors, spec: Object, known: list[str] | tuple[()]) -> None:
    check_label_selector(errors, spec["podSelector"], "spec.podSelector")
    for name, side in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(name, ())):
            path = f"spec.{name}[{index}]"
            for position, port in enumerate(rule.get("ports", ())):
                _check_port(errors, port, f"{path}.ports[{position}]")
            for position, peer in enumerate(rule.get(side, ())):
                _check_peer(errors, peer, known, f"{path}.{side}[{position}]")
    types = spec.get("policyTypes", [])
    if len(types) > 2:
        errors.append(invalid("spec.policyTypes", types, "may not specify more than two policyTypes"))
        return
    for index, kind in enumerate(types):
        if kind not in ("Ingress", "Egress"):
            errors.append(not_supported(f"spec.policyTypes[{index}]", Enum(kind), ("Ingress", "Egress")))


def _check_port(errors: Errors, port: Object, path: str) -> None:
    number, end = port.get("port"), port.get("endPort")
    if port["protocol"] not in _PROTOCOLS:
        errors.append(not_supported(f"{path}.protocol", Enum(port["protocol"]), _PROTOCOLS))
    if isinstance(number, int):
        errors += [invalid(f"{path}.port", number, text) for text in is_port_number(number)]
        if end is not None:
            if end < number:
                errors.append(invalid(f"{path}.endPort", number, "must be greater than or equal to `port`"))
            errors += [invalid(f"{path}.endPort", end, text) for text in is_port_number(end)]
        return
    if end is not None:
        what = "not specified" if number is None else "non-numeric"
        errors.append(invalid(f"{path}.endPort", end, f"may not be specified when `port` is {what}"))
    if number is not None:
        check_texts(errors, f"{path}.port", number, is_port_name(number))


def _check_peer(errors: Errors, peer: Object, known: list[str] | tuple[()], path: str) -> None:
    for name in ("podSelector", "namespaceSelector"):
        if name in peer:
            check_label_selector(errors, peer[name], f"{path}.{name}")
    if "ipBlock" in peer:
        _check_block(errors, peer["ipBlock"], known, f"{path}.ipBlock")
    if not peer:
        errors.append(required(path, "must specify a peer"))
    elif len(peer) > 1 and "ipBlock" in peer:
        errors.append(forbidden(path, "may not specify both ipBlock and another peer"))


def _check_block(errors: Errors, block: Object, known: list[str] | tuple[()], path: str) -> None:
    if not block["cidr"]:
        errors.append(required(f"{path}.cidr", ""))
        return
    check_cidr(errors, block["cidr"], f"{path}.cidr", known)
    if not is_cidr(block["cidr"]):
        return
    outer = read_cidr(block["cidr"])
    for index, text in enumerate(block.get("except", ())):
        here = f"{path}.except[{index}]"
        check_cidr(errors, text, here, known)
        if not is_cidr(text):
            continue
        inner = read_cidr(text)
        inside = inner.version == outer.version and inner.network_address in outer
        if not inside or outer.prefixlen >= inner.prefixlen:
            errors.append(invalid(here, text, "must be a strict subset of `cidr`"))
