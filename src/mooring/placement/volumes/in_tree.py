"""Disks of cloud providers that Kubernetes once attached itself and that CSI drivers have taken over.

The scheduler reads such a volume as the driver's own: it counts against the driver's limit, and the zone in its node
affinity becomes the driver's topology label, on nodes that say so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from mooring.api.core.types import Labels, NodeSelector, NodeSelectorTerm, Requirement
from mooring.api.storage.views import CSINode

ZONE: Final = "topology.kubernetes.io/zone"
REGION: Final = "topology.kubernetes.io/region"
BETA_ZONE: Final = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION: Final = "failure-domain.beta.kubernetes.io/region"
ZONE_SEPARATOR: Final = "__"

_PORTWORX: Final = "kubernetes.io/portworx-volume"


class Takeover(NamedTuple):
    """A plugin of old, the driver that does its work now, and the driver's label for a zone."""

    plugin: str
    driver: str
    topology_key: str
    # The driver's name of a volume, from its source.
    handle: Callable[[Mapping[str, Any]], str]


def _ebs_handle(source: Mapping[str, Any]) -> str:
    name = str(source.get("volumeID") or "")
    return name.rsplit("/", 1)[-1] if name.startswith("aws://") else name


def _gce_handle(source: Mapping[str, Any]) -> str:
    return f"projects/UNSPECIFIED/zones/UNSPECIFIED/disks/{source.get('pdName') or ''}"


TAKEOVERS: Final[Mapping[str, Takeover]] = {
    "aws_elastic_block_store": Takeover(
        "kubernetes.io/aws-ebs", "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone", _ebs_handle
    ),
    "gce_persistent_disk": Takeover(
        "kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "topology.gke.io/zone", _gce_handle
    ),
    "azure_disk": Takeover(
        "kubernetes.io/azure-disk",
        "disk.csi.azure.com",
        "topology.disk.csi.azure.com/zone",
        lambda source: str(source.get("diskURI") or ""),
    ),
    "cinder": Takeover(
        "kubernetes.io/cinder",
        "cinder.csi.openstack.org",
        "topology.cinder.csi.openstack.org/zone",
        lambda source: str(source.get("volumeID") or ""),
    ),
    "portworx_volume": Takeover(_PORTWORX, "pxd.portworx.com", "", lambda source: str(source.get("volumeID") or "")),
}
"""By the field that holds the source, in pods and volumes alike."""

BY_PLUGIN: Final = {takeover.plugin: takeover for takeover in TAKEOVERS.values()}
# Known to have drivers, but no node counts their volumes.
UNCOUNTED: Final = frozenset({"kubernetes.io/azure-file", "kubernetes.io/vsphere-volume"})


def source_of(view: Any) -> tuple[Takeover, Mapping[str, Any]] | None:
    """The old source in a volume of a pod or in the spec of a PersistentVolume."""
    for field, takeover in TAKEOVERS.items():
        source = getattr(view, field)
        if source is not None:
            return takeover, source
    return None


def listed(node: CSINode | None, plugin: str) -> bool:
    """Whether a node says that a plugin's volumes are the driver's there."""
    return node is not None and plugin in node.metadata.annotations.migrated_plugins.split(",")


def counts(node: CSINode | None, plugin: str) -> bool:
    """Whether a plugin's volumes count against the driver's limit on a node: all but one need no word of the node."""
    return listed(node, plugin) if plugin == _PORTWORX else node is not None and plugin in BY_PLUGIN


def translated_affinity(required: NodeSelector | None, labels: Labels, topology_key: str) -> NodeSelector | None:
    """A volume's node affinity with the driver's label for zones in place of the common one."""
    terms = (required.node_selector_terms if required else None) or ()
    keys = {r.key for term in terms for r in term.match_expressions or ()}
    beta = ZONE not in keys and (BETA_ZONE in keys or (ZONE not in labels and BETA_ZONE in labels))
    zone = BETA_ZONE if beta else ZONE
    renamed = {zone: topology_key, **({BETA_REGION: REGION} if beta else {})}
    if any(r.values for term in terms for r in term.match_expressions or () if r.key == zone):
        added: tuple[Requirement, ...] = ()
    else:
        del renamed[zone]
        zones = sorted({z.strip() for z in labels.get(zone, "").split(ZONE_SEPARATOR)} - {""})
        if not zones:
            return required
        added = (Requirement(topology_key, "In", tuple(zones)),)
        terms = terms or (NodeSelectorTerm(),)
    replace = msgspec.structs.replace
    return NodeSelector(
        tuple(
            replace(
                term,
                match_expressions=(
                    *(replace(r, key=renamed.get(r.key, r.key)) for r in term.match_expressions or ()),
                    *added,
                ),
            )
            for term in terms
        )
    )
