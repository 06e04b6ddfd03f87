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

from mooring.api.core.types import ConditionSummary, ContainerStatus, Node, ObjectMeta, Pod, PodStatus, Volume
from mooring.api.core.views import PersistentVolumeClaim
from mooring.api.resource.views import DeviceClass, ResourceClaim, ResourceClaimTemplate
from mooring.api.storage.views import PersistentVolume, StorageClass
from mooring.catalog import CATALOG
from mooring.cli.whole_file import whole_file
from mooring.manifests.emit import to_yaml
from mooring.placement.snapshot import CONTENTS, SOMETIMES_ABSENT, VIEWS, SnapshotContents, to_object, wire_fields
from mooring.placement.volumes.storage_cache import STORAGE_VIEWS
from mooring.placement.workloads.owners import PodTemplate, Workload, controller_of

__all__ = ["Item", "SnapshotEncoder", "is_json", "save_snapshot", "saved_kinds", "write"]

# Small and general things first, so that a file is readable from the top; kinds of features come before Pods.
_FIRST: Final = (
    "Namespace",
    "PriorityClass",
    "RuntimeClass",
    "StorageClass",
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
    "ephemeral": ("volumeClaimTemplate",),
    "aws_elastic_block_store": ("volumeID",),
    "gce_persistent_disk": ("pdName", "readOnly"),
    "iscsi": ("iqn", "lun", "readOnly", "targetPortal"),
    "rbd": ("image", "monitors", "pool", "readOnly"),
    "azure_disk": ("diskURI",),
    "cinder": ("volumeID",),
    "portworx_volume": ("volumeID",),
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
    """Encodes views as items of YAML, where equal parts are encoded once, or of JSON."""

    def __init__(self, *, json: bool = False) -> None:
        self._json = json
        self._encode = msgspec.msgpack.Encoder().encode
        self._known: dict[tuple[str, bytes], str] = {}
        self._api_versions = {kind: api_version for api_version, kind in (CONTENTS, *saved_kinds())}
        others = sorted(self._api_versions.keys() - {CONTENTS[1], *_FIRST, "Pod"})
        self._ranks = {kind: rank for rank, kind in enumerate((CONTENTS[1], *_FIRST, *others, "Pod"))}

    def contents(self, unread: Iterable[str]) -> Item:
        """The item that tells of which kinds all objects are there."""
        kinds = sorted(SOMETIMES_ABSENT.difference(unread))
        return self.item(CONTENTS[1], SnapshotContents(ObjectMeta(name="contents"), tuple(kinds)))

    def item(self, kind: str, view: Any) -> Item:
        metadata = view.metadata
        key = f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name
        kept = trimmed(view)
        return (self._ranks[kind], key), self._json_text(kind, kept) if self._json else "".join(self._lines(kind, kept))

    def _json_text(self, kind: str, view: Any) -> str:
        obj = {"apiVersion": self._api_versions[kind], "kind": kind, **to_object(view)}
        return msgspec.json.encode(obj, order="sorted").decode()

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
        # The claim of an ephemeral volume tells by the uid whose it is.
        owns = any(volume.ephemeral is not None for volume in spec.volumes or ()) or spec.resource_claims
        return Pod(view.metadata if owns else replace(view.metadata, uid=""), spec, _status(view.status))
    if isinstance(view, DeviceClass):
        return replace(view, spec=replace(view.spec, config=None))
    if isinstance(view, ResourceClaim):
        return _unconfigured(view)
    if isinstance(view, ResourceClaimTemplate):
        devices = {key: value for key, value in view.spec.spec.get("devices", {}).items() if key != "config"}
        return replace(view, spec=replace(view.spec, spec={"devices": devices}))
    if isinstance(view, Node):
        conditions = _conditions(view.status.conditions, _NODE_CONDITIONS)
        return replace(
            view, metadata=replace(view.metadata, uid=""), status=replace(view.status, conditions=conditions)
        )
    if isinstance(view, STORAGE_VIEWS):
        return _stored(view)
    view = replace(view, metadata=replace(view.metadata, uid=""))
    if isinstance(view, Workload) and controller_of(view.metadata) is not None and view.spec.replicas == 0:
        # Its owner is asked instead; old ReplicaSets are many.
        return replace(view, spec=replace(view.spec, template=None))
    return _with_trimmed_templates(view)


def _stored(view: Any) -> Any:
    """An object of storage with the metadata that placement reads, and of a disk only what names it."""
    replace, metadata = msgspec.structs.replace, view.metadata
    claim = isinstance(view, PersistentVolumeClaim)
    kept = replace(
        metadata,
        uid=metadata.uid if claim else "",
        labels=metadata.labels if isinstance(view, PersistentVolume) else {},
        owner_references=tuple(o for o in metadata.owner_references if o.controller) if claim else (),
        creation_timestamp=metadata.creation_timestamp if isinstance(view, StorageClass) else None,
        generation=0,
        finalizers=(),
        deletion_grace_period_seconds=None,
    )
    if isinstance(view, PersistentVolume):
        kept = replace(kept, annotations=replace(kept.annotations, provisioner=""))
        return replace(view, metadata=kept, spec=replace(view.spec, **_sources(view.spec)))
    return replace(view, metadata=kept)


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
        status.resource_claim_statuses,
    )


def _conditions(
    conditions: tuple[ConditionSummary, ...] | None, kept: tuple[str, ...]
) -> tuple[ConditionSummary, ...] | None:
    return tuple(ConditionSummary(c.type, c.status, c.reason) for c in conditions or () if c.type in kept) or None


def _reporting(statuses: tuple[ContainerStatus, ...] | None) -> tuple[ContainerStatus, ...] | None:
    """Statuses count when a node reports resources in one of them."""
    return statuses if any(s.resources or s.allocated_resources for s in statuses or ()) else None


def _unconfigured(claim: ResourceClaim) -> ResourceClaim:
    """A claim without what drivers are told, which may hold anything."""
    replace = msgspec.structs.replace
    spec = replace(claim.spec, devices=replace(claim.spec.devices, config=None))
    metadata, allocation = replace(claim.metadata, annotations={}), claim.status.allocation
    if allocation is not None:
        allocation = replace(allocation, devices=replace(allocation.devices, config=None))
    return replace(claim, metadata=metadata, spec=spec, status=replace(claim.status, allocation=allocation))


def _volumes(volumes: tuple[Volume, ...] | None) -> tuple[Volume, ...] | None:
    return tuple(Volume(name=v.name, **sources) for v in volumes or () if (sources := _sources(v))) or None


def _sources(view: Any) -> dict[str, Any]:
    found = {
        field: {key: source[key] for key in names if key in source}
        for field, names in _NAMED_BY.items()
        if (source := getattr(view, field, None)) is not None
    }
    if (template := found.get("ephemeral", {}).get("volumeClaimTemplate")) is not None:
        # Its metadata may hold anything.
        found["ephemeral"] = {"volumeClaimTemplate": {"spec": template.get("spec")}}
    return found


def is_json(file: Path) -> bool:
    """Whether a snapshot of this name is JSON; all others are YAML."""
    return file.name.lower().removesuffix(".gz").endswith(".json")


def save_snapshot(file: Path, items: Iterable[Item], comment: str = "") -> None:
    """Write a snapshot; one whose name ends in .gz is packed. The items are of the form that the name asks for."""
    with whole_file(file) as raw:
        if file.name.endswith(".gz"):
            # Without a time in it, the same cluster gives the same bytes.
            with gzip.GzipFile("", "wb", _GZIP_LEVEL, raw, mtime=0) as packed:
                _write(packed, items, comment, json=is_json(file))
        else:
            _write(raw, items, comment, json=is_json(file))


def write(stream: IO[bytes], items: Iterable[Item]) -> None:
    """Write a snapshot to a stream, as YAML."""
    _write(stream, items, "", json=False)


def _write(stream: IO[bytes] | gzip.GzipFile, items: Iterable[Item], comment: str, *, json: bool) -> None:
    texts = [text for _, text in sorted(items)]
    if json:
        stream.write(b'{"apiVersion":"v1","items":[\n')
        stream.write(",\n".join(texts).encode())
        stream.write(b'\n],"kind":"List"}\n')
        return
    # kubectl's own first lines come first: they are how large files are known to be readable in pieces.
    stream.write(b"apiVersion: v1\nitems:\n" if texts else b"apiVersion: v1\nitems: []\n")
    for text in texts:
        stream.write(text.encode())
    stream.write(b"kind: List\n")
    for line in comment.splitlines():
        stream.write(f"# {line}".rstrip().encode() + b"\n")
