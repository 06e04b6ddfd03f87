"""What the API server adds to core objects other than pods, in place."""

import base64
from typing import Any, Final

from mooring.api.templates import default_template
from mooring.kube.quantities import canonical

__all__ = [
    "default_config_map",
    "default_endpoints",
    "default_limit_range",
    "default_namespace",
    "default_node",
    "default_replication_controller",
    "default_secret",
    "default_service",
    "default_volume",
    "default_volume_claim",
    "prepare_namespace",
]

Object = dict[str, Any]

_REACHABLE: Final = ("NodePort", "LoadBalancer")


def default_service(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
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
        if port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port.get("port", 0)
    reachable = kind in _REACHABLE or (kind == "ClusterIP" and spec.get("externalIPs"))
    if reachable and not spec.get("externalTrafficPolicy"):
        spec["externalTrafficPolicy"] = "Cluster"
    if kind in ("ClusterIP", *_REACHABLE):
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if kind == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)


def default_config_map(obj: Object) -> None:
    if obj.get("data") == {}:
        del obj["data"]


def default_secret(obj: Object) -> None:
    # Text is encoded for people who cannot, and is never stored as text.
    obj["type"] = obj.get("type") or "Opaque"
    texts = obj.pop("stringData", None)
    if texts:
        encoded = {key: base64.b64encode(value.encode()).decode() for key, value in texts.items()}
        obj["data"] = obj.get("data", {}) | encoded


def default_volume(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    spec["persistentVolumeReclaimPolicy"] = spec.get("persistentVolumeReclaimPolicy") or "Retain"
    spec.setdefault("volumeMode", "Filesystem")
    obj.setdefault("status", {}).setdefault("phase", "Pending")


def default_volume_claim(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("volumeMode", "Filesystem")
    spec.setdefault("resources", {})
    obj.setdefault("status", {}).setdefault("phase", "Pending")


def default_endpoints(obj: Object) -> None:
    for subset in obj.get("subsets", ()):
        for port in subset.get("ports", ()):
            port["protocol"] = port.get("protocol") or "TCP"


def default_namespace(obj: Object) -> None:
    name = obj["metadata"].get("name")
    if name:
        labels = obj["metadata"].get("labels", {})
        obj["metadata"]["labels"] = {**labels, "kubernetes.io/metadata.name": name}


def prepare_namespace(obj: Object, now: str) -> None:
    """A namespace is held by its content until the namespace controller says that there is none."""
    finalizers = (obj.get("spec") or {}).get("finalizers", [])
    obj["spec"] = {"finalizers": finalizers if "kubernetes" in finalizers else [*finalizers, "kubernetes"]}
    obj["status"] = {"phase": "Active"}


def default_node(obj: Object) -> None:
    obj.setdefault("spec", {})
    status = obj.setdefault("status", {})
    for name in ("capacity", "allocatable"):
        if name in status:
            status[name] = {key: canonical(value) for key, value in status[name].items()}
    if "allocatable" not in status and "capacity" in status:
        status["allocatable"] = dict(status["capacity"])


def default_replication_controller(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    if "template" in spec:
        default_template(spec)
        labels = spec["template"]["metadata"].get("labels")
        if labels:
            spec["selector"] = spec.get("selector") or dict(labels)
            obj["metadata"]["labels"] = obj["metadata"].get("labels") or dict(labels)


def default_limit_range(obj: Object) -> None:
    for item in obj.setdefault("spec", {}).get("limits", ()):
        if item.get("type") != "Container":
            continue
        default = item["default"] = item.get("max", {}) | item.get("default", {})
        item["defaultRequest"] = item.get("min", {}) | default | item.get("defaultRequest", {})
        for name in ("default", "defaultRequest"):
            if not item[name]:
                del item[name]
