"""How a pool of a replica is marked and named, so that it is found again whatever becomes of the policy."""

from __future__ import annotations

from typing import Final

from mooring.features.autoscaler.replica_pools.replicas import ReplicaLabel
from mooring.kube.names import is_dns1123_label
from mooring.workloads.revisions import content_hash

__all__ = ["MADE_FOR", "REASON", "REPLICA_POOL", "SELECTOR_KEY", "pool_name"]

# The label of the MachineDeployment and its template; its value is that of the replica.
REPLICA_POOL: Final = "mooring.dev/replica-pool"
# Annotations of the MachineDeployment: the label key of its nodes, for whose pods it was made, and why, in a sentence.
SELECTOR_KEY: Final = "mooring.dev/replica-pool-key"
MADE_FOR: Final = "mooring.dev/replica-pool-for"
REASON: Final = "mooring.dev/replica-pool-reason"
# Names of Machines must have room behind it.
_MAX_BASE_CHARS: Final = 40


def pool_name(label: ReplicaLabel, first_key: str) -> str:
    """The value, which is the name of a leader; with a hash where it is no name, or another key may have the same."""
    if label.key == first_key and not is_dns1123_label(label.value):
        return label.value
    base = "".join(each if each.isalnum() else "-" for each in label.value.lower())[:_MAX_BASE_CHARS].strip("-")
    return f"{base}-{content_hash(label, None)}"
