"""The flags of the autoscaler, by the names that upstream gives them, and the settings that they come to."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from mooring.features.autoscaler.settings import AutoscalerSettings, NodeGroupOptions
from mooring.runtime.settings import choice, duration

if TYPE_CHECKING:
    from mooring.runtime.view import View

__all__ = ["FLAGS", "REPLICA_POOL_UNNEEDED_TIME", "SCAN_INTERVAL", "TAINT_DELAY", "settings_of", "uses_priorities"]

_DEFAULTS: Final = AutoscalerSettings()
_OPTIONS: Final = NodeGroupOptions()

SCAN_INTERVAL: Final = duration(
    "scan-interval", timedelta(seconds=10), "How often the autoscaler looks at the cluster, at most (10s)."
)
TAINT_DELAY: Final = duration(
    "node-deletion-delay-after-taint",
    timedelta(seconds=5),
    "How long a node takes no more pods before its Machine goes (5s).",
)
_EXPANDER: Final = choice(
    "expander",
    ("least-waste", "most-pods", "least-nodes", "priority"),
    "least-waste",
    "Which pool grows where several could (least-waste).",
)
_UNNEEDED_TIME: Final = duration(
    "scale-down-unneeded-time", _OPTIONS.scale_down_unneeded_time, "How long a node must be unneeded to go (10m)."
)
_UNREADY_TIME: Final = duration(
    "scale-down-unready-time", _OPTIONS.scale_down_unready_time, "The same for a node that is not ready (20m)."
)
_PROVISION_TIME: Final = duration(
    "max-node-provision-time", _OPTIONS.max_node_provision_time, "How long a pool may take to get a node (15m)."
)
_AFTER_ADD: Final = duration(
    "scale-down-delay-after-add",
    _DEFAULTS.scale_down_delay_after_add,
    "How long after a scale-up no node goes (10m).",
)
_AFTER_DELETE: Final = duration(
    "scale-down-delay-after-delete",
    _DEFAULTS.scale_down_delay_after_delete,
    "How long after a deletion no other node goes (0s).",
)
_AFTER_FAILURE: Final = duration(
    "scale-down-delay-after-failure",
    _DEFAULTS.scale_down_delay_after_failure,
    "How long after a deletion that failed no node goes (3m).",
)
_RECHECK: Final = duration(
    "unremovable-node-recheck-timeout",
    _DEFAULTS.unremovable_recheck_timeout,
    "How long a node that could not go is not looked at again (5m).",
)
_INITIAL_BACKOFF: Final = duration(
    "initial-node-group-backoff-duration",
    _DEFAULTS.initial_backoff,
    "How long a pool is left alone after a scale-up that failed (5m).",
)
_MAX_BACKOFF: Final = duration(
    "max-node-group-backoff-duration",
    _DEFAULTS.max_backoff,
    "The longest that a pool is left alone after several of them (30m).",
)
_NEW_GPU_POD: Final = duration(
    "new-gpu-pod-delay",
    _DEFAULTS.new_gpu_pod_time,
    "How old pods with GPUs must be: nodes tell of GPUs a while after they have come (30s).",
)
REPLICA_POOL_UNNEEDED_TIME: Final = duration(
    "replica-pool-unneeded-time",
    timedelta(minutes=1),
    "How long the pods of a replica must be gone before its pool goes (1m).",
)
FLAGS: Final = (
    SCAN_INTERVAL,
    TAINT_DELAY,
    _EXPANDER,
    _UNNEEDED_TIME,
    _UNREADY_TIME,
    _PROVISION_TIME,
    _AFTER_ADD,
    _AFTER_DELETE,
    _AFTER_FAILURE,
    _RECHECK,
    _INITIAL_BACKOFF,
    _MAX_BACKOFF,
    _NEW_GPU_POD,
    REPLICA_POOL_UNNEEDED_TIME,
)


def settings_of(view: View, priorities: str | None = None) -> AutoscalerSettings:
    """`priorities` is what the ConfigMap of the priority expander says."""
    told = view.settings
    options = _OPTIONS._replace(
        scale_down_unneeded_time=told[_UNNEEDED_TIME],
        scale_down_unready_time=told[_UNREADY_TIME],
        max_node_provision_time=told[_PROVISION_TIME],
    )
    return _DEFAULTS._replace(
        expanders=(told[_EXPANDER],),
        priorities=priorities,
        scale_down_delay_after_add=told[_AFTER_ADD],
        scale_down_delay_after_delete=told[_AFTER_DELETE],
        scale_down_delay_after_failure=told[_AFTER_FAILURE],
        unremovable_recheck_timeout=told[_RECHECK],
        initial_backoff=told[_INITIAL_BACKOFF],
        max_backoff=told[_MAX_BACKOFF],
        new_gpu_pod_time=told[_NEW_GPU_POD],
        options=options,
    )


def uses_priorities(view: View) -> bool:
    return view.settings[_EXPANDER] == "priority"
