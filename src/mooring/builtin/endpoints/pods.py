"""The endpoint of a pod behind a Service: its addresses, port numbers and host name, and the labels to pass on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from mooring.api.core.views import Pod, Service, ServicePort
from mooring.kube.objects import Object

HEADLESS: Final = "service.kubernetes.io/headless"
NO_ADDRESS: Final = "None"


def wants_endpoints(service: Service | None) -> bool:
    """Whether the pods behind a Service are found by its selector; others bring their own addresses, or have none."""
    return (
        service is not None
        and not service.metadata.deleting
        and bool(service.spec.selector)
        and service.spec.type != "ExternalName"
    )


def is_published(pod: Pod, *, terminating: bool) -> bool:
    """Whether a pod has an address to tell. A terminating pod may still serve clients that ask for it."""
    if pod.finished or not (pod.status.pod_ip or pod.status.pod_ips):
        return False
    return terminating or not pod.metadata.deleting


def addresses(pod: Pod, family: str) -> list[str]:
    """A pod's addresses of one family, `IPv4` or `IPv6`."""
    return [each.ip for each in pod.status.pod_ips if (":" in each.ip) == (family == "IPv6")]


def families(service: Service) -> tuple[str, ...]:
    return service.spec.ip_families or ("IPv6" if ":" in service.spec.cluster_ip else "IPv4",)


def is_headless(service: Service) -> bool:
    return service.spec.cluster_ip in (NO_ADDRESS, "")


def target(pod: Pod) -> Object:
    meta = pod.metadata
    return {"kind": "Pod", "name": meta.name, "namespace": meta.namespace, "uid": meta.uid}


def host_name(pod: Pod, service: Service) -> str:
    """The name that the pod has within its Service's domain, if it has one."""
    return pod.spec.hostname if pod.spec.subdomain == service.metadata.name else ""


def ports(service: Service, pod: Pod) -> Iterator[Object]:
    """The Service's ports as numbers of this pod. One that the pod has no name for is left out."""
    for port in service.spec.ports:
        number = _number(port, pod)
        if number is not None:
            extra = {"appProtocol": port.app_protocol} if port.app_protocol is not None else {}
            yield {"name": port.name, "port": number, "protocol": port.protocol, **extra}


def _number(port: ServicePort, pod: Pod) -> int | None:
    wanted = port.target_port
    if isinstance(wanted, int):
        return wanted
    if wanted is None:
        return port.port
    sidecars = [container for container in pod.spec.init_containers or () if container.restart_policy == "Always"]
    for container in (*(pod.spec.containers or ()), *sidecars):
        for each in container.ports or ():
            if each.name == wanted and (each.protocol or "TCP") == port.protocol:
                return each.container_port
    return None


def passed_on(service: Service, reserved: Sequence[str], own: dict[str, str]) -> dict[str, str]:
    """The labels of what belongs to a Service: those of the Service, and our own on top."""
    labels = {name: value for name, value in service.metadata.labels.items() if name not in reserved}
    return labels | ({HEADLESS: ""} if is_headless(service) else {}) | own


def changed_map(before: dict[str, str], after: dict[str, str]) -> dict[str, Any]:
    """What a merge patch must say of a map to make it this one."""
    gone: dict[str, Any] = dict.fromkeys(before.keys() - after.keys())
    return gone | {name: value for name, value in after.items() if before.get(name) != value}
