"""A snapshot and the flags of a command as expansions of workloads ask about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mooring.kube.objects import Object
from mooring.placement.snapshot import Snapshot
from mooring.placement.workloads.known_cluster import KnownCluster
from mooring.runtime.settings import Configuration

__all__ = ["Objects", "known_cluster"]

Objects = Callable[[str, str], Sequence[Object]]
"""The objects of a kind, by its apiVersion and name."""


def known_cluster(
    snapshot: Snapshot, configuration: Configuration, others: Objects = lambda api_version, kind: ()
) -> KnownCluster:
    """`others` has the objects that a snapshot does not hold."""
    cached = snapshot.cluster
    return KnownCluster(
        cached.pods,
        lambda: [node for node in cached.nodes if node is not None],
        others,
        configuration.gates,
        configuration.settings,
    )
