"""The kinds that Workspaces read and write, beside those that all workloads share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from mooring.api.core.types import Labels, View
from mooring.api.kinds import Kind
from mooring.api.meta import Bare, Condition, Meta
from mooring.features.workspaces.api import API_VERSION, KIND, NAME_LABEL, OWNER_LABELS, Workspace
from mooring.features.workspaces.provisioning import api as provisioning
from mooring.features.workspaces.provisioning.api import NodeClaim
from mooring.runtime.reads import named, selected

__all__ = ["CONFIG_MAP", "NODE_CLAIM", "SERVING_POD", "STORAGE_CLASS", "WORKSPACE", "NodeClaim", "ServingPod"]


class ContainerEnd(View, frozen=True):
    exit_code: int = 0
    reason: str = ""
    message: str = ""


class ContainerWait(View, frozen=True):
    reason: str = ""
    message: str = ""


class ContainerState(View, frozen=True):
    waiting: ContainerWait | None = None
    terminated: ContainerEnd | None = None


class ServingContainer(View, frozen=True):
    name: str = ""
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()


class ServingPodStatus(View, frozen=True):
    phase: str = ""
    reason: str = ""
    message: str = ""
    conditions: tuple[Condition, ...] = ()
    init_container_statuses: tuple[ServingContainer, ...] = ()
    container_statuses: tuple[ServingContainer, ...] = ()


class ServingPod(View, frozen=True):
    """A pod of a Workspace, with everything that says why it does not serve."""

    metadata: Meta = Meta()
    status: ServingPodStatus = ServingPodStatus()


class ConfigMap(View, frozen=True):
    metadata: Meta = Meta()
    data: Labels = msgspec.field(default_factory=dict)


def _pod_workspace(pod: ServingPod) -> Iterable[str]:
    return (f"{pod.metadata.namespace}/{pod.metadata.labels[NAME_LABEL]}",)


def _claim_workspace(claim: NodeClaim) -> Iterable[str]:
    labels = claim.metadata.labels
    for name, namespace in OWNER_LABELS:
        if name in labels:
            yield f"{labels.get(namespace, '')}/{labels[name]}"
            return


WORKSPACE: Final = Kind(API_VERSION, KIND, Workspace, optional=True)
NODE_CLAIM: Final = Kind(
    provisioning.API_VERSION, provisioning.KIND, NodeClaim, indexes={"workspace": _claim_workspace}, optional=True
)
SERVING_POD: Final = selected(Kind("v1", "Pod", ServingPod, indexes={"workspace": _pod_workspace}), NAME_LABEL)
CONFIG_MAP: Final = named(Kind("v1", "ConfigMap", ConfigMap))
STORAGE_CLASS: Final = named(Kind("storage.k8s.io/v1", "StorageClass", Bare))
