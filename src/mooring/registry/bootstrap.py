"""What a cluster that people live in has beside what they make: accounts to run as, and the API's own Service.

A picture of a cluster, as a plan or a test has one, does without: its pods may name accounts that nobody wrote down.
"""

from datetime import datetime
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final

from mooring.kube.errors import go_quote
from mooring.kube.status import ForbiddenError
from mooring.kube.times import moment
from mooring.registry.admission import AdmissionRequest, ClusterView
from mooring.registry.core import Core

if TYPE_CHECKING:
    from mooring.registry.registry import Registry

__all__ = ["furnish"]

Object = dict[str, Any]

_CONTROLLERS: Final = "kube-controller-manager"
_SERVER: Final = "kube-apiserver"
_ACCOUNT: Final = "default"
_OWN_ADDRESS: Final = "10.96.0.1"
_NAME: Final = {"name": "kubernetes", "namespace": "default"}


def furnish(registry: "Registry", core: Core, *, now: datetime, host: str, port: int) -> None:
    """Give every namespace its account, now and later, and keep the Service of the API where it is reached."""
    registry.admission.builtin.append(require_account)
    for namespace in core.storage.items("namespaces"):
        _give_account(registry, namespace, now)

    def settle(namespace: Object | None) -> None:
        if namespace is not None and "deletionTimestamp" not in namespace["metadata"]:
            _give_account(registry, namespace, moment(namespace["metadata"]["creationTimestamp"]))

    core.after["namespaces"] = settle
    for obj in _own_service(host, port):
        _keep(registry, obj, now)


def require_account(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """A pod runs as an account that exists, and pulls images with the secrets of that account."""
    pod = request.object
    if pod is None or request.resource.store != "pods" or request.operation != "CREATE" or request.subresource:
        return None
    name = pod["spec"].get("serviceAccountName")
    if not name or "kubernetes.io/config.mirror" in pod["metadata"].get("annotations", {}):
        return None
    account = view.find("v1", "ServiceAccount", request.namespace, name)
    if account is None:
        why = f"error looking up service account {request.namespace}/{name}: serviceaccount {go_quote(name)} not found"
        raise ForbiddenError.of("pods", "", request.name, why)
    secrets = account.get("imagePullSecrets")
    if not secrets or pod["spec"].get("imagePullSecrets"):
        return None
    return {**pod, "spec": {**pod["spec"], "imagePullSecrets": secrets}}


def _give_account(registry: "Registry", namespace: Object, now: datetime) -> None:
    name = namespace["metadata"]["name"]
    if registry.find("v1", "ServiceAccount", name, _ACCOUNT) is None:
        accounts = registry.resource("v1", "ServiceAccount")
        made = {"metadata": {"name": _ACCOUNT, "namespace": name}}
        registry.create(accounts, made, now=now, manager=_CONTROLLERS)


def _own_service(host: str, port: int) -> list[Object]:
    listened = {"name": "https", "port": port, "protocol": "TCP"}
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {**_NAME, "labels": {"component": "apiserver", "provider": "kubernetes"}},
        "spec": {
            "clusterIP": _OWN_ADDRESS,
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": port}],
            "sessionAffinity": "None",
            "type": "ClusterIP",
        },
    }
    if ip_address(host).is_loopback or ip_address(host).is_unspecified:
        # Endpoints cannot be where only this machine can reach them; the API refuses such addresses.
        return [service]
    endpoints = {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {**_NAME, "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}},
        "subsets": [{"addresses": [{"ip": host}], "ports": [listened]}],
    }
    piece = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {**_NAME, "labels": {"kubernetes.io/service-name": "kubernetes"}},
        "addressType": "IPv6" if ":" in host else "IPv4",
        "endpoints": [{"addresses": [host], "conditions": {"ready": True}}],
        "ports": [listened],
    }
    return [service, endpoints, piece]


def _keep(registry: "Registry", obj: Object, now: datetime) -> None:
    resource = registry.resource(obj["apiVersion"], obj["kind"])
    found = registry.find(obj["apiVersion"], obj["kind"], _NAME["namespace"], _NAME["name"])
    if found is None:
        registry.create(resource, obj, now=now, manager=_SERVER)
    else:
        registry.update(resource, obj, now=now, manager=_SERVER)
