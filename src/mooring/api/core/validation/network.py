"""The rules for a pod's network: DNS, host aliases, and ports on the network of the host."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mooring.api.core.addresses import check_ip
from mooring.api.core.validation.meta import check_texts
from mooring.kube.errors import FieldError, invalid, required
from mooring.kube.names import byte_length, is_dns1123_subdomain, is_dns1123_subdomain_with_underscore

__all__ = ["check_dns_config", "check_host_aliases", "check_host_network"]

Object = Mapping[str, Any]
Errors = list[FieldError]

_MAX_NAMESERVERS: Final = 3
_MAX_SEARCHES: Final = 32
_MAX_SEARCHES_BYTES: Final = 2048


def check_host_network(errors: Errors, spec: Object, path: str) -> None:
    if not spec.get("hostNetwork"):
        return
    for index, container in enumerate(spec["containers"] or ()):
        for position, port in enumerate(container.get("ports", ())):
            host_port = port.get("hostPort", 0)
            # In a template there may be none yet: a pod gets the same one.
            if host_port and host_port != port["containerPort"]:
                here = f"{path}.containers[{index}].ports[{position}].hostPort"
                detail = "must match `containerPort` when `hostNetwork` is true"
                errors.append(invalid(here, host_port, detail))


def check_dns_config(errors: Errors, spec: Object, path: str) -> None:
    config = spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None":
        if config is None:
            errors.append(required(path, "must provide `dnsConfig` when `dnsPolicy` is None"))
        elif not config.get("nameservers"):
            detail = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            errors.append(required(f"{path}.nameservers", detail))
            return
    if config is None:
        return
    servers, searches = config.get("nameservers", []), config.get("searches", [])
    if len(servers) > _MAX_NAMESERVERS:
        detail = f"must not have more than {_MAX_NAMESERVERS} nameservers"
        errors.append(invalid(f"{path}.nameservers", servers, detail))
    for index, server in enumerate(servers):
        check_ip(errors, server, f"{path}.nameservers[{index}]")
    if len(searches) > _MAX_SEARCHES:
        detail = f"must not have more than {_MAX_SEARCHES} search paths"
        errors.append(invalid(f"{path}.searches", searches, detail))
    if byte_length(" ".join(searches)) > _MAX_SEARCHES_BYTES:
        detail = f"must not have more than {_MAX_SEARCHES_BYTES} characters (including spaces) in the search list"
        errors.append(invalid(f"{path}.searches", searches, detail))
    for index, search in enumerate(searches):
        if search != ".":
            name = search.removesuffix(".")
            check_texts(errors, f"{path}.searches[{index}]", name, is_dns1123_subdomain_with_underscore(name))
    for index, option in enumerate(config.get("options", ())):
        if not option.get("name"):
            errors.append(required(f"{path}.options[{index}]", "must not be empty"))


def check_host_aliases(errors: Errors, aliases: Sequence[Object], path: str) -> None:
    for index, alias in enumerate(aliases):
        check_ip(errors, alias["ip"], f"{path}[{index}].ip")
        for position, name in enumerate(alias.get("hostnames", ())):
            check_texts(errors, f"{path}[{index}].hostnames[{position}]", name, is_dns1123_subdomain(name))
