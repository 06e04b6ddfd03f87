"""Addresses and ports for Services: the server hands them out and keeps them for the object's life.

The lowest free one is taken, where a real server picks at random: the same requests then give the same cluster. What is
taken follows from the Services that are stored, so nothing needs to be given back.
"""

from typing import Final

from mooring.api.core.addresses import family_of
from mooring.api.core.services import check_cluster_ips, is_externally_accessible, needs_health_check
from mooring.kube.errors import Enum, FieldError, invalid
from mooring.kube.objects import Object
from mooring.kube.status import InternalError, InvalidError, UnknownError
from mooring.registry.admission.chain import AdmissionRequest, ClusterView
from mooring.registry.kinds.service_ranges import address_ranges, free_addresses, offers

__all__ = ["allocate_addresses"]

Errors = list[FieldError]

_NODE_PORTS: Final = range(30000, 32768)
_ON_NODES: Final = ("NodePort", "LoadBalancer")
_FAMILY: Final = "IPv4"
_OTHER: Final = {"IPv4": "IPv6", "IPv6": "IPv4"}


def allocate_addresses(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """Complete a Service with its cluster addresses and node ports; those it had before stay."""
    service = request.object
    if service is None or request.resource.store != "services" or request.subresource:
        return None
    spec = {**service["spec"]}
    spec["ports"] = [dict(port) for port in spec.get("ports", ())]
    was = request.old_object["spec"] if request.old_object is not None else None
    allocation = _Allocation(request, view)
    if was is not None:
        _take_over(spec, was)
    _align_addresses(spec, was)
    _settle_families(request, spec, was)
    allocation.addresses(spec, was)
    allocation.ports(spec, was)
    if was is not None:
        _drop_unused(spec, was)
    if not spec["ports"]:
        del spec["ports"]
    made = {**service, "spec": spec}
    if was is not None and spec["type"] != "LoadBalancer" and service["status"]["loadBalancer"]:
        made["status"] = {**service["status"], "loadBalancer": {}}
    return None if made == service else made


def _has_addresses(spec: Object) -> bool:
    return bool(spec["type"] != "ExternalName")


def _needs_node_ports(spec: Object) -> bool:
    if spec["type"] == "LoadBalancer":
        return bool(spec["allocateLoadBalancerNodePorts"])
    return bool(spec["type"] == "NodePort")


def _same(spec: Object, was: Object, *names: str) -> bool:
    return all(spec.get(name) == was.get(name) for name in names)


def _node_ports(spec: Object) -> set[int]:
    return {port["nodePort"] for port in spec.get("ports", ()) if port.get("nodePort")}


def _take_over(spec: Object, was: Object) -> None:
    """Clients that send what they wrote at first mean what was made of it."""
    if _has_addresses(was) and _has_addresses(spec):
        for name in ("clusterIP", "clusterIPs"):
            if not spec.get(name) and was.get(name):
                spec[name] = was[name]
    if _needs_node_ports(was) and _needs_node_ports(spec):
        kept = _node_ports(was) & _node_ports(spec)
        by_name = {port.get("name", ""): port.get("nodePort", 0) for port in was.get("ports", ())}
        for port in spec["ports"]:
            number = by_name.get(port.get("name", ""), 0)
            if not port.get("nodePort") and number and number not in kept:
                port["nodePort"] = number
    if needs_health_check(was) and needs_health_check(spec) and not spec.get("healthCheckNodePort"):
        spec["healthCheckNodePort"] = was["healthCheckNodePort"]


def _align_addresses(spec: Object, was: Object | None) -> None:
    """The singular and the plural field say the same; a client may have changed only one."""
    one, many = spec.get("clusterIP", ""), spec.get("clusterIPs", [])
    if was is None:
        if one and not many:
            spec["clusterIPs"] = [one]
        return
    if was.get("clusterIPs") and not many and was.get("clusterIP", "") == one:
        spec["clusterIPs"] = was["clusterIPs"]
    elif was.get("clusterIP", "") != one and was.get("clusterIPs", []) == many:
        if one:
            spec["clusterIPs"] = [one]
        else:
            spec.pop("clusterIPs", None)


def _settle_families(request: AdmissionRequest, spec: Object, was: Object | None) -> None:
    if not _has_addresses(spec) or (was is not None and _prefers_both_as_before(spec, was)):
        return
    free_standing = spec.get("clusterIP") == "None" and not spec.get("selector")
    if "ipFamilyPolicy" not in spec:
        usual = "RequireDualStack" if free_standing else "SingleStack"
        spec["ipFamilyPolicy"] = (was or {}).get("ipFamilyPolicy", usual)
    errors: Errors = []
    check_cluster_ips(errors, spec, was or {})
    _refuse(request, errors)
    _check_policy(errors, spec, was)
    addresses = [each for each in spec.get("clusterIPs", []) if each != "None"]
    families = list(spec.get("ipFamilies", []))
    for index, address in enumerate(addresses[len(families) :], len(families)):
        if family_of(address) != _FAMILY:
            detail = f"{family_of(address)} is not configured on this cluster"
            errors.append(invalid(f"spec.clusterIPs[{index}]", spec["clusterIPs"], detail))
        else:
            families.append(family_of(address))
    _refuse(request, errors)
    spec["ipFamilies"] = families
    if free_standing:
        spec["ipFamilies"] = families = families or [_FAMILY]
        if len(families) < 2 and spec["ipFamilyPolicy"] != "SingleStack":
            spec["ipFamilies"] = [*families, _OTHER[families[0]]]
        return
    if spec["ipFamilyPolicy"] == "RequireDualStack":
        detail = "this cluster is not configured for dual-stack services"
        errors.append(invalid("spec.ipFamilyPolicy", Enum(spec["ipFamilyPolicy"]), detail))
    for index, family in enumerate(families):
        if family != _FAMILY:
            errors.append(invalid(f"spec.ipFamilies[{index}]", Enum(family), "not configured on this cluster"))
    _refuse(request, errors)
    spec["ipFamilies"] = families or [_FAMILY]


def _check_policy(errors: Errors, spec: Object, was: Object | None) -> None:
    path, policy = "spec.ipFamilyPolicy", spec["ipFamilyPolicy"]
    pairs = (("clusterIPs", "cluster IP"), ("ipFamilies", "IP family"))
    if was is not None:
        for name, told in pairs:
            if policy == "SingleStack":
                if _same(spec, was, name) and len(spec.get(name, ())) > 1:
                    spec[name] = spec[name][:1]
            elif 0 < len(spec.get(name, ())) < len(was.get(name, ())):
                errors.append(invalid(path, Enum(policy), f"must be 'SingleStack' to release the secondary {told}"))
    if policy == "SingleStack":
        for name, told in (("clusterIPs", "cluster IPs"), ("ipFamilies", "IP families")):
            if len(spec.get(name, ())) == 2:
                detail = f"must be 'RequireDualStack' or 'PreferDualStack' when multiple {told} are specified"
                errors.append(invalid(path, Enum(policy), detail))


def _prefers_both_as_before(spec: Object, was: Object) -> bool:
    """Nothing is added to or taken from a service that would take either, unless it is asked for."""
    if spec["type"] != was["type"] or spec["type"] not in ("ClusterIP", *_ON_NODES):
        return False
    if spec.get("ipFamilyPolicy") != "PreferDualStack" or was.get("ipFamilyPolicy") != "PreferDualStack":
        return False
    return _same(spec, was, "clusterIP", "clusterIPs") and (
        not spec.get("ipFamilies") or _same(spec, was, "ipFamilies")
    )


def _drop_unused(spec: Object, was: Object) -> None:
    """What the old type had and the new one has no use for goes, if the client left it as it was."""
    if _has_addresses(was) and not _has_addresses(spec):
        groups = (("clusterIP", "clusterIPs"), ("ipFamilies",), ("ipFamilyPolicy",))
        for names in groups:
            if _same(spec, was, *names):
                for name in names:
                    spec.pop(name, None)
    if was["type"] in _ON_NODES and spec["type"] not in _ON_NODES and _node_ports(spec) <= _node_ports(was):
        for port in spec["ports"]:
            port.pop("nodePort", None)
    if needs_health_check(was) and not needs_health_check(spec) and _same(spec, was, "healthCheckNodePort"):
        spec.pop("healthCheckNodePort", None)
    if was["type"] == "LoadBalancer" and spec["type"] != "LoadBalancer":
        for name in ("allocateLoadBalancerNodePorts", "loadBalancerClass"):
            if _same(spec, was, name):
                spec.pop(name, None)
    hidden = is_externally_accessible(was) and not is_externally_accessible(spec)
    if hidden and _same(spec, was, "externalTrafficPolicy"):
        spec.pop("externalTrafficPolicy", None)


def _refuse(request: AdmissionRequest, errors: Errors) -> None:
    if errors:
        raise InvalidError(request.resource.kind, request.resource.group, request.name, errors)


class _Allocation:
    """Hands out what the other Services leave free."""

    def __init__(self, request: AdmissionRequest, view: ClusterView) -> None:
        self._request = request
        self._view = view
        self._others = [
            each["spec"]
            for each in view.all("v1", "Service")
            if (each["metadata"]["namespace"], each["metadata"]["name"]) != (request.namespace, request.name)
        ]

    def addresses(self, spec: Object, was: Object | None) -> None:
        if not _has_addresses(spec) or spec.get("clusterIPs") == ["None"]:
            return
        if was is not None and _has_addresses(was):
            return
        wanted = spec.get("clusterIP") or ""
        taken = {each.get("clusterIP") for each in self._others}
        if wanted:
            self._check_address(spec, wanted, taken)
            return
        address = next(free_addresses(address_ranges(self._view), taken))
        spec["clusterIP"], spec["clusterIPs"] = address, [address]

    def _check_address(self, spec: Object, wanted: str, taken: set[str | None]) -> None:
        why = ""
        if not offers(address_ranges(self._view), wanted):
            why = "the provided network does not match the current range"
        elif wanted in taken:
            why = "provided IP is already allocated"
        if why:
            detail = f"failed to allocate IP {wanted}: {why}"
            _refuse(self._request, [invalid("spec.clusterIPs", spec["clusterIPs"], detail)])

    def ports(self, spec: Object, was: Object | None) -> None:
        others = [each for each in self._others if each["type"] in _ON_NODES]
        taken = {port.get("nodePort") for each in others for port in each.get("ports", ())}
        taken |= {each.get("healthCheckNodePort") for each in self._others}
        if spec["type"] in _ON_NODES:
            gives, every = _needs_node_ports(spec), enumerate(spec["ports"])
            ports = [(index, port) for index, port in every if gives or port.get("nodePort")]
            if was is None:
                self._first_ports(ports, taken)
            else:
                self._other_ports(ports, taken, _node_ports(was))
            taken |= _node_ports(spec)
        if needs_health_check(spec) and not (was is not None and needs_health_check(was)):
            self._health_port(spec, taken)

    def _first_ports(self, ports: list[tuple[int, Object]], taken: set[int | None]) -> None:
        """Two ports with one number, for two protocols, share their port on the node."""
        chosen: dict[int, int] = {}
        for index, port in ports:
            number, given = port["port"], port.get("nodePort", 0)
            if number not in chosen:
                same = (each.get("nodePort") for _, each in ports if each["port"] == number)
                given = next(filter(None, same), 0)
                chosen[number] = port["nodePort"] = given or self._free_node_port(ports, taken)
            elif given in (0, chosen[number]):
                port["nodePort"], given = chosen[number], 0
            if given:
                self._check_node_port(given, taken, index)
                taken.add(given)

    def _other_ports(self, ports: list[tuple[int, Object]], taken: set[int | None], own: set[int]) -> None:
        """Of a change, the API tells without a reason what is there twice."""
        seen: set[tuple[str, int]] = set()
        for index, port in ports:
            if not port.get("nodePort"):
                port["nodePort"] = self._free_node_port(ports, taken | own)
            elif port["nodePort"] not in own.union(number for _, number in seen):
                self._check_node_port(port["nodePort"], taken, index)
            key = port["protocol"], port["nodePort"]
            if key in seen:
                raise UnknownError(f"duplicate nodePort: {{{key[0]} {key[1]}}}")
            seen.add(key)

    def _free_node_port(self, ports: list[tuple[int, Object]], taken: set[int | None]) -> int:
        return self._free_port(taken.union(port.get("nodePort") for _, port in ports), "a nodePort")

    def _check_node_port(self, wanted: int, taken: set[int | None], index: int) -> None:
        why = ""
        if wanted not in _NODE_PORTS:
            why = "provided port is not in the valid range. The range of valid ports is 30000-32767"
        elif wanted in taken:
            why = "provided port is already allocated"
        if why:
            _refuse(self._request, [invalid(f"spec.ports[{index}].nodePort", wanted, why)])

    def _health_port(self, spec: Object, taken: set[int | None]) -> None:
        wanted = spec.get("healthCheckNodePort", 0)
        if not wanted:
            spec["healthCheckNodePort"] = self._free_port(taken, "a HealthCheck NodePort 0")
            return
        why = ""
        if wanted not in _NODE_PORTS:
            why = "provided port is not in the valid range. The range of valid ports is 30000-32767"
        elif wanted in taken:
            why = "provided port is already allocated"
        if why:
            raise InternalError.of(f"failed to allocate requested HealthCheck NodePort {wanted}: {why}")

    def _free_port(self, taken: set[int | None], told: str) -> int:
        found = next((each for each in _NODE_PORTS if each not in taken), None)
        if found is None:
            raise InternalError.of(f"failed to allocate {told}: range is full")
        return found
