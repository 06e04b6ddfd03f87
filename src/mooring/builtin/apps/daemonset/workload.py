"""DaemonSets as a kind that makes pods: how `explain`, `plan` and snapshots read and tell them."""

from __future__ import annotations

from typing import Final

from mooring.kube.objects import Object
from mooring.placement.workloads.expansion import Expansion
from mooring.placement.workloads.kinds import WorkloadKind
from mooring.placement.workloads.known_cluster import KnownCluster, NodeSelection
from mooring.placement.workloads.owners import Workload

__all__ = ["DAEMON_SET_PODS"]

# A pod is made for a node that has met these; another value makes no pod for it, or one elsewhere. A nodeName needs no
# place here: the affinity of the pod names its node too, so that nothing comes of dropping it.
_DECIDED: Final = ("/spec/affinity", "/spec/nodeSelector", "/spec/tolerations")


def _expand(value: Object, namespace: str, cluster: KnownCluster) -> Expansion:
    # Explaining anything else must not wait for what makes pods of DaemonSets.
    from mooring.builtin.apps.daemonset.expansion import expand_daemon_set

    return expand_daemon_set(value, namespace, cluster)


def _select(value: Object, namespace: str, cluster: KnownCluster) -> NodeSelection:
    from mooring.builtin.apps.daemonset.expansion import select_nodes

    return select_nodes(value, namespace, cluster)


DAEMON_SET_PODS: Final = WorkloadKind(
    "apps/v1",
    "DaemonSet",
    "daemonsets",
    "ds",
    Workload,
    expand=_expand,
    select=_select,
    fixed=lambda manifest: _DECIDED,
)
