"""The source of a cluster's observed state: snapshot files, or an API server. `explain` works on either."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from mooring.api.core.types import Pod
from mooring.catalog import CATALOG
from mooring.kube.errors import InputError
from mooring.kube.objects import Object
from mooring.placement.node_pools import NodePool
from mooring.placement.snapshot import Snapshot, to_object
from mooring.placement.workloads.owners import Workload, controller_of
from mooring.runway.explain.asked_pods.unplaced_pods import PodSource

__all__ = ["ClusterSource", "top_owner", "workload_object"]


class ClusterSource(Protocol):
    """`name` is its name in messages, `namespace` the default namespace."""

    @property
    def name(self) -> str: ...

    @property
    def namespace(self) -> str: ...

    @property
    def gaps(self) -> Sequence[str]:
        """Kinds that could not be read, and what the answer therefore leaves out."""
        ...

    def load(self, wanted: Callable[[Pod], bool]) -> Snapshot:
        """All objects that placement depends on; the views of `wanted` pods are kept."""
        ...

    def find(self, kind: str, name: str, namespace: str | None) -> list[Workload]:
        """The workloads of a kind and name, in one namespace or in all."""
        ...

    def names(self, kind: str, namespace: str | None) -> set[str]:
        """The names of all workloads of a kind, in one namespace or in all; none where they may not be read."""
        ...

    def pools(self) -> list[NodePool]:
        """The pools that bring nodes, as far as they can be read."""
        ...

    def pool_decisions(self) -> Mapping[str, str]:
        """What was decided about pools, as far as it can be read."""
        ...

    def close(self) -> None: ...


def workload_object(api_version: str, kind: str, view: Workload) -> Object:
    """A workload as a plain object, with the fields that placement reads."""
    return {"apiVersion": api_version, "kind": kind, **to_object(view)}


def top_owner(cluster_source: ClusterSource, pod: Pod) -> PodSource | None:
    """The top owner of a pod, which is edited to change it: its Deployment, not the ReplicaSet in between."""
    owner, namespace = controller_of(pod.metadata), pod.metadata.namespace
    known = CATALOG.workloads()
    while owner is not None and owner.kind in known and known[owner.kind].api_version == owner.api_version:
        try:
            found = cluster_source.find(owner.kind, owner.name, namespace)
        except InputError:
            # Without permission to read the owner, no command for it can be given.
            return None
        if not found:
            return None
        above = controller_of(found[0].metadata)
        if above is None:
            manifest = workload_object(owner.api_version, owner.kind, found[0])
            path = known[owner.kind].template_path(manifest, pod.metadata.labels or {})
            return PodSource(owner.kind, namespace, owner.name, path, None, manifest, live=True)
        owner = above
    return None
