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

from mooring.api.core.types import ConditionSummary, ContainerStatus, Pod, PodStatus, Volume
from mooring.manifests.emit import to_yaml
from mooring.placement.snapshot import VIEWS, to_object, wire_fields
from mooring.placement.workloads.owners import WORKLOADS, PodTemplate, Workload, controller_of

__all__ = ["SAVED", "Item", "SnapshotEncoder", "save_snapshot", "write"]

SAVED: Final[dict[tuple[str, str], type[msgspec.Struct]]] = {**VIEWS, **WORKLOADS}
"""The kinds of a snapshot file, and the view that each is read as."""

# Small and general things first, so that a file is readable from the top.
_ORDER: Final = (
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
    "Pod",
)
_API_VERSIONS: Final = {kind: api_version for api_version, kind in SAVED}
# Of the volumes that can tie a pod to nodes, what names them; credentials stand beside it.
_NAMED_BY: Final[Mapping[str, tuple[str, ...]]] = {
    "persistent_volume_claim": ("claimName",),
    "ephemeral": (),
    "aws_elastic_block_store": ("volumeID",),
    "gce_persistent_disk": ("pdName",),
    "iscsi": ("iqn", "lun", "targetPortal"),
    "rbd": ("image", "monitors", "pool"),
}
# The conditions of a pod that placement asks about.
_CONDITIONS: Final = ("DisruptionTarget", "PodResizePending")
_GZIP_LEVEL: Final = 5
_MOST_CACHED_TEXTS: Final = 20_000

Item = tuple[tuple[int, str], str]
"""An object's sort key in the file and its text."""


class SnapshotEncoder:
    """Encodes views as YAML items; equal parts are encoded once."""

    def __init__(self) -> None:
        self._encode = msgspec.msgpack.Encoder().encode
        self._known: dict[tuple[str, bytes], str] = {}

    def item(self, kind: str, view: Any) -> Item:
        metadata = view.metadata
        key = f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name
        return (_ORDER.index(kind), key), "".join(self._lines(kind, trimmed(view)))

    def _lines(self, kind: str, view: Any) -> Iterator[str]:
        yield f"- apiVersion: {_API_VERSIONS[kind]}\n  kind: {kind}\n"
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
    if isinstance(view, Workload):
        template = view.spec.template
        if controller_of(view.metadata) is not None or template is None:
            # Its owner is asked instead; old ReplicaSets are many.
            template = None
        else:
            spec = replace(template.spec, volumes=_volumes(template.spec.volumes))
            labels = replace(PodTemplate().metadata, labels=template.metadata.labels)
            template = replace(template, metadata=labels, spec=spec)
        return replace(view, spec=replace(view.spec, template=template))
    return view


def _status(status: PodStatus) -> PodStatus:
    return PodStatus(
        status.phase,
        status.start_time,
        status.nominated_node_name,
        tuple(ConditionSummary(c.type, c.status, c.reason) for c in status.conditions or () if c.type in _CONDITIONS)
        or None,
        _reporting(status.container_statuses),
        _reporting(status.init_container_statuses),
    )


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
