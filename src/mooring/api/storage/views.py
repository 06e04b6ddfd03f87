"""Volumes, their classes and what drivers tell of themselves, as placement and the scheduler read them."""

from __future__ import annotations

from typing import Any

import msgspec

from mooring.api.core.types import LabelSelector, NodeSelector, ResourceList, View
from mooring.api.meta import Meta


class VolumeNotes(View, frozen=True):
    """The annotations of a volume that decide which claims it suits, and what becomes of it."""

    storage_class: str | None = msgspec.field(default=None, name="volume.beta.kubernetes.io/storage-class")
    # Who made the volume, and takes it away with its claim.
    provisioner: str = msgspec.field(default="", name="pv.kubernetes.io/provisioned-by")
    # Set where the binder chose the claim, and not whoever made the volume.
    bound_by_controller: str | None = msgspec.field(default=None, name="pv.kubernetes.io/bound-by-controller")


class VolumeMeta(Meta, frozen=True):
    annotations: VolumeNotes = VolumeNotes()


class ClaimReference(View, frozen=True):
    namespace: str = ""
    name: str = ""
    uid: str = ""


class VolumeNodeAffinity(View, frozen=True):
    required: NodeSelector | None = None


class CSISource(View, frozen=True):
    driver: str = ""
    volume_handle: str = ""


class HostPathSource(View, frozen=True):
    path: str = ""


class PersistentVolumeSpec(View, frozen=True):
    capacity: ResourceList = msgspec.field(default_factory=dict)
    access_modes: tuple[str, ...] = ()
    claim_ref: ClaimReference | None = None
    storage_class_name: str = ""
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None
    # The API server fills it in; Retain is what it fills in.
    persistent_volume_reclaim_policy: str = "Retain"
    node_affinity: VolumeNodeAffinity | None = None
    host_path: HostPathSource | None = None
    csi: CSISource | None = None
    # Sources of old that a driver has taken over.
    aws_elastic_block_store: dict[str, Any] | None = None
    gce_persistent_disk: dict[str, Any] | None = None
    azure_disk: dict[str, Any] | None = None
    cinder: dict[str, Any] | None = None
    portworx_volume: dict[str, Any] | None = None


class VolumeStatus(View, frozen=True):
    phase: str = ""


class PersistentVolume(View, frozen=True):
    metadata: VolumeMeta = VolumeMeta()
    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: VolumeStatus = VolumeStatus()

    @property
    def class_name(self) -> str:
        noted = self.metadata.annotations.storage_class
        return self.spec.storage_class_name if noted is None else noted


class TopologyRequirement(View, frozen=True):
    key: str = ""
    values: tuple[str, ...] = ()


class TopologyTerm(View, frozen=True):
    match_label_expressions: tuple[TopologyRequirement, ...] = ()


class ClassNotes(View, frozen=True):
    """Whether a class is the default one."""

    default: str = msgspec.field(default="", name="storageclass.kubernetes.io/is-default-class")
    beta_default: str = msgspec.field(default="", name="storageclass.beta.kubernetes.io/is-default-class")


class ClassMeta(Meta, frozen=True):
    annotations: ClassNotes = ClassNotes()


class StorageClass(View, frozen=True):
    metadata: ClassMeta = ClassMeta()
    provisioner: str = ""
    # The API server fills it in; Immediate is what it fills in.
    volume_binding_mode: str = "Immediate"
    reclaim_policy: str = "Delete"
    mount_options: tuple[str, ...] = ()
    allowed_topologies: tuple[TopologyTerm, ...] = ()

    @property
    def delays(self) -> bool:
        """Whether its claims wait for a pod before they are bound."""
        return self.volume_binding_mode == "WaitForFirstConsumer"

    @property
    def is_default(self) -> bool:
        notes = self.metadata.annotations
        return "true" in (notes.default, notes.beta_default)


class DriverAllocatable(View, frozen=True):
    count: int | None = None


class NodeDriver(View, frozen=True):
    name: str = ""
    allocatable: DriverAllocatable | None = None


class CSINodeNotes(View, frozen=True):
    migrated_plugins: str = msgspec.field(default="", name="storage.alpha.kubernetes.io/migrated-plugins")


class CSINodeMeta(Meta, frozen=True):
    annotations: CSINodeNotes = CSINodeNotes()


class CSINodeSpec(View, frozen=True):
    drivers: tuple[NodeDriver, ...] = ()


class CSINode(View, frozen=True):
    metadata: CSINodeMeta = CSINodeMeta()
    spec: CSINodeSpec = CSINodeSpec()


class CSIDriverSpec(View, frozen=True):
    storage_capacity: bool = False


class CSIDriver(View, frozen=True):
    metadata: Meta = Meta()
    spec: CSIDriverSpec = CSIDriverSpec()


class CSIStorageCapacity(View, frozen=True):
    metadata: Meta = Meta()
    storage_class_name: str = ""
    node_topology: LabelSelector | None = None
    capacity: str | int | float | None = None
    maximum_volume_size: str | int | float | None = None


class AttachmentSource(View, frozen=True):
    persistent_volume_name: str | None = None


class VolumeAttachmentSpec(View, frozen=True):
    attacher: str = ""
    node_name: str = ""
    source: AttachmentSource = AttachmentSource()


class VolumeAttachment(View, frozen=True):
    metadata: Meta = Meta()
    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
