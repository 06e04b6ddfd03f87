"""What the API server adds to objects of the smaller groups, in place: networking, storage, access, autoscaling."""

from typing import Any, Final

__all__ = [
    "default_autoscaler",
    "default_endpoint_slice",
    "default_ingress_class",
    "default_network_policy",
    "default_role_binding",
    "default_storage_class",
    "default_webhooks",
]

Object = dict[str, Any]

_RBAC: Final = "rbac.authorization.k8s.io"
_SCALE_UP: Final = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ],
}
_SCALE_DOWN: Final = {"selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]}


def default_autoscaler(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("minReplicas", 1)
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    behavior = spec.get("behavior")
    if behavior is not None:
        behavior["scaleUp"] = _SCALE_UP | behavior.get("scaleUp", {})
        behavior["scaleDown"] = _SCALE_DOWN | behavior.get("scaleDown", {})


def default_network_policy(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("podSelector", {})
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
    for rule in (*spec.get("ingress", ()), *spec.get("egress", ())):
        for port in rule.get("ports", ()):
            port.setdefault("protocol", "TCP")


def default_ingress_class(obj: Object) -> None:
    parameters = (obj.get("spec") or {}).get("parameters")
    if parameters:
        parameters.setdefault("scope", "Cluster")


def default_storage_class(obj: Object) -> None:
    obj.setdefault("reclaimPolicy", "Delete")
    obj.setdefault("volumeBindingMode", "Immediate")


def default_role_binding(obj: Object) -> None:
    role = obj.setdefault("roleRef", {})
    role["apiGroup"] = role.get("apiGroup") or _RBAC
    for subject in obj.get("subjects", ()):
        if not subject.get("apiGroup") and subject.get("kind") in ("User", "Group"):
            subject["apiGroup"] = _RBAC


def default_endpoint_slice(obj: Object) -> None:
    for port in obj.get("ports") or ():
        port.setdefault("name", "")
        port.setdefault("protocol", "TCP")


def default_webhooks(obj: Object) -> None:
    for hook in obj.get("webhooks", ()):
        hook.setdefault("failurePolicy", "Fail")
        hook.setdefault("matchPolicy", "Equivalent")
        hook.setdefault("namespaceSelector", {})
        hook.setdefault("objectSelector", {})
        hook.setdefault("timeoutSeconds", 10)
        if obj.get("kind") == "MutatingWebhookConfiguration":
            hook.setdefault("reinvocationPolicy", "Never")
        for rule in hook.get("rules", ()):
            rule.setdefault("scope", "*")
        service = (hook.get("clientConfig") or {}).get("service")
        if service:
            service.setdefault("port", 443)
