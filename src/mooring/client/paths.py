"""From a kind to its place in the API: `apps/v1 Deployment` lives under `/apis/apps/v1/.../deployments`.

Kinds of Kubernetes' own groups are known without asking, because their plurals follow from their names. Others are
looked up in the server's discovery, once per group and version, and again when a kind is missing, because definitions
come and go.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple
from urllib.parse import quote

_OWN: Final = frozenset(
    {
        "v1",
        "admissionregistration.k8s.io/v1",
        "apiextensions.k8s.io/v1",
        "apps/v1",
        "autoscaling/v2",
        "batch/v1",
        "certificates.k8s.io/v1",
        "coordination.k8s.io/v1",
        "discovery.k8s.io/v1",
        "events.k8s.io/v1",
        "networking.k8s.io/v1",
        "node.k8s.io/v1",
        "policy/v1",
        "rbac.authorization.k8s.io/v1",
        "scheduling.k8s.io/v1",
        "storage.k8s.io/v1",
    }
)
# Those of their kinds that no namespace holds.
_OF_THE_CLUSTER: Final = frozenset(
    {
        "CSIDriver",
        "CSINode",
        "CertificateSigningRequest",
        "ClusterRole",
        "ClusterRoleBinding",
        "CustomResourceDefinition",
        "IngressClass",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "Namespace",
        "Node",
        "PersistentVolume",
        "PriorityClass",
        "RuntimeClass",
        "StorageClass",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
        "VolumeAttachment",
        "VolumeAttributesClass",
    }
)


class Place(NamedTuple):
    """Where the objects of a kind are."""

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


class Places:
    def __init__(self) -> None:
        self._learnt: dict[tuple[str, str], Place] = {}

    def find(self, api_version: str, kind: str) -> Place | None:
        if api_version in _OWN:
            return Place(api_version, plural_of(kind), kind not in _OF_THE_CLUSTER)
        return self._learnt.get((api_version, kind))

    def learn(self, api_version: str, resources: Iterable[dict[str, Any]]) -> None:
        """Take in what the discovery of a group and version says."""
        for resource in resources:
            # Sub-resources are listed beside the kinds they belong to.
            if "/" not in resource["name"]:
                place = Place(api_version, resource["name"], bool(resource.get("namespaced")))
                self._learnt[api_version, resource["kind"]] = place


def plural_of(kind: str) -> str:
    """What a kind is called in paths and in access rules, unless its definition says something else."""
    name = kind.lower()
    if name == "endpoints":
        return name
    if name.endswith("y"):
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith("s") else f"{name}s"
