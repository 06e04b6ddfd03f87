"""Services: what the API server adds to them, and what it says about them.

Validation expects a Service whose addresses and ports have been handed out. Rules stand in the API's order.
"""

from typing import Final

from mooring.api.core.addresses import check_cidr, check_endpoint_ip, check_ip, family_of, is_ip
from mooring.api.core.validation.meta import check_dns_label, check_label_key, check_labels
from mooring.kube.errors import Enum, FieldError, duplicate, forbidden, invalid, not_supported, required
from mooring.kube.names import is_dns1123_subdomain, is_in_range, is_port_name, is_port_number
from mooring.kube.objects import Object

__all__ = [
    "check_cluster_ips",
    "default_service",
    "default_service_status",
    "is_externally_accessible",
    "needs_health_check",
    "validate_service",
    "validate_service_status",
    "validate_service_update",
]

Errors = list[FieldError]

_SPREAD: Final = ("ClusterIP", "NodePort", "LoadBalancer")
_TYPES: Final = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_DISTRIBUTIONS: Final = ("PreferClose", "PreferSameZone", "PreferSameNode")
_FAMILIES: Final = ("IPv4", "IPv6")
_FAMILY_POLICIES: Final = ("PreferDualStack", "RequireDualStack", "SingleStack")
_RANGES_ANNOTATION: Final = "service.beta.kubernetes.io/load-balancer-source-ranges"
_HINTS: Final = "service.kubernetes.io/topology-aware-hints"
_MODE: Final = "service.kubernetes.io/topology-mode"
_DAY: Final = 86400


def is_externally_accessible(spec: Object) -> bool:
    return spec["type"] in ("LoadBalancer", "NodePort") or (
        spec["type"] == "ClusterIP" and bool(spec.get("externalIPs"))
    )


def needs_health_check(spec: Object) -> bool:
    return spec["type"] == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def default_service(obj: Object) -> None:
    spec = obj["spec"]
    affinity = spec["sessionAffinity"] = spec.get("sessionAffinity") or "None"
    if affinity == "None":
        spec.pop("sessionAffinityConfig", None)
    elif affinity == "ClientIP":
        config = spec.get("sessionAffinityConfig") or {}
        if (config.get("clientIP") or {}).get("timeoutSeconds") is None:
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": 10800}}
    kind = spec["type"] = spec.get("type") or "ClusterIP"
    for port in spec.get("ports", ()):
        port["protocol"] = port.get("protocol") or "TCP"
        if port["targetPort"] in (0, ""):
            port["targetPort"] = port["port"]
    if is_externally_accessible(spec) and not spec.get("externalTrafficPolicy"):
        spec["externalTrafficPolicy"] = "Cluster"
    if kind in _SPREAD:
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if kind == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)


def default_service_status(obj: Object) -> None:
    if obj["spec"]["type"] == "LoadBalancer":
        for ingress in obj["status"]["loadBalancer"].get("ingress", ()):
            if ingress.get("ip"):
                ingress.setdefault("ipMode", "VIP")


def validate_service(obj: Object, old: Object | None = None) -> list[FieldError]:
    errors: Errors = []
    spec, was = obj["spec"], (old or {}).get("spec", {})
    annotations = obj["metadata"].get("annotations", {})
    if annotations.get(_MODE, annotations.get(_HINTS)) != annotations.get(_HINTS) and _HINTS in annotations:
        detail = f"must match annotations[{_HINTS}] when both are specified"
        errors.append(invalid(f"metadata.annotations[{_MODE}]", annotations[_MODE], detail))
    headless, ports = _is_headless(spec), spec.get("ports", ())
    if not ports and not headless and spec["type"] != "ExternalName":
        errors.append(required("spec.ports", ""))
    if headless and spec["type"] in ("LoadBalancer", "NodePort"):
        detail = f"may not be set to 'None' for {spec['type']} services"
        errors.append(invalid("spec.clusterIPs[0]", "None", detail))
    if spec["type"] == "ExternalName":
        _check_external_name(errors, spec)
    names: set[str] = set()
    for index, port in enumerate(ports):
        _check_port(errors, port, len(ports) > 1, names, f"spec.ports[{index}]")
    check_labels(errors, spec.get("selector"), "spec.selector")
    _check_affinity(errors, spec)
    check_cluster_ips(errors, spec, was)
    for index, address in enumerate(spec.get("externalIPs", ())):
        if check_ip(errors, address, f"spec.externalIPs[{index}]", was.get("externalIPs", ())):
            check_endpoint_ip(errors, address, f"spec.externalIPs[{index}]")
    if spec["type"] not in _TYPES:
        errors.append(not_supported("spec.type", Enum(spec["type"]), _TYPES))
    _check_port_set(errors, spec)
    _check_source_ranges(errors, spec, was, annotations, old)
    if "allocateLoadBalancerNodePorts" in spec and spec["type"] != "LoadBalancer":
        path = "spec.allocateLoadBalancerNodePorts"
        errors.append(forbidden(path, "may only be used when `type` is 'LoadBalancer'"))
    _check_class(errors, spec)
    _check_policies(errors, spec)
    return errors


def _is_headless(spec: Object) -> bool:
    return bool(spec.get("clusterIPs") == ["None"])


def _check_external_name(errors: Errors, spec: Object) -> None:
    for name in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if spec.get(name):
            errors.append(forbidden(f"spec.{name}", "may not be set for ExternalName services"))
    name = spec.get("externalName", "").removesuffix(".")
    if name:
        errors += [invalid("spec.externalName", name, text) for text in is_dns1123_subdomain(name)]
    else:
        errors.append(required("spec.externalName", ""))


def _check_port(errors: Errors, port: Object, named: bool, names: set[str], path: str) -> None:
    name = port.get("name", "")
    if name:
        check_dns_label(errors, name, f"{path}.name")
        if name in names:
            errors.append(duplicate(f"{path}.name", name))
        names.add(name)
    elif named:
        errors.append(required(f"{path}.name", ""))
    errors += [invalid(f"{path}.port", port["port"], text) for text in is_port_number(port["port"])]
    if port["protocol"] not in _PROTOCOLS:
        errors.append(not_supported(f"{path}.protocol", Enum(port["protocol"]), _PROTOCOLS))
    target = port["targetPort"]
    texts = is_port_number(target) if isinstance(target, int) else is_port_name(target)
    errors += [invalid(f"{path}.targetPort", target, text) for text in texts]
    if "appProtocol" in port:
        check_label_key(errors, port["appProtocol"], f"{path}.appProtocol")


def _check_affinity(errors: Errors, spec: Object) -> None:
    affinity = spec["sessionAffinity"]
    if affinity not in ("ClientIP", "None"):
        errors.append(not_supported("spec.sessionAffinity", Enum(affinity), ("ClientIP", "None")))
    if affinity == "ClientIP":
        path = "spec.sessionAffinityConfig.clientIP.timeoutSeconds"
        seconds = spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"]
        if not 0 < seconds <= _DAY:
            errors.append(invalid(path, seconds, f"must be greater than 0 and less than {_DAY}"))


def check_cluster_ips(errors: Errors, spec: Object, was: Object) -> None:
    """The fields about cluster addresses must agree with each other."""
    if spec["type"] == "ExternalName":
        return
    path, addresses, families = "spec.clusterIPs", spec.get("clusterIPs", []), spec.get("ipFamilies", [])
    first = spec.get("clusterIP", "")
    if first and not addresses:
        errors.append(required(path, ""))
    elif first and addresses[0] != first:
        errors.append(invalid(path, addresses, "first value must match `clusterIP`"))
    elif addresses and not first:
        errors.append(invalid(path, addresses, "must be empty when `clusterIP` is not specified"))
    for index, family in enumerate(families):
        if family not in _FAMILIES:
            errors.append(not_supported(f"spec.ipFamilies[{index}]", Enum(family), _FAMILIES))
        if family in families[:index]:
            errors.append(duplicate(f"spec.ipFamilies[{index}]", Enum(family)))
    policy = spec.get("ipFamilyPolicy")
    if policy is not None and policy not in _FAMILY_POLICIES:
        errors.append(not_supported("spec.ipFamilyPolicy", Enum(policy), _FAMILY_POLICIES))
    wrong = False
    for index, address in enumerate(addresses):
        if index == 0 and address == "None":
            if len(addresses) > 1:
                wrong = True
                errors.append(invalid(path, addresses, "'None' must be the first and only value"))
        else:
            wrong |= not check_ip(errors, address, f"{path}[{index}]", was.get("clusterIPs", ()))
    if len(addresses) > 2:
        errors.append(invalid(path, addresses, "may only hold up to 2 values"))
    if wrong:
        return
    if len(addresses) > 1 and len(set(map(family_of, addresses))) < 2:
        errors.append(invalid(path, addresses, "may specify no more than one IP for each IP family"))
    if not _is_headless(spec):
        for index, (address, family) in enumerate(zip(addresses, families, strict=False)):
            if family in _FAMILIES and family_of(address) != family:
                detail = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
                errors.append(invalid(f"{path}[{index}]", address, detail))


def _check_port_set(errors: Errors, spec: Object) -> None:
    ports = spec.get("ports", ())
    if spec["type"] == "ClusterIP":
        for index, port in enumerate(ports):
            if port.get("nodePort"):
                path = f"spec.ports[{index}].nodePort"
                errors.append(forbidden(path, "may not be used when `type` is 'ClusterIP'"))
    for name, told in (("nodePort", ".nodePort"), ("port", "")):
        seen: set[tuple[str, int]] = set()
        for index, port in enumerate(ports):
            number = port.get(name, 0)
            if name == "nodePort" and not number:
                continue
            if (port["protocol"], number) in seen:
                value = number if told else _port_key(port)
                errors.append(duplicate(f"spec.ports[{index}]{told}", value))
            seen.add((port["protocol"], number))


def _port_key(port: Object) -> Object:
    """What the API shows of a port that is there twice."""
    key = {"Name": "", "Protocol": port["protocol"], "AppProtocol": None, "Port": port["port"], "TargetPort": 0}
    return {**key, "NodePort": 0}


def _check_source_ranges(errors: Errors, spec: Object, was: Object, annotations: Object, old: Object | None) -> None:
    balanced = spec["type"] == "LoadBalancer"
    only = "may only be used when `type` is 'LoadBalancer'"
    ranges = spec.get("loadBalancerSourceRanges")
    if ranges:
        path = "spec.LoadBalancerSourceRanges"
        if not balanced:
            errors.append(forbidden(path, only))
        known = [text.strip() for text in was.get("loadBalancerSourceRanges", ())]
        for index, text in enumerate(ranges):
            check_cidr(errors, text.strip(), f"{path}[{index}]", known)
    elif _RANGES_ANNOTATION in annotations:
        path, value = f"metadata.annotations[{_RANGES_ANNOTATION}]", annotations[_RANGES_ANNOTATION]
        if not balanced:
            errors.append(forbidden(path, only))
        before = (old or {}).get("metadata", {}).get("annotations", {}).get(_RANGES_ANNOTATION)
        if value != before and value.strip():
            for text in value.split(","):
                check_cidr(errors, text.strip(), path)


def _check_class(errors: Errors, spec: Object, was: Object | None = None) -> None:
    given = spec.get("loadBalancerClass")
    if was is not None and was["type"] == spec["type"] == "LoadBalancer" and was.get("loadBalancerClass") != given:
        shown = None if given is None else Enum(given)
        errors.append(invalid("spec.loadBalancerClass", shown, "may not change once set"))
    if given is None:
        return
    if spec["type"] == "LoadBalancer":
        check_label_key(errors, given, "spec.loadBalancerClass")
    else:
        errors.append(forbidden("spec.loadBalancerClass", "may only be used when `type` is 'LoadBalancer'"))


def _check_policies(errors: Errors, spec: Object) -> None:
    external, port = spec.get("externalTrafficPolicy", ""), spec.get("healthCheckNodePort", 0)
    if not is_externally_accessible(spec):
        if external:
            detail = "may only be set for externally-accessible services"
            errors.append(invalid("spec.externalTrafficPolicy", Enum(external), detail))
    elif external not in ("Cluster", "Local"):
        errors.append(not_supported("spec.externalTrafficPolicy", Enum(external), ("Cluster", "Local")))
    if not needs_health_check(spec):
        if port:
            detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
            errors.append(invalid("spec.healthCheckNodePort", port, detail))
    else:
        errors += [invalid("spec.healthCheckNodePort", port, text) for text in is_in_range(port, 1, 65535)]
    internal = spec.get("internalTrafficPolicy")
    if internal is None and spec["type"] in _SPREAD:
        errors.append(required("spec.internalTrafficPolicy", ""))
    if internal is not None and internal not in ("Cluster", "Local"):
        errors.append(not_supported("spec.internalTrafficPolicy", Enum(internal), ("Cluster", "Local")))
    distribution = spec.get("trafficDistribution")
    if distribution is not None and distribution not in _DISTRIBUTIONS:
        errors.append(not_supported("spec.trafficDistribution", distribution, _DISTRIBUTIONS))


def validate_service_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    spec, was = new["spec"], old["spec"]
    if "ExternalName" not in (spec["type"], was["type"]):
        _check_kept_addresses(errors, spec, was)
        if not _is_headless(spec) and not _is_headless(was):
            _check_kept_families(errors, spec, was)
    _check_class(errors, spec, was)
    moved = spec.get("healthCheckNodePort", 0) != was.get("healthCheckNodePort", 0)
    if moved and needs_health_check(was) and needs_health_check(spec):
        errors.append(forbidden("spec.healthCheckNodePort", "field is immutable"))
    return errors + validate_service(new, old)


def _check_kept_addresses(errors: Errors, spec: Object, was: Object) -> None:
    if _is_headless(spec) and _is_headless(was):
        return
    new, before, path = spec.get("clusterIPs", []), was.get("clusterIPs", []), "spec.clusterIPs"
    if len(new) == len(before):
        for index, (address, earlier) in enumerate(zip(new, before, strict=True)):
            if address != earlier:
                errors.append(invalid(f"{path}[{index}]", new, "may not change once set"))
        return
    if not new:
        errors.append(invalid(f"{path}[0]", None, "primary clusterIP can not be unset"))
    elif before and new[0] != before[0]:
        errors.append(invalid(f"{path}[0]", new, "may not change once set"))
    if len(before) > len(new) == 1 and spec.get("ipFamilyPolicy") != "SingleStack":
        detail = "must be set to 'SingleStack' when releasing the secondary clusterIP"
        errors.append(invalid("spec.ipFamilyPolicy", Enum(spec.get("ipFamilyPolicy", "")), detail))


def _check_kept_families(errors: Errors, spec: Object, was: Object) -> None:
    new, before, path = spec.get("ipFamilies", []), was.get("ipFamilies", []), "spec.ipFamilies[0]"
    if len(new) == len(before):
        for family, earlier in zip(new, before, strict=True):
            if family != earlier:
                errors.append(invalid(path, new, "may not change once set"))
        return
    if new and before and new[0] != before[0]:
        errors.append(invalid(path, spec.get("clusterIPs"), "may not change once set"))
    if len(before) > len(new) == 1 and spec.get("ipFamilyPolicy") != "SingleStack":
        detail = "must be set to 'SingleStack' when releasing the secondary ipFamily"
        errors.append(invalid("spec.ipFamilyPolicy", Enum(spec.get("ipFamilyPolicy", "")), detail))


def validate_service_status(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    path = "status.loadBalancer.ingress"
    given = new["status"]["loadBalancer"].get("ingress", ())
    if given and new["spec"]["type"] != "LoadBalancer":
        return [forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")]
    known = [each["ip"] for each in old["status"]["loadBalancer"].get("ingress", ()) if each.get("ip")]
    for index, ingress in enumerate(given):
        _check_ingress(errors, ingress, known, f"{path}[{index}]")
    return errors


def _check_ingress(errors: Errors, ingress: Object, known: list[str], path: str) -> None:
    address, mode, host = ingress.get("ip", ""), ingress.get("ipMode"), ingress.get("hostname", "")
    if address:
        check_ip(errors, address, f"{path}.ip", known)
    if mode is None:
        if address:
            errors.append(required(f"{path}.ipMode", "must be specified when `ip` is set"))
    elif not address:
        errors.append(forbidden(f"{path}.ipMode", "may not be specified when `ip` is not set"))
    elif mode not in ("Proxy", "VIP"):
        errors.append(not_supported(f"{path}.ipMode", Enum(mode), ("Proxy", "VIP")))
    if host:
        errors += [invalid(f"{path}.hostname", host, text) for text in is_dns1123_subdomain(host)]
        if is_ip(host):
            errors.append(invalid(f"{path}.hostname", host, "must be a DNS name, not an IP address"))
