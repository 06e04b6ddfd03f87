"""The Node authorizer: what a kubelet may do with the API follows from the pods that are bound to its node.

A node reads what its own pods refer to and nothing else. What depends on the content of a write, the authorizer leaves
to the admission function `node_restriction`; all other resources have fixed verbs that are the same for every node.
An answer is never a denial: RBAC may grant more to a node, as to any other user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, Protocol

from mooring.api.core.pod_references import (
    MIRROR,
    claim_names,
    configmap_names,
    resource_claim_names,
    secret_names,
    volume_secrets,
)
from mooring.apiserver.authorization.attributes import AccessAnswer, AccessDecision, Attributes
from mooring.kube.node_identity import node_of
from mooring.kube.objects import Object
from mooring.registry.admission.chain import ClusterView

__all__ = ["NodeAuthorizer", "PodView"]

ALLOWED: Final = AccessAnswer(AccessDecision.ALLOW)
NO_OPINION: Final = AccessAnswer(AccessDecision.NO_OPINION)

_LEASES: Final = "kube-node-lease"
_READ: Final = frozenset({"get", "list", "watch"})
_OWN: Final = frozenset({"get", "create", "update", "patch", "delete"})
# The verbs on resources that are the same for every node, by group and resource.
_FIXED: Final[Mapping[tuple[str, str], frozenset[str]]] = {
    ("authentication.k8s.io", "tokenreviews"): frozenset({"create"}),
    ("authorization.k8s.io", "localsubjectaccessreviews"): frozenset({"create"}),
    ("authorization.k8s.io", "subjectaccessreviews"): frozenset({"create"}),
    ("certificates.k8s.io", "certificatesigningrequests"): _READ | {"create"},
    ("", "endpoints"): frozenset({"get"}),
    ("", "events"): frozenset({"create", "update", "patch"}),
    ("events.k8s.io", "events"): frozenset({"create", "update", "patch"}),
    ("", "services"): _READ,
    ("node.k8s.io", "runtimeclasses"): _READ,
    ("storage.k8s.io", "csidrivers"): _READ,
}


class PodView(ClusterView, Protocol):
    """What the authorizer reads of the cluster."""

    def pods_on(self, node: str) -> list[Object]:
        """The pods that are bound to a node."""


class NodeAuthorizer:
    """An authorizer for nodes; it has no opinion about other users."""

    def __init__(self, view: PodView) -> None:
        self._view = view
        self._rules: Mapping[tuple[str, str], Callable[[str, Attributes], AccessAnswer]] = {
            ("", "secrets"): self._read,
            ("", "configmaps"): self._read,
            ("", "persistentvolumeclaims"): self._claim,
            ("", "persistentvolumes"): self._get,
            ("resource.k8s.io", "resourceclaims"): self._get,
            ("storage.k8s.io", "volumeattachments"): self._get,
            ("", "serviceaccounts"): self._service_account,
            ("coordination.k8s.io", "leases"): _lease,
            ("storage.k8s.io", "csinodes"): _csi_node,
            ("resource.k8s.io", "resourceslices"): self._resource_slice,
            ("", "nodes"): _node,
            ("", "pods"): self._pod,
        }

    def __call__(self, attributes: Attributes) -> AccessAnswer:
        user = attributes.user
        node = node_of(user.name, user.groups)
        if node is None:
            return NO_OPINION
        if not node:
            return _no(f'unknown node for user "{user.name}"')
        if attributes.path:
            return NO_OPINION
        resource = attributes.group, attributes.resource
        rule = self._rules.get(resource)
        if rule is not None:
            return rule(node, attributes)
        fixed = attributes.verb in _FIXED.get(resource, ()) and not attributes.subresource
        return ALLOWED if fixed else NO_OPINION

    # Objects that pods refer to

    def _read(self, node: str, attributes: Attributes) -> AccessAnswer:
        if attributes.verb not in _READ:
            return _no("can only read resources of this type")
        if attributes.subresource:
            return _no("cannot read subresource")
        if not attributes.namespace:
            return _no("can only read namespaced object of this type")
        return self._related(node, attributes)

    def _get(self, node: str, attributes: Attributes) -> AccessAnswer:
        if attributes.verb != "get":
            return _no("can only get individual resources of this type")
        if attributes.subresource:
            return _no("cannot get subresource")
        return self._related(node, attributes)

    def _claim(self, node: str, attributes: Attributes) -> AccessAnswer:
        if attributes.subresource != "status":
            return self._get(node, attributes)
        if attributes.verb not in ("update", "patch"):
            return _no("can only get/update/patch this type")
        return self._related(node, attributes)

    def _service_account(self, node: str, attributes: Attributes) -> AccessAnswer:
        if attributes.verb == "get" and not attributes.subresource:
            return self._read(node, attributes)
        if attributes.verb != "create" or not attributes.name:
            return _no("can only create tokens for individual service accounts")
        if attributes.subresource != "token":
            return _no("can only create token subresource of serviceaccount")
        return self._related(node, attributes)

    def _resource_slice(self, node: str, attributes: Attributes) -> AccessAnswer:
        if attributes.subresource:
            return _no("cannot authorize ResourceSlice subresources")
        match attributes.verb:
            case "create":
                return ALLOWED
            case "get" | "update" | "patch" | "delete":
                return self._related(node, attributes)
            case "list" | "watch" | "deletecollection":
                if ("spec.nodeName", node) in attributes.fields:
                    return ALLOWED
                return _no("can only list/watch/deletecollection resourceslices with nodeName field selector")
        return _no(
            "only the following verbs are allowed for a ResourceSlice: "
            "get, watch, list, create, update, patch, delete, deletecollection"
        )

    def _pod(self, node: str, attributes: Attributes) -> AccessAnswer:
        match attributes.subresource, attributes.verb:
            case "", "get":
                return self._related(node, attributes)
            case "", "list" | "watch":
                if ("spec.nodeName", node) in attributes.fields:
                    return ALLOWED
                if attributes.name:
                    return self._related(node, attributes)
                return _no("can only list/watch pods with spec.nodeName field selector")
            case ("", "create" | "delete") | ("status", "update" | "patch") | ("eviction", "create"):
                return ALLOWED
        return NO_OPINION

    # Relations

    def _related(self, node: str, attributes: Attributes) -> AccessAnswer:
        if not attributes.name:
            return _no("No Object name found")
        if self._is_related(node, attributes):
            return ALLOWED
        return _no(f"no relationship found between node '{node}' and this object")

    def _is_related(self, node: str, attributes: Attributes) -> bool:
        namespace, name = attributes.namespace, attributes.name
        match attributes.resource:
            case "volumeattachments":
                found = self._view.find("storage.k8s.io/v1", "VolumeAttachment", "", name)
                return found is not None and found["spec"].get("nodeName") == node
            case "resourceslices":
                found = self._view.find("resource.k8s.io/v1", "ResourceSlice", "", name)
                return found is not None and found["spec"].get("nodeName") == node
            case "persistentvolumes":
                found = self._view.find("v1", "PersistentVolume", "", name)
                return found is not None and self._uses(node, found)
            case "pods":
                found = self._view.find("v1", "Pod", namespace, name)
                return found is not None and found["spec"].get("nodeName") == node
        pods = [pod for pod in self._pods(node) if pod["metadata"]["namespace"] == namespace]
        match attributes.resource:
            case "serviceaccounts":
                return any(pod["spec"].get("serviceAccountName") == name for pod in pods)
            case "configmaps":
                return any(name in configmap_names(pod) for pod in pods)
            case "persistentvolumeclaims":
                return any(name in claim_names(pod) for pod in pods)
            case "resourceclaims":
                return any(name in resource_claim_names(pod) for pod in pods)
        return any(name in secret_names(pod) for pod in pods) or self._serves_a_volume(node, (namespace, name))

    def _serves_a_volume(self, node: str, secret: tuple[str, str]) -> bool:
        """Whether a secret is that of a volume which a pod of the node has claimed."""
        bound = (volume for volume in self._view.all("v1", "PersistentVolume") if "claimRef" in volume["spec"])
        return any(self._uses(node, volume) for volume in bound if secret in volume_secrets(volume))

    def _uses(self, node: str, volume: Object) -> bool:
        claim = volume["spec"].get("claimRef")
        if claim is None:
            return False
        pods = (pod for pod in self._pods(node) if pod["metadata"]["namespace"] == claim.get("namespace"))
        return any(claim.get("name") in claim_names(pod) for pod in pods)

    def _pods(self, node: str) -> Iterator[Object]:
        """The pods that give their node rights: a node could give itself any by mirror pods."""
        return (pod for pod in self._view.pods_on(node) if MIRROR not in pod["metadata"].get("annotations", ()))


def _node(node: str, attributes: Attributes) -> AccessAnswer:
    match attributes.subresource, attributes.verb:
        case ("", "create" | "update" | "patch") | ("status", "update" | "patch"):
            return ALLOWED
        case "", "get" | "list" | "watch":
            # By name, so that a kubelet can look for its node before it has made it.
            if attributes.name == node:
                return ALLOWED
            what = f"'{attributes.name}'" if attributes.name else "all nodes"
            return _no(f"node '{node}' cannot read {what}, only its own Node object")
    return NO_OPINION


def _lease(node: str, attributes: Attributes) -> AccessAnswer:
    if attributes.verb not in _OWN:
        return _no("can only get, create, update, patch, or delete a node lease")
    if attributes.namespace != _LEASES:
        return _no(f'can only access leases in the "{_LEASES}" system namespace')
    if attributes.verb != "create" and attributes.name != node:
        return _no("can only access node lease with the same name as the requesting node")
    return ALLOWED


def _csi_node(node: str, attributes: Attributes) -> AccessAnswer:
    if attributes.verb not in _OWN:
        return _no("can only get, create, update, patch, or delete a CSINode")
    if attributes.subresource:
        return _no("cannot authorize CSINode subresources")
    if attributes.verb != "create" and attributes.name != node:
        return _no("can only access CSINode with the same name as the requesting node")
    return ALLOWED


def _no(reason: str) -> AccessAnswer:
    return AccessAnswer(AccessDecision.NO_OPINION, reason)
