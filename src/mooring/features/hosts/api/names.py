"""The names that hosts are spoken of with: group, labels, annotations, finalizers, users."""

from __future__ import annotations

from typing import Final

from mooring.features.machines.api.names import CLONED_FROM_GROUP_KIND as CLONED_FROM_GROUP_KIND
from mooring.features.machines.api.names import CLONED_FROM_NAME as CLONED_FROM_NAME
from mooring.features.machines.api.names import CLUSTER_NAME as CLUSTER_NAME
from mooring.features.machines.api.names import PAUSED as PAUSED

GROUP: Final = "infrastructure.cluster.x-k8s.io"
API_VERSION: Final = f"{GROUP}/v1beta1"

# Of Cluster API, which hosts are part of.
SECRET_TYPE: Final = "cluster.x-k8s.io/secret"

_HOST: Final = f"byoh.{GROUP}/"
# Labels of a ByoHost. The first two are derived from a claim; the others say what the host is.
BYOMACHINE_NAME: Final = f"{_HOST}byomachine-name"
HOST_LABEL: Final = f"byohost.{GROUP}/host"
CAPACITY_CPU: Final = f"capacity.{GROUP}/cpu"
CAPACITY_MEMORY: Final = f"capacity.{GROUP}/memory"
CAPACITY_GPU: Final = f"capacity.{GROUP}/gpu"
GPU_PRESENT: Final = "nvidia.com/gpu.present"
GPU_MODEL: Final = "nvidia.com/gpu.model"
GPU_COUNT: Final = "nvidia.com/gpu.count"
GPU: Final = "nvidia.com/gpu"

# Annotations of a ByoHost. `unregistering` asks its agent to clean it, whatever the value.
UNREGISTERING: Final = f"{_HOST}unregistering"
CLEANUP_STARTED_AT: Final = f"{_HOST}cleanup-started-at"
ENDPOINT: Final = f"{_HOST}endpointip"
K8S_VERSION: Final = f"{_HOST}k8sversion"
BUNDLE_REGISTRY: Final = f"{_HOST}bundle-registry"
# Set by a real agent, with its version: nothing plays the agent of such a host.
AGENT: Final = f"{_HOST}agent"
# The keys of spec.labels and the taints of spec.taints that came with the claim, as JSON; they go with it.
MANAGED_LABELS: Final = f"{_HOST}managed-labels"
MANAGED_TAINTS: Final = f"{_HOST}managed-taints"

BYOMACHINE_FINALIZER: Final = f"byomachine.{GROUP}"
BYOCLUSTER_FINALIZER: Final = f"byocluster.{GROUP}"

PROVIDER_ID_SCHEME: Final = "byoh://"

# Who an agent is: user `byoh:host:NAME` of group `byoh:hosts`, by a certificate that the CSR `byoh-csr-NAME` asks for.
AGENT_USER_PREFIX: Final = "byoh:host:"
AGENT_GROUP: Final = "byoh:hosts"
AGENT_REQUEST_PREFIX: Final = "byoh-csr-"
# The Role and RoleBinding of one host's agent, each followed by the name of the host.
AGENT_ROLE_PREFIX: Final = "byoh-host-"
BOOTSTRAP_GROUP: Final = "system:bootstrappers:byoh"

# Keys of the Secrets that a host's agent reads.
BOOTSTRAP_VALUE: Final = "value"
BOOTSTRAP_FORMAT: Final = "format"
INSTALL_SCRIPT: Final = "install"
UNINSTALL_SCRIPT: Final = "uninstall"
# What `bundleRepo` says where packages of the operating system are installed instead of a bundle.
ONLINE: Final = "online"


def provider_id(host: str) -> str:
    """What a Node of this host has as `spec.providerID`; the Node has the name of the host."""
    return f"{PROVIDER_ID_SCHEME}{host}"
