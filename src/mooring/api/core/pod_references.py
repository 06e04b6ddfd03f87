"""The objects that a pod refers to by name: what its node must be able to read, and what a mirror pod may not name."""

from collections.abc import Iterable, Iterator
from typing import Final

from mooring.kube.objects import Object

__all__ = [
    "MIRROR",
    "claim_names",
    "configmap_names",
    "referred_resource",
    "resource_claim_names",
    "secret_names",
    "volume_secrets",
]

MIRROR: Final = "kubernetes.io/config.mirror"
"""The annotation of a mirror pod: the API's copy of a pod that its node runs by itself."""

_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")
# Kinds of volumes whose secret is in the field secretRef.
_SECRET_REFERENCES: Final = ("cephfs", "cinder", "flexVolume", "rbd", "scaleIO", "iscsi", "storageos")
# Of these, the namespace of the secret is that of the claim when none is given.
_IN_CLAIM_NAMESPACE: Final = ("cephfs", "flexVolume", "rbd", "scaleIO", "iscsi")
# The secrets of a CSI volume that nodes use; the others are for controllers.
_CSI_NODE_SECRETS: Final = ("nodePublishSecretRef", "nodeStageSecretRef", "nodeExpandSecretRef")
# What is said of volumes that a mirror pod may not have.
_REFERRING_VOLUMES: Final = {
    "configMap": "configmaps (via configmap volumes)",
    "secret": "secrets (via secret volumes)",
    "csi": "csidrivers (via CSI volumes)",
    "glusterfs": "endpoints (via glusterFS volumes)",
    "persistentVolumeClaim": "persistentvolumeclaims",
    "ephemeral": "persistentvolumeclaims (via ephemeral volumes)",
    "azureFile": "secrets (via azureFile volumes)",
}
_REFERRING_SOURCES: Final = {
    "configMap": "configmaps (via projected volumes)",
    "secret": "secrets (via projected volumes)",
    "serviceAccountToken": "serviceaccounts (via projected volumes)",
    "clusterTrustBundle": "clustertrustbundles",
    "podCertificate": "podcertificates",
}


def secret_names(pod: Object) -> Iterator[str]:
    """The Secrets that a pod names, in its own namespace."""
    spec = pod["spec"]
    yield from _named(spec.get("imagePullSecrets", ()))
    yield from _from_environment(spec, "secretRef", "secretKeyRef")
    for volume in spec.get("volumes", ()):
        if name := volume.get("secret", {}).get("secretName") or volume.get("azureFile", {}).get("secretName"):
            yield name
        yield from _named(volume[kind].get("secretRef", {}) for kind in _SECRET_REFERENCES if kind in volume)
        yield from _named([volume.get("csi", {}).get("nodePublishSecretRef", {})])
        yield from _projected(volume, "secret")


def configmap_names(pod: Object) -> Iterator[str]:
    """The ConfigMaps that a pod names, in its own namespace."""
    spec = pod["spec"]
    yield from _from_environment(spec, "configMapRef", "configMapKeyRef")
    for volume in spec.get("volumes", ()):
        yield from _named([volume.get("configMap", {})])
        yield from _projected(volume, "configMap")


def claim_names(pod: Object) -> Iterator[str]:
    """The PersistentVolumeClaims of a pod. That of an ephemeral volume is called after pod and volume."""
    for volume in pod["spec"].get("volumes", ()):
        if "persistentVolumeClaim" in volume:
            yield volume["persistentVolumeClaim"]["claimName"]
        elif "ephemeral" in volume:
            yield f"{pod['metadata']['name']}-{volume['name']}"


def resource_claim_names(pod: Object) -> Iterator[str]:
    """The ResourceClaims of a pod. That of a template has its name in the pod's status, once it was made."""
    status = pod.get("status", {})
    made = {each["name"]: each.get("resourceClaimName") for each in status.get("resourceClaimStatuses", ())}
    for claim in pod["spec"].get("resourceClaims", ()):
        if name := claim.get("resourceClaimName") or made.get(claim["name"]):
            yield name
    if extended := status.get("extendedResourceClaimStatus", {}).get("resourceClaimName"):
        yield extended


def volume_secrets(volume: Object) -> Iterator[tuple[str, str]]:
    """The Secrets, by namespace and name, that a node needs for a PersistentVolume that is bound."""
    spec = volume["spec"]
    claimed = spec["claimRef"].get("namespace", "")
    if name := spec.get("azureFile", {}).get("secretName"):
        yield spec["azureFile"].get("secretNamespace") or claimed, name
    for kind in _SECRET_REFERENCES:
        reference = spec.get(kind, {}).get("secretRef", {})
        if name := reference.get("name"):
            yield reference.get("namespace") or (claimed if kind in _IN_CLAIM_NAMESPACE else ""), name
    for field in _CSI_NODE_SECRETS:
        reference = spec.get("csi", {}).get(field, {})
        if name := reference.get("name"):
            yield reference.get("namespace", ""), name


def referred_resource(pod: Object) -> str:
    """A resource that a pod refers to, as refusals call it; empty for a pod that refers to none."""
    spec = pod["spec"]
    if spec.get("serviceAccountName"):
        return "serviceaccounts"
    if any(secret_names(pod)):
        return "secrets"
    if any(configmap_names(pod)):
        return "configmaps"
    if spec.get("resourceClaims"):
        return "resourceclaims"
    for volume in spec.get("volumes", ()):
        for kind, said in _REFERRING_VOLUMES.items():
            if kind in volume:
                return said
        for source in volume.get("projected", {}).get("sources", ()):
            for kind, said in _REFERRING_SOURCES.items():
                if kind in source:
                    return said
    return ""


def _from_environment(spec: Object, whole: str, key: str) -> Iterator[str]:
    for field in _CONTAINERS:
        # A pod that has not been validated yet may have null for its containers.
        for container in spec.get(field) or ():
            yield from _named(each.get(whole, {}) for each in container.get("envFrom", ()))
            yield from _named(each.get("valueFrom", {}).get(key, {}) for each in container.get("env", ()))


def _projected(volume: Object, kind: str) -> Iterator[str]:
    yield from _named(source.get(kind, {}) for source in volume.get("projected", {}).get("sources", ()))


def _named(references: Iterable[Object]) -> Iterator[str]:
    for reference in references:
        if name := reference.get("name"):
            yield name
