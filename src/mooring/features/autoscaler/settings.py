"""How the autoscaler decides: the flags of upstream with their defaults, for all node groups and for one."""

from __future__ import annotations

from datetime import timedelta
from typing import Final, NamedTuple

__all__ = ["UPSTREAM", "AutoscalerSettings", "NodeGroupOptions"]

_GIB: Final = 2**30
_MINUTE: Final = timedelta(minutes=1)


class NodeGroupOptions(NamedTuple):
    """What a node group may have settings of its own for."""

    scale_down_utilization_threshold: float = 0.5
    scale_down_gpu_utilization_threshold: float = 0.5
    scale_down_unneeded_time: timedelta = 10 * _MINUTE
    scale_down_unready_time: timedelta = 20 * _MINUTE
    max_node_provision_time: timedelta = 15 * _MINUTE
    max_node_startup_time: timedelta = 15 * _MINUTE
    ignore_daemon_sets_utilization: bool = False
    # All nodes or none: such a group goes to its maximum at once, and down to zero at once.
    zero_or_max: bool = False


class AutoscalerSettings(NamedTuple):
    expanders: tuple[str, ...] = ("least-waste",)
    # The text of the ConfigMap that the priority expander reads; None without a ConfigMap.
    priorities: str | None = None
    max_nodes_total: int = 0
    max_nodes_per_scale_up: int = 1000
    balance_similar_node_groups: bool = False
    balancing_ignored_labels: tuple[str, ...] = ()
    min_cores: int = 0
    max_cores: int = 320_000
    min_memory: int = 0
    max_memory: int = 6_400_000 * _GIB
    startup_taints: tuple[str, ...] = ()
    force_daemon_sets: bool = False
    # Pods of lower priority count for nothing.
    expendable_priority: int = -10
    # Pods that ask for GPUs may be about to be placed for longer than others: GPUs are known a while after their node.
    new_gpu_pod_time: timedelta = timedelta(seconds=30)
    ok_total_unready_count: int = 3
    max_total_unready_percentage: float = 45.0
    initial_backoff: timedelta = 5 * _MINUTE
    max_backoff: timedelta = 30 * _MINUTE
    backoff_reset_timeout: timedelta = 180 * _MINUTE
    ignore_mirror_pods_utilization: bool = False
    scale_down_unready_enabled: bool = True
    skip_nodes_with_system_pods: bool = True
    skip_nodes_with_local_storage: bool = True
    skip_nodes_with_custom_controller_pods: bool = True
    min_replica_count: int = 0
    max_scale_down_parallelism: int = 10
    max_drain_parallelism: int = 1
    unremovable_recheck_timeout: timedelta = 5 * _MINUTE
    # How old a pod of kube-system without a budget must be so that it may be moved.
    system_pod_disruption_timeout: timedelta = 60 * _MINUTE
    scale_down_enabled: bool = True
    scale_down_delay_after_add: timedelta = 10 * _MINUTE
    scale_down_delay_after_delete: timedelta = timedelta()
    scale_down_delay_after_failure: timedelta = 3 * _MINUTE
    # The label that says that a node has GPUs.
    gpu_label: str = "cluster-api/accelerator"
    options: NodeGroupOptions = NodeGroupOptions()
    # What follows is not upstream's; with all of it off, decisions are.
    template_labels_and_taints: bool = True
    capacity_from_hosts: bool = True
    skip_malformed_pools: bool = True
    limit_by_free_hosts: bool = True
    lower_failed_targets: bool = True
    count_other_nodes: bool = True


UPSTREAM: Final = AutoscalerSettings(
    template_labels_and_taints=False,
    capacity_from_hosts=False,
    skip_malformed_pools=False,
    limit_by_free_hosts=False,
    lower_failed_targets=False,
    count_other_nodes=False,
)
"""The defaults of cluster-autoscaler 1.35.2, and nothing else."""
