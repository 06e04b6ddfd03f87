"""A cluster source that reads snapshot files of `mooring snapshot` or `kubectl get -o yaml`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from mooring.api.core.types import Pod
from mooring.catalog import CATALOG
from mooring.kube.errors import InputError, MooringError
from mooring.manifests import read_views
from mooring.placement.node_pools import NodePool, NodePoolKinds
from mooring.placement.snapshot import CONTENTS, VIEWS, Snapshot, SnapshotContents, describe
from mooring.placement.workloads.owners import Workload

__all__ = ["HOW_TO_TAKE_ONE", "SnapshotSource", "load_snapshot"]

HOW_TO_TAKE_ONE: Final = "take one with mooring snapshot, or with kubectl get nodes,pods,namespaces,... -A -o yaml"


def load_snapshot(files: Iterable[str], wanted: Callable[[Pod], bool] | None = None) -> Snapshot:
    snapshot = Snapshot(wanted=wanted)
    names = []
    for file in files:
        names.append(file)
        for document in read_views(file, {**VIEWS, CONTENTS: SnapshotContents}):
            try:
                snapshot.add(document.value)
            except MooringError as error:
                raise document.error(f"{describe(document.value)}: {error}") from None
    if not snapshot.cluster.slots:
        raise InputError(f"{', '.join(names)}: holds no nodes, so it is no snapshot of a cluster; {HOW_TO_TAKE_ONE}")
    return snapshot


class SnapshotSource:
    namespace: Final = "default"
    gaps: Final[Sequence[str]] = ()

    def __init__(self, files: Sequence[str]) -> None:
        self._files = files

    @property
    def name(self) -> str:
        return ", ".join(self._files)

    def load(self, wanted: Callable[[Pod], bool]) -> Snapshot:
        return load_snapshot(self._files, wanted)

    def find(self, kind: str, name: str, namespace: str | None) -> list[Workload]:
        return [view for view in self._all(kind, namespace) if view.metadata.name == name]

    def names(self, kind: str, namespace: str | None) -> set[str]:
        return {view.metadata.name for view in self._all(kind, namespace)}

    def _all(self, kind: str, namespace: str | None) -> Iterator[Workload]:
        known = CATALOG.workloads()[kind]
        # Looked for apart, because most snapshots are never asked for a workload. Standard input cannot be read twice.
        for file in self._files:
            for document in read_views(file, {(known.api_version, kind): known.view}) if file != "-" else ():
                if namespace in (None, document.value.metadata.namespace):
                    yield document.value

    def pools(self) -> list[NodePool]:
        return [pool for kinds in CATALOG.node_pools(self._mention) for pool in self._pools(kinds)]

    def _mention(self, kind: str) -> bool:
        """Whether there may be objects of a kind: most files have no pools, and their readers take a while to load."""
        return any(kind.encode() in Path(file).read_bytes() for file in self._files if file != "-")

    def _pools(self, kinds: NodePoolKinds) -> list[NodePool]:
        names = {view: kind for (_, kind), view in kinds.views.items()}
        objects: dict[str, list[Any]] = {kind: [] for kind in names.values()}
        for file in self._files:
            for document in read_views(file, kinds.views) if file != "-" else ():
                objects[names[type(document.value)]].append(document.value)
        return kinds.pools_of(objects)

    def pool_decisions(self) -> Mapping[str, str]:
        """Nothing: what was decided on another day says nothing about these files."""
        return {}

    def close(self) -> None:
        """Nothing is open."""
