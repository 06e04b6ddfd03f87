"""Where a cluster is known from: files that somebody saved, or an API server. Commands need not know which."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from mooring.api.core.types import Pod
from mooring.catalog import CATALOG
from mooring.cli.subjects import Source
from mooring.kube.errors import InputError
from mooring.kube.objects import Object
from mooring.placement.owners import Workload, controller_of
from mooring.placement.snapshot import Snapshot, to_object

__all__ = ["Picture", "describe_workload", "maker"]


class Picture(Protocol):
    """`name` stands for it in sentences, `namespace` is where it is at home."""

    @property
    def name(self) -> str: ...

    @property
    def namespace(self) -> str: ...

    @property
    def gaps(self) -> Sequence[str]:
        """What could not be read, and what the answer therefore leaves out."""
        ...

    def load(self, wanted: Callable[[Pod], bool]) -> Snapshot:
        """Everything that placement depends on, with the views of wanted pods."""
        ...

    def find(self, kind: str, name: str, namespace: str | None) -> list[Workload]:
        """The workloads of a kind that bear a name, in one namespace or in all."""
        ...

    def close(self) -> None: ...


def describe_workload(api_version: str, kind: str, view: Workload) -> Object:
    """A workload as the plain object that it is, as far as placement asks."""
    return {"apiVersion": api_version, "kind": kind, **to_object(view)}


def maker(picture: Picture, pod: Pod) -> Source | None:
    """The workload that people edit to change a pod: its Deployment, not the ReplicaSet in between."""
    owner, namespace = controller_of(pod.metadata), pod.metadata.namespace
    known = CATALOG.workloads()
    while owner is not None and owner.kind in known and known[owner.kind].api_version == owner.api_version:
        try:
            found = picture.find(owner.kind, owner.name, namespace)
        except InputError:
            # It may not be read; then there is no command for it.
            return None
        if not found:
            return None
        above = controller_of(found[0].metadata)
        if above is None:
            manifest = describe_workload(owner.api_version, owner.kind, found[0])
            path = known[owner.kind].template_path(manifest, pod.metadata.labels or {})
            return Source(owner.kind, namespace, owner.name, path, None, manifest, live=True)
        owner = above
    return None
