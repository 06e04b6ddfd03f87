"""Kinds that no controller here looks into, followed by metadata alone: owners and what they own still count.

Garbage collection and the deletion of namespaces are about every kind that the API serves, custom ones too, which come
and go with their definitions.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from mooring.api.conditions import is_true
from mooring.api.core.types import View as Typed
from mooring.api.kinds import DynamicKinds, Kind
from mooring.api.meta import Bare, Condition, Meta
from mooring.runtime.reads import metadata_of
from mooring.workloads.kinds import (
    CERTIFICATE_SIGNING_REQUEST,
    CLUSTER_ROLE,
    CSI_DRIVER,
    CSI_NODE,
    CSI_STORAGE_CAPACITY,
    LEASE,
    PERSISTENT_VOLUME,
    STORAGE_CLASS,
    VOLUME_ATTACHMENT,
)

SECRET_METADATA = metadata_of("v1", "Secret")
API_SERVICE = metadata_of("apiregistration.k8s.io/v1", "APIService")
IN_NAMESPACES: tuple[Kind[Any], ...] = (
    LEASE,
    metadata_of("v1", "ConfigMap"),
    metadata_of("v1", "LimitRange"),
    metadata_of("v1", "PodTemplate"),
    metadata_of("v1", "ResourceQuota"),
    SECRET_METADATA,
    metadata_of("v1", "ServiceAccount"),
    metadata_of("networking.k8s.io/v1", "Ingress"),
    metadata_of("networking.k8s.io/v1", "NetworkPolicy"),
    metadata_of("rbac.authorization.k8s.io/v1", "Role"),
    metadata_of("rbac.authorization.k8s.io/v1", "RoleBinding"),
    metadata_of("resource.k8s.io/v1", "ResourceClaimTemplate"),
    CSI_STORAGE_CAPACITY,
)
OF_THE_CLUSTER: tuple[Kind[Any], ...] = (
    CLUSTER_ROLE,
    PERSISTENT_VOLUME,
    metadata_of("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"),
    metadata_of("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"),
    metadata_of("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding"),
    metadata_of("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"),
    API_SERVICE,
    CERTIFICATE_SIGNING_REQUEST,
    metadata_of("flowcontrol.apiserver.k8s.io/v1", "FlowSchema"),
    metadata_of("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration"),
    metadata_of("networking.k8s.io/v1", "IPAddress"),
    metadata_of("networking.k8s.io/v1", "ServiceCIDR"),
    metadata_of("networking.k8s.io/v1", "IngressClass"),
    metadata_of("node.k8s.io/v1", "RuntimeClass"),
    metadata_of("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
    metadata_of("resource.k8s.io/v1", "DeviceClass"),
    metadata_of("resource.k8s.io/v1", "ResourceSlice"),
    metadata_of("scheduling.k8s.io/v1", "PriorityClass"),
    CSI_DRIVER,
    CSI_NODE,
    STORAGE_CLASS,
    VOLUME_ATTACHMENT,
    metadata_of("storage.k8s.io/v1", "VolumeAttributesClass"),
)


class Names(Typed, frozen=True):
    kind: str = ""
    plural: str = ""


class ScalePaths(Typed, frozen=True):
    """Where a custom kind has its replicas."""

    spec_replicas_path: str = ""
    status_replicas_path: str = ""
    label_selector_path: str = ""


class Subresources(Typed, frozen=True):
    scale: ScalePaths | None = None


class DefinitionVersion(Typed, frozen=True):
    name: str = ""
    served: bool = False
    storage: bool = False
    subresources: Subresources = Subresources()


class DefinitionSpec(Typed, frozen=True):
    group: str = ""
    scope: str = "Namespaced"
    names: Names = Names()
    versions: tuple[DefinitionVersion, ...] = ()


class DefinitionStatus(Typed, frozen=True):
    conditions: tuple[Condition, ...] = ()


class Definition(Typed, frozen=True):
    metadata: Meta = Meta()
    spec: DefinitionSpec = DefinitionSpec()
    status: DefinitionStatus = DefinitionStatus()


@cache
def _custom(api_version: str, kind: str) -> Kind[Bare]:
    return metadata_of(api_version, kind, optional=True)


def custom_kind(definition: Definition) -> Kind[Any] | None:
    """The kind that a definition stands for, in the version that is stored if that one is served; None for no kind."""
    version = served_version(definition)
    return None if version is None else _custom(f"{definition.spec.group}/{version.name}", definition.spec.names.kind)


def served_version(definition: Definition) -> DefinitionVersion | None:
    """The version that is stored if that one is served, else another; None for a kind that is not there yet."""
    served = sorted((each for each in definition.spec.versions if each.served), key=lambda each: not each.storage)
    return served[0] if served and is_true(definition.status.conditions, "Established") else None


DEFINITION = Kind("apiextensions.k8s.io/v1", "CustomResourceDefinition", Definition)
CUSTOM_KINDS = DynamicKinds(DEFINITION, custom_kind)
