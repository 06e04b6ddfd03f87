"""What is stored without effect: whoever writes it is told so, because an answer "created" promises more.

The list is the only one there is: the warnings and the table in docs/up.md both come from it.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from mooring.kube.objects import Object
from mooring.registry.admission.chain import AdmissionRequest, ClusterView

__all__ = ["STORED_ONLY", "StoredOnly", "warn_of_no_effect"]


class StoredOnly(NamedTuple):
    """Objects that no controller of ours reads; `missing` says what does not come of them."""

    store: str
    shown: str
    missing: str
    concerns: Callable[[Object], bool] = lambda obj: True

    @property
    def warning(self) -> str:
        return f"{self.shown} is stored only: {self.missing} unless a program of yours does it"


def _is_load_balancer(service: Object) -> bool:
    return bool(service["spec"].get("type") == "LoadBalancer")


STORED_ONLY: Final = (
    StoredOnly(
        "services",
        "a Service of type LoadBalancer",
        "no load balancer is made, and status.loadBalancer stays empty",
        _is_load_balancer,
    ),
    StoredOnly("ingresses.networking.k8s.io", "an Ingress", "no traffic is routed by it"),
    StoredOnly("ingressclasses.networking.k8s.io", "an IngressClass", "no controller serves it"),
    StoredOnly("networkpolicies.networking.k8s.io", "a NetworkPolicy", "no traffic is held back by it"),
    StoredOnly("ipaddresses.networking.k8s.io", "an IPAddress", "no Service is kept from that address"),
    StoredOnly(
        "flowschemas.flowcontrol.apiserver.k8s.io", "a FlowSchema", "every user gets the same share of the server"
    ),
    StoredOnly(
        "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
        "a PriorityLevelConfiguration",
        "every user gets the same share of the server",
    ),
)
_BY_STORE: Final = {each.store: each for each in STORED_ONLY}


def warn_of_no_effect(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """Warn of an object that does nothing here. Who writes its status is the program that makes it do something."""
    found = _BY_STORE.get(request.resource.store)
    if found is None or request.object is None or request.subresource or not found.concerns(request.object):
        return None
    if found.warning not in request.warnings:
        request.warnings.append(found.warning)
    return None
