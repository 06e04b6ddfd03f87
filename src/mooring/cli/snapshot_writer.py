"""Writes a cluster as a snapshot file: only what placement reads, in kubectl's style, the same bytes each time.

What is written is what the typed views declare, so nothing else can get into a file: no annotation, no environment, no
command, no secret. Pods of one workload are alike, and equal parts are encoded once.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final

import msgspec

from mooring.api.core.types import ConditionSummary, ContainerStatus, Node, Pod, PodStatus, Volume
from mooring.catalog import CATALOG
from mooring.manifests.emit import to_yaml
from mooring.placement.snapshot import VIEWS, to_object, wire_fields
from mooring.placement.workloads.owners import PodTemplate, Workload, controller_of

__all__ = ["Item", "SnapshotEncoder", "save_snapshot", "saved_kinds", "write"]

# Small and general things first, so that a file is readable from the top; kinds of features come before Pods.
_FIRST: Final = (
    "Namespace",
    "PriorityClass",
    "Node",
    "PodDisruptionBudget",
    "Service",
    "Deployment",
    "StatefulSet",
    "ReplicaSet",
    "ReplicationController",
    "Job",
)
# Of the volumes that can tie a pod to nodes, what names them; credentials stand beside it.
_NAMED_BY: Final[Mapping[str, tuple[str, ...]]] = {
    "persistent_volume_claim": ("claimName",),
    "ephemeral": (),
    "aws_elastic_block_store": ("volumeID",),
    "gce_persistent_disk": ("pdName",),
    "iscsi": ("iqn", "lun", "targetPortal"),
    "rbd": ("image", "monitors", "pool"),
}
# The conditions of a pod that placement asks about, and the one that a plan begins with.
_POD_CONDITIONS: Final = ("DisruptionTarget", "PodResizePending", "Ready")
_NODE_CONDITIONS: Final = ("Ready",)
_GZIP_LEVEL: Final = 5
_MOST_CACHED_TEXTS: Final = 20_000

Item = tuple[tuple[int, str], str]
"""An object's sort key in the file and its text."""


def saved_kinds() -> dict[tuple[str, str], type[msgspec.Struct]]:
    """The kinds of a snapshot file, those of features included, and the view that each is read as."""
    workloads = {
        (each.api_version, each.kind): each.view for each in CATALOG.workloads().values() if each.kind != "Pod"
    }
    return {**VIEWS, **workloads}


class SnapshotEncoder:
    """Encodes views as YAML items; equal parts are encoded once."""

    def __init__(self) -> None:
        self._encode = msgspec.msgpack.Encoder().encode
        self._known: dict[tuple[str, bytes], str] = {}
        self._api_versions = {kind: api_version for api_version, kind in saved_kinds()}
        others = sorted(self._api_versions.keys() - {*_FIRST, "Pod"})
        self._ranks = {kind: rank for rank, kind in enumerate((*_FIRST, *others, "Pod"))}

    def item(self, kind: str, view: Any) -> Item:
        metadata = view.metadata
        key = f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name
        return (self._ranks[kind], key), "".join(self._lines(kind, trimmed(view)))

    def _lines(self, kind: str, view: Any) -> Iterator[str]:
        yield f"- apiVersion: {self._api_versions[kind]}\n  kind: {kind}\n"
        for name, key, default in wire_fields(type(view)):
            value = getattr(view, name)
            if value == default:
                continue
            if not isinstance(value, msgspec.Struct):
                yield self._entry(key, value, "  ")
                continue
            yield f"  {key}:\n"
            for inner, inner_key, inner_default in wire_fields(type(value)):
                if (part := getattr(value, inner)) != inner_default:
                    yield self._entry(inner_key, part, "    ")

    def _entry(self, key: str, value: Any, indent: str) -> str:
        if isinstance(value, str | int):
            return f"{indent}{to_yaml({key: value})}"
        memo = (indent + key, self._encode(value))
        text = self._known.get(memo)
        if text is None:
            if len(self._known) >= _MOST_CACHED_TEXTS:
                self._known.clear()
            body = to_yaml({key: to_object(value)})
            text = self._known[memo] = "".join(f"{indent}{line}" for line in body.splitlines(keepends=True))
        return text


def trimmed(view: Any) -> Any:
    """The view without fields that may hold a secret, and without fields that placement does not read."""
    replace = msgspec.structs.replace
    if isinstance(view, Pod):
        spec = replace(view.spec, volumes=_volumes(view.spec.volumes))
        return Pod(view.metadata, spec, _status(view.status))
    if isinstance(view, Node):
        return replace(
            view, status=replace(view.status, conditions=_conditions(view.status.conditions, _NODE_CONDITIONS))
        )
    if isinstance(view, Workload) and controller_of(view.metadata) is not None and view.spec.replicas == 0:
        # Its owner is asked instead; old ReplicaSets are many.
        return replace(view, spec=replace(view.spec, template=None))
    return _with_trimmed_templates(view)


def _with_trimmed_templates(view: Any) -> Any:
    """A copy in which every pod template, at any depth, has its labels and what a pod would have."""
    replace = msgspec.structs.replace
    if isinstance(view, PodTemplate):
        spec = replace(view.spec, volumes=_volumes(view.spec.volumes))
        return replace(view, metadata=replace(PodTemplate().metadata, labels=view.metadata.labels), spec=spec)
    if isinstance(view, msgspec.Struct):
        return replace(view, **{name: _with_trimmed_templates(getattr(view, name)) for name in view.__struct_fields__})
    return view


def _status(status: PodStatus) -> PodStatus:
    return PodStatus(
        status.phase,
        status.start_time,
        status.nominated_node_name,
        _conditions(status.conditions, _POD_CONDITIONS),
        _reporting(status.container_statuses),
        _reporting(status.init_container_statuses),
    )


def _conditions(
    conditions: tuple[ConditionSummary, ...] | None, kept: tuple[str, ...]
) -> tuple[ConditionSummary, ...] | None:
    return tuple(ConditionSummary(c.type, c.status, c.reason) for c in conditions or () if c.type in kept) or None


def _reporting(statuses: tuple[ContainerStatus, ...] | None) -> tuple[ContainerStatus, ...] | None:
    """Statuses count when a node reports resources in one of them."""
    return statuses if any(s.resources or s.allocated_resources for s in statuses or ()) else None


def _volumes(volumes: tuple[Volume, ...] | None) -> tuple[Volume, ...] | None:
    kept = []
    for volume in volumes or ():
        sources = {
            field: {key: source[key] for key in names if key in source}
            for field, names in _NAMED_BY.items()
            if (source := getattr(volume, field)) is not None
        }
        if sources:
            kept.append(Volume(name=volume.name, **sources))
    return tuple(kept) or None


def save_snapshot(file: Path, items: Iterable[Item], comment: str = "") -> None:
    """Write a snapshot; one whose name ends in .gz is packed. It is renamed into place when it is complete."""
    unfinished = file.with_name(f".{file.name}.unfinished")
    try:
        with unfinished.open("wb") as raw:
            if file.name.endswith(".gz"):
                # Without a time in it, the same cluster gives the same bytes.
                with gzip.GzipFile("", "wb", _GZIP_LEVEL, raw, mtime=0) as packed:
                    write(packed, items, comment)
            else:
                write(raw, items, comment)
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


def write(stream: IO[bytes] | gzip.GzipFile, items: Iterable[Item], comment: str = "") -> None:
    """Write a snapshot to a stream."""
    texts = [text for _, text in sorted(items)]
    # kubectl's own first lines come first: they are how large files are known to be readable in pieces.
    stream.write(b"apiVersion: v1\nitems:\n" if texts else b"apiVersion: v1\nitems: []\n")
    for text in texts:
        stream.write(text.encode())
    stream.write(b"kind: List\n")
    for line in comment.splitlines():
        stream.write(f"# {line}".rstrip().encode() + b"\n")
