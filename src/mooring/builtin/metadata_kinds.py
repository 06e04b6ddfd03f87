"""Kinds that no controller here looks into, known by their metadata: what they own and what owns them still counts.

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
from mooring.workloads.kinds import LEASE, REPLICATION_CONTROLLER


def _bare(api_version: str, kind: str) -> Kind[Bare]:
    return Kind(api_version, kind, Bare)


IN_NAMESPACES: tuple[Kind[Any], ...] = (
    LEASE,
    REPLICATION_CONTROLLER,
    _bare("v1", "ConfigMap"),
    _bare("v1", "LimitRange"),
    _bare("v1", "PodTemplate"),
    _bare("v1", "ResourceQuota"),
    _bare("v1", "Secret"),
    _bare("v1", "ServiceAccount"),
    _bare("autoscaling/v2", "HorizontalPodAutoscaler"),
    _bare("batch/v1", "CronJob"),
    _bare("networking.k8s.io/v1", "Ingress"),
    _bare("networking.k8s.io/v1", "NetworkPolicy"),
    _bare("rbac.authorization.k8s.io/v1", "Role"),
    _bare("rbac.authorization.k8s.io/v1", "RoleBinding"),
)
OF_THE_CLUSTER: tuple[Kind[Any], ...] = (
    _bare("v1", "PersistentVolume"),
    _bare("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"),
    _bare("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"),
    _bare("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding"),
    _bare("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"),
    _bare("certificates.k8s.io/v1", "CertificateSigningRequest"),
    _bare("networking.k8s.io/v1", "IngressClass"),
    _bare("node.k8s.io/v1", "RuntimeClass"),
    _bare("rbac.authorization.k8s.io/v1", "ClusterRole"),
    _bare("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
    _bare("scheduling.k8s.io/v1", "PriorityClass"),
    _bare("storage.k8s.io/v1", "StorageClass"),
)


class Names(Typed, frozen=True):
    kind: str = ""


class Version(Typed, frozen=True):
    name: str = ""
    served: bool = False
    storage: bool = False


class DefinitionSpec(Typed, frozen=True):
    group: str = ""
    scope: str = "Namespaced"
    names: Names = Names()
    versions: tuple[Version, ...] = ()


class DefinitionStatus(Typed, frozen=True):
    conditions: tuple[Condition, ...] = ()


class Definition(Typed, frozen=True):
    metadata: Meta = Meta()
    spec: DefinitionSpec = DefinitionSpec()
    status: DefinitionStatus = DefinitionStatus()


@cache
def _custom(api_version: str, kind: str) -> Kind[Bare]:
    return Kind(api_version, kind, Bare, optional=True)


def custom_kind(definition: Definition) -> Kind[Any] | None:
    """The kind that a definition stands for, in the version that is stored if that one is served; None for no kind."""
    established = is_true(definition.status.conditions, "Established")
    served = sorted((each for each in definition.spec.versions if each.served), key=lambda each: not each.storage)
    if not established or not served:
        return None
    return _custom(f"{definition.spec.group}/{served[0].name}", definition.spec.names.kind)


DEFINITION = Kind("apiextensions.k8s.io/v1", "CustomResourceDefinition", Definition)
CUSTOM_KINDS = DynamicKinds(DEFINITION, custom_kind)
