"""Views without what a snapshot must not or need not hold: no annotation, no environment, no secret, no status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from mooring.api.core.types import ConditionSummary, Container, ContainerStatus, Node, Pod, PodStatus, Volume
from mooring.api.core.views import PersistentVolumeClaim
from mooring.api.resource.views import DeviceClass, ResourceClaim, ResourceClaimTemplate
from mooring.api.storage.views import PersistentVolume, StorageClass
from mooring.placement.plugins.resources import has_what_it_asks_for
from mooring.placement.volumes.storage_cache import STORAGE_VIEWS
from mooring.placement.workloads.owners import PodTemplate, Workload, controller_of

__all__ = ["trimmed"]

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


def trimmed(view: Any) -> Any:
    """The view without fields that may hold a secret, and without fields that placement does not read."""
    replace = msgspec.structs.replace
    if isinstance(view, Pod):
        spec = replace(view.spec, volumes=_volumes(view.spec.volumes))
        # The claim of an ephemeral volume tells by the uid whose it is.
        owns = any(volume.ephemeral is not None for volume in spec.volumes or ()) or spec.resource_claims
        return Pod(view.metadata if owns else replace(view.metadata, uid=""), spec, _status(view))
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


def _status(pod: Pod) -> PodStatus:
    spec, status = pod.spec, pod.status
    return PodStatus(
        status.phase,
        status.start_time,
        status.nominated_node_name,
        _conditions(status.conditions, _POD_CONDITIONS),
        _reporting(spec.containers, status.container_statuses),
        _reporting(spec.init_containers, status.init_container_statuses),
        status.resource_claim_statuses,
    )


def _conditions(
    conditions: tuple[ConditionSummary, ...] | None, kept: tuple[str, ...]
) -> tuple[ConditionSummary, ...] | None:
    return tuple(ConditionSummary(c.type, c.status, c.reason) for c in conditions or () if c.type in kept) or None


def _reporting(
    containers: tuple[Container, ...] | None, statuses: tuple[ContainerStatus, ...] | None
) -> tuple[ContainerStatus, ...] | None:
    """Statuses count when one of them reports other resources than its container asks for."""
    asked = {each.name: each.resources for each in containers or ()}
    reported = [each for each in statuses or () if each.resources is not None]
    return statuses if any(not has_what_it_asks_for(asked.get(each.name), each) for each in reported) else None


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
