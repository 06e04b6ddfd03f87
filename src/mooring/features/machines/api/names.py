"""Groups, labels, annotations and finalizers of Cluster API, as its contract with providers spells them."""

from __future__ import annotations

from typing import Final

GROUP: Final = "cluster.x-k8s.io"
VERSION: Final = "v1beta2"
API_VERSION: Final = f"{GROUP}/{VERSION}"
OLD_VERSION: Final = "v1beta1"
OLD_API_VERSION: Final = f"{GROUP}/{OLD_VERSION}"

# Labels.
CLUSTER_NAME: Final = f"{GROUP}/cluster-name"
DEPLOYMENT_NAME: Final = f"{GROUP}/deployment-name"
SET_NAME: Final = f"{GROUP}/set-name"
CONTROL_PLANE: Final = f"{GROUP}/control-plane"
TEMPLATE_HASH: Final = "machine-template-hash"
# On pods: `skip` leaves a pod where it is, `wait-completed` waits for its end.
DRAIN: Final = f"{GROUP}/drain"

# Annotations. On Machines, and on what is cloned for them.
PAUSED: Final = f"{GROUP}/paused"
DELETE_MACHINE: Final = f"{GROUP}/delete-machine"
CLONED_FROM_NAME: Final = f"{GROUP}/cloned-from-name"
CLONED_FROM_GROUP_KIND: Final = f"{GROUP}/cloned-from-groupkind"
EXCLUDE_NODE_DRAINING: Final = "machine.cluster.x-k8s.io/exclude-node-draining"
PRE_DRAIN_HOOK: Final = "pre-drain.delete.hook.machine.cluster.x-k8s.io"
PRE_TERMINATE_HOOK: Final = "pre-terminate.delete.hook.machine.cluster.x-k8s.io"
# On MachineSets.
REVISION: Final = "machinedeployment.clusters.x-k8s.io/revision"
DISABLE_MACHINE_CREATE: Final = f"{GROUP}/disable-machine-create"
# On Nodes.
NODE_MACHINE: Final = f"{GROUP}/machine"
NODE_CLUSTER_NAMESPACE: Final = f"{GROUP}/cluster-namespace"
NODE_OWNER_KIND: Final = f"{GROUP}/owner-kind"
NODE_OWNER_NAME: Final = f"{GROUP}/owner-name"
LABELS_FROM_MACHINE: Final = f"{GROUP}/labels-from-machine"
ANNOTATIONS_FROM_MACHINE: Final = f"{GROUP}/annotations-from-machine"
TAINTS_FROM_MACHINE: Final = f"{GROUP}/taints-from-machine"
# On MachineDeployments, for autoscalers.
AUTOSCALER_MIN_SIZE: Final = f"{GROUP}/cluster-api-autoscaler-node-group-min-size"
AUTOSCALER_MAX_SIZE: Final = f"{GROUP}/cluster-api-autoscaler-node-group-max-size"

# The taint of a Node that no Machine has looked after yet.
UNINITIALIZED_TAINT: Final = "node.cluster.x-k8s.io/uninitialized"

CLUSTER_FINALIZER: Final = f"cluster.{GROUP}"
MACHINE_FINALIZER: Final = f"machine.{GROUP}"
MACHINE_SET_FINALIZER: Final = f"{GROUP}/machineset"
MACHINE_DEPLOYMENT_FINALIZER: Final = f"{GROUP}/machinedeployment"
