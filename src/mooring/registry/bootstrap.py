"""The objects that a cluster has from the start.

Every registry has the first namespaces and the system's priority classes. A cluster that is served also has a
ServiceAccount in every namespace, and the Service of the API. A plan or a test does without those, because its pods may
name service accounts that are not part of the snapshot.
"""

from base64 import b64encode
from datetime import datetime
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

from mooring.api.scheduling.priority_classes import SYSTEM_PRIORITIES
from mooring.kube.objects import Object
from mooring.kube.times import moment, timestamp
from mooring.registry.admission.service_accounts import require_account
from mooring.registry.core import Core
from mooring.registry.kinds.local_api_services import LocalApiServices
from mooring.registry.kinds.service_ranges import ADDRESS_RANGE, OWN_RANGE
from mooring.registry.kinds.token_secrets import Issue, TokenSecrets

if TYPE_CHECKING:
    from mooring.registry.registry import Registry

__all__ = ["bootstrap", "create_system_objects"]


_CONTROLLERS: Final = "kube-controller-manager"
_SERVER: Final = "kube-apiserver"
_RANGES: Final = "kubernetes-service-cidr-controller"
_ACCOUNT: Final = "default"
_RBAC: Final = "rbac.authorization.k8s.io"
_OWN_ADDRESS: Final = "10.96.0.1"
_NAME: Final = {"name": "kubernetes", "namespace": "default"}
# How servers behind this one are told for whom it speaks.
_REQUEST_HEADERS: Final = {
    "requestheader-allowed-names": '["front-proxy-client"]',
    "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
    "requestheader-group-headers": '["X-Remote-Group"]',
    "requestheader-uid-headers": '["X-Remote-Uid"]',
    "requestheader-username-headers": '["X-Remote-User"]',
}

_TOKEN_TRACKING: Final = "kube-apiserver-legacy-service-account-token-tracking"
_NAMESPACES: Final = ("default", "kube-system", "kube-public", "kube-node-lease")
_PRIORITY_DESCRIPTIONS: Final = {
    "system-cluster-critical": (
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."
    ),
    "system-node-critical": "Used for system critical pods that must not be moved from their current node.",
}


def create_system_objects(registry: "Registry", core: Core, *, now: datetime) -> None:
    """Create the objects of every registry: the first namespaces and the system's priority classes."""
    namespaces = registry.resource("v1", "Namespace")
    for name in _NAMESPACES:
        if core.find(namespaces, "", name) is None:
            registry.create(namespaces, {"metadata": {"name": name}}, now=now, manager=_SERVER)
    classes = registry.resource("scheduling.k8s.io/v1", "PriorityClass")
    for name, value in SYSTEM_PRIORITIES.items():
        if core.find(classes, "", name) is None:
            made = {"metadata": {"name": name}, "value": value, "description": _PRIORITY_DESCRIPTIONS[name]}
            registry.create(classes, made, now=now, manager=_SERVER)


def bootstrap(
    registry: "Registry",
    core: Core,
    *,
    now: datetime,
    host: str,
    port: int,
    authority: str,
    front_proxy: str,
    issue: Issue | None,
) -> None:
    """Keep a default ServiceAccount in every namespace, the Service of the API, and the authority of its clients.

    The range that Services get addresses from is told, too.

    With `issue`, Secrets for tokens of accounts are filled.
    """
    registry.admission.builtin.append(require_account)

    def settle(namespace: Object | None) -> None:
        if namespace is not None:
            _give_account(registry, namespace)

    def replace(account: Object | None) -> None:
        """Create again the default ServiceAccount of a namespace after it was deleted."""
        if account is None:
            for namespace in core.storage.items("namespaces"):
                _give_account(registry, namespace)
        if secrets is not None:
            secrets.account_changed(account)

    secrets: TokenSecrets | None = None
    replace(None)
    core.after["namespaces"] = settle
    core.after["serviceaccounts"] = replace
    if issue is not None:
        secrets = TokenSecrets(registry, core, authority, issue)
    for obj in (*_own_service(host, port), *_own_authority(authority, front_proxy, host, port)):
        _keep(registry, obj, now)
    _track_legacy_tokens(registry, now)
    LocalApiServices(core, timestamp(now))
    _tell_address_range(registry, now)


def _tell_address_range(registry: "Registry", now: datetime) -> None:
    name, version, kind = OWN_RANGE, "networking.k8s.io/v1", "ServiceCIDR"
    if registry.find(version, kind, "", name) is not None:
        return
    ranges = registry.resource(version, kind)
    made = {"metadata": {"name": name}, "spec": {"cidrs": [str(ADDRESS_RANGE)]}}
    registry.create(ranges, made, now=now, manager=_SERVER)
    ready = {"type": "Ready", "status": "True", "message": "Kubernetes default Service CIDR is ready"}
    status = {"conditions": [{**ready, "lastTransitionTime": timestamp(now)}]}
    told = {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "status": status}
    registry.patch(ranges, "", name, "apply", told, subresource="status", now=now, manager=_RANGES)


def _give_account(registry: "Registry", namespace: Object) -> None:
    name = namespace["metadata"]["name"]
    if "deletionTimestamp" in namespace["metadata"]:
        return
    if registry.find("v1", "ServiceAccount", name, _ACCOUNT) is None:
        accounts = registry.resource("v1", "ServiceAccount")
        made = {"metadata": {"name": _ACCOUNT, "namespace": name}}
        with registry.admission.without_webhooks():
            born = moment(namespace["metadata"]["creationTimestamp"])
            registry.create(accounts, made, now=born, manager=_CONTROLLERS)


def _own_service(host: str, port: int) -> list[Object]:
    listened = {"name": "https", "port": port, "protocol": "TCP"}
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {**_NAME, "labels": {"component": "apiserver", "provider": "kubernetes"}},
        "spec": {
            "clusterIP": _OWN_ADDRESS,
            "ipFamilyPolicy": "SingleStack",
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


def _own_authority(authority: str, front_proxy: str, host: str, port: int) -> list[Object]:
    """Where an API server says who vouches for its clients and for itself, and what a new machine is told of it."""
    if not authority:
        return []
    vouching = {"client-ca-file": authority}
    if front_proxy:
        vouching |= {"requestheader-client-ca-file": front_proxy, **_REQUEST_HEADERS}
    return [
        _config_map("kube-system", "extension-apiserver-authentication", vouching),
        _config_map("kube-public", "cluster-info", {"kubeconfig": _cluster_info(authority, host, port)}),
        *_for_strangers(),
    ]


def _for_strangers() -> list[Object]:
    """Leave to read cluster-info, as kubeadm gives it: a new machine has no rights before it has read it."""
    metadata = {"name": "kubeadm:bootstrap-signer-clusterinfo", "namespace": "kube-public"}
    rule = {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["cluster-info"], "verbs": ["get"]}
    stranger = {"apiGroup": _RBAC, "kind": "User", "name": "system:anonymous"}
    role = {"apiGroup": _RBAC, "kind": "Role", "name": metadata["name"]}
    version = f"{_RBAC}/v1"
    return [
        {"apiVersion": version, "kind": "Role", "metadata": metadata, "rules": [rule]},
        {"apiVersion": version, "kind": "RoleBinding", "metadata": metadata, "roleRef": role, "subjects": [stranger]},
    ]


def _cluster_info(authority: str, host: str, port: int) -> str:
    """A kubeconfig without a user."""
    address = ip_address(host)
    if address.is_unspecified:
        address = ip_address("127.0.0.1" if address.version == 4 else "::1")
    shown = f"[{address}]" if address.version == 6 else str(address)
    return (
        "apiVersion: v1\n"
        "clusters:\n"
        "- cluster:\n"
        f"    certificate-authority-data: {b64encode(authority.encode()).decode()}\n"
        f"    server: https://{shown}:{port}\n"
        '  name: ""\n'
        "contexts: null\n"
        'current-context: ""\n'
        "kind: Config\n"
        "preferences: {}\n"
        "users: null\n"
    )


def _config_map(namespace: str, name: str, data: Object) -> Object:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def _track_legacy_tokens(registry: "Registry", now: datetime) -> None:
    """Say since when the use of tokens in Secrets is known: kube-controller-manager waits for it."""
    if registry.find("v1", "ConfigMap", "kube-system", _TOKEN_TRACKING) is None:
        made = _config_map("kube-system", _TOKEN_TRACKING, {"since": f"{now:%Y-%m-%d}"})
        registry.create(registry.resource("v1", "ConfigMap"), made, now=now, manager=_SERVER)


def _keep(registry: "Registry", obj: Object, now: datetime) -> None:
    resource = registry.resource(obj["apiVersion"], obj["kind"])
    found = registry.find(obj["apiVersion"], obj["kind"], obj["metadata"]["namespace"], obj["metadata"]["name"])
    if found is None:
        registry.create(resource, obj, now=now, manager=_SERVER)
    elif obj["kind"] == "ConfigMap":
        # Others add to these: signatures stand beside what they sign.
        name, body = obj["metadata"]["name"], {"data": obj["data"]}
        registry.patch(resource, obj["metadata"]["namespace"], name, "merge", body, now=now, manager=_SERVER)
    else:
        registry.update(resource, obj, now=now, manager=_SERVER)
