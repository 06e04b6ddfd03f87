"""What placement, the scheduler and the claim controller read of devices and of the claims to them.

Fields whose gate is off in 1.35 are not here, because the API server drops them: taints and tolerations of devices,
counters, selection of nodes device by device, conditions of binding, capacity that is shared.
"""

from __future__ import annotations

from typing import Any

import msgspec

from mooring.api.core.types import Labels, NodeSelector, View
from mooring.api.meta import AnnotatedMeta, Meta

EXACT_COUNT = "ExactCount"
ALL = "All"

# A claim is allocated no more devices than this, and a list of alternatives is no longer than that.
MAX_RESULTS = 32
MAX_ALTERNATIVES = 8

# A claim is used by no more pods than this.
MAX_RESERVED_FOR = 256

# Keeps a claim that has devices from going before they are taken back.
DELETE_PROTECTION = "resource.kubernetes.io/delete-protection"
# The reference of a pod's spec that a claim was made for; the name of such a claim says nothing.
POD_CLAIM_NAME = "resource.kubernetes.io/pod-claim-name"


class CELDeviceSelector(View, frozen=True):
    expression: str = ""


class DeviceSelector(View, frozen=True):
    cel: CELDeviceSelector | None = None


class OpaqueDeviceConfiguration(View, frozen=True):
    driver: str = ""
    parameters: Any = None


class DeviceClassConfiguration(View, frozen=True):
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClassSpec(View, frozen=True):
    selectors: tuple[DeviceSelector, ...] | None = None
    config: tuple[DeviceClassConfiguration, ...] | None = None


class DeviceClass(View, frozen=True):
    metadata: Meta = Meta()
    spec: DeviceClassSpec = DeviceClassSpec()


class ExactDeviceRequest(View, frozen=True):
    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] | None = None
    allocation_mode: str = EXACT_COUNT
    count: int = 1
    admin_access: bool | None = None


class DeviceSubRequest(View, frozen=True):
    """One of the alternatives of a request; the first one that can be had is taken."""

    name: str = ""
    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] | None = None
    allocation_mode: str = EXACT_COUNT
    count: int = 1


class DeviceRequest(View, frozen=True):
    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] | None = None


class DeviceConstraint(View, frozen=True):
    requests: tuple[str, ...] | None = None
    match_attribute: str | None = None


class DeviceClaimConfiguration(View, frozen=True):
    requests: tuple[str, ...] | None = None
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClaim(View, frozen=True):
    requests: tuple[DeviceRequest, ...] | None = None
    constraints: tuple[DeviceConstraint, ...] | None = None
    config: tuple[DeviceClaimConfiguration, ...] | None = None


class ResourceClaimSpec(View, frozen=True):
    devices: DeviceClaim = DeviceClaim()


class DeviceRequestAllocationResult(View, frozen=True):
    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None


class DeviceAllocationConfiguration(View, frozen=True):
    source: str = ""
    requests: tuple[str, ...] | None = None
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceAllocationResult(View, frozen=True):
    results: tuple[DeviceRequestAllocationResult, ...] | None = None
    config: tuple[DeviceAllocationConfiguration, ...] | None = None


class AllocationResult(View, frozen=True):
    devices: DeviceAllocationResult = DeviceAllocationResult()
    node_selector: NodeSelector | None = None


class ResourceClaimConsumerReference(View, frozen=True):
    resource: str = ""
    name: str = ""
    uid: str = ""
    api_group: str = ""


class ResourceClaimStatus(View, frozen=True):
    allocation: AllocationResult | None = None
    reserved_for: tuple[ResourceClaimConsumerReference, ...] | None = None


class ResourceClaim(View, frozen=True):
    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()

    @property
    def key(self) -> str:
        return f"{self.metadata.namespace}/{self.metadata.name}"

    def is_reserved_for(self, name: str, uid: str) -> bool:
        """Whether a pod may use the claim already. Pods that do not exist yet have no uid, but names."""
        return any((consumer.name, consumer.uid) == (name, uid) for consumer in self.status.reserved_for or ())


class ClaimTemplateMeta(View, frozen=True):
    """The labels and annotations that a claim gets from its template."""

    labels: Labels = msgspec.field(default_factory=dict)
    annotations: Labels = msgspec.field(default_factory=dict)


class ResourceClaimTemplateSpec(View, frozen=True):
    metadata: ClaimTemplateMeta = ClaimTemplateMeta()
    # As written: a claim gets all of it, fields of later versions too.
    spec: dict[str, Any] = msgspec.field(default_factory=dict)


class ResourceClaimTemplate(View, frozen=True):
    metadata: Meta = Meta()
    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()


class DeviceAttribute(View, frozen=True):
    """One value, of the type whose field is set."""

    int_value: int | None = msgspec.field(default=None, name="int")
    bool_value: bool | None = msgspec.field(default=None, name="bool")
    string_value: str | None = msgspec.field(default=None, name="string")
    version_value: str | None = msgspec.field(default=None, name="version")


class DeviceCapacity(View, frozen=True):
    value: str | int | float = "0"


class Device(View, frozen=True):
    name: str = ""
    attributes: dict[str, DeviceAttribute] = msgspec.field(default_factory=dict)
    capacity: dict[str, DeviceCapacity] = msgspec.field(default_factory=dict)


class ResourcePool(View, frozen=True):
    name: str = ""
    generation: int = 0
    resource_slice_count: int = 0


class ResourceSliceSpec(View, frozen=True):
    driver: str = ""
    pool: ResourcePool = ResourcePool()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    devices: tuple[Device, ...] | None = None


class ResourceSlice(View, frozen=True):
    metadata: Meta = Meta()
    spec: ResourceSliceSpec = ResourceSliceSpec()
