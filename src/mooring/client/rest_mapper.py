"""The mapping of a kind to its REST path: `apps/v1 Deployment` is under `/apis/apps/v1/.../deployments`.

Kinds of Kubernetes' own groups need no discovery, because their plurals follow from their names. Other kinds are looked
up in the server's discovery, once per group and version, and again when a kind is missing, because
CustomResourceDefinitions come and go.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple
from urllib.parse import quote

_BUILTIN_GROUPS: Final = frozenset(
    {
        "v1",
        "admissionregistration.k8s.io/v1",
        "apiextensions.k8s.io/v1",
        "apiregistration.k8s.io/v1",
        "apps/v1",
        "autoscaling/v2",
        "batch/v1",
        "certificates.k8s.io/v1",
        "coordination.k8s.io/v1",
        "discovery.k8s.io/v1",
        "events.k8s.io/v1",
        "flowcontrol.apiserver.k8s.io/v1",
        "networking.k8s.io/v1",
        "node.k8s.io/v1",
        "policy/v1",
        "rbac.authorization.k8s.io/v1",
        "resource.k8s.io/v1",
        "scheduling.k8s.io/v1",
        "storage.k8s.io/v1",
    }
)
# Their cluster-scoped kinds.
_CLUSTER_SCOPED: Final = frozenset(
    {
        "APIService",
        "CSIDriver",
        "CSINode",
        "CertificateSigningRequest",
        "ClusterRole",
        "ClusterRoleBinding",
        "CustomResourceDefinition",
        "DeviceClass",
        "FlowSchema",
        "IPAddress",
        "IngressClass",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "Namespace",
        "Node",
        "PersistentVolume",
        "PriorityClass",
        "PriorityLevelConfiguration",
        "ResourceSlice",
        "RuntimeClass",
        "ServiceCIDR",
        "StorageClass",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
        "VolumeAttachment",
        "VolumeAttributesClass",
    }
)


class RestMapping(NamedTuple):
    """The resource of a kind, and the paths of its objects."""

    api_version: str
    plural: str
    namespaced: bool

    def collection(self, namespace: str = "") -> str:
        base = base_of(self.api_version)
        if namespace and self.namespaced:
            return f"{base}/namespaces/{quote(namespace, safe='')}/{self.plural}"
        return f"{base}/{self.plural}"

    def object(self, namespace: str, name: str, subresource: str = "") -> str:
        path = f"{self.collection(namespace)}/{quote(name, safe='')}"
        return f"{path}/{subresource}" if subresource else path


def base_of(api_version: str) -> str:
    """The path of a group and version, which is also where its discovery is."""
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


class RestMapper:
    """The mappings that are known: those of Kubernetes' own groups, and those discovered so far."""

    def __init__(self) -> None:
        self._discovered: dict[tuple[str, str], RestMapping] = {}

    def find(self, api_version: str, kind: str) -> RestMapping | None:
        if api_version in _BUILTIN_GROUPS:
            return RestMapping(api_version, plural_of(kind), kind not in _CLUSTER_SCOPED)
        return self._discovered.get((api_version, kind))

    def learn(self, api_version: str, resources: Iterable[dict[str, Any]]) -> None:
        """Add the resources of a group and version, as discovery lists them."""
        for resource in resources:
            # Sub-resources are listed beside the kinds they belong to.
            if "/" not in resource["name"]:
                mapping = RestMapping(api_version, resource["name"], bool(resource.get("namespaced")))
                self._discovered[api_version, resource["kind"]] = mapping


def plural_of(kind: str) -> str:
    """What a kind is called in paths and in access rules, unless its definition says something else."""
    name = kind.lower()
    if name == "endpoints":
        return name
    if name in ("podmetrics", "nodemetrics"):
        # They go by the names of what is measured.
        return f"{name.removesuffix('metrics')}s"
    if name.endswith("y"):
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith("s") else f"{name}s"
