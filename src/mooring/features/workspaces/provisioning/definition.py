"""NodeClaims as a custom resource of the embedded cluster.

On any other cluster the definition comes with the provisioner that fills them, so that `config/crd/` has none.
"""

from __future__ import annotations

from typing import Final

from mooring.api.crds.resource import AGE, CustomResource, PrinterColumn, Version
from mooring.features.workspaces.provisioning.api import GROUP, KIND, PLURAL, NodeClaim

__all__ = ["NODE_CLAIMS"]


def _label(name: str, key: str, priority: int = 0) -> PrinterColumn:
    return PrinterColumn(name, "string", f".metadata.labels.{key.replace('.', chr(92) + '.')}", priority=priority)


def _condition(kind: str, priority: int = 0) -> PrinterColumn:
    return PrinterColumn(kind, "string", f'.status.conditions[?(@.type=="{kind}")].status', priority=priority)


NODE_CLAIMS: Final = CustomResource(
    GROUP,
    KIND,
    PLURAL,
    versions=(
        Version(
            "v1",
            NodeClaim,
            columns=(
                _label("Type", "node.kubernetes.io/instance-type"),
                _label("Capacity", "karpenter.sh/capacity-type"),
                _label("Zone", "topology.kubernetes.io/zone"),
                PrinterColumn("Node", "string", ".status.nodeName"),
                _condition("Ready"),
                AGE,
                PrinterColumn("ImageID", "string", ".status.imageID", priority=1),
                PrinterColumn("ID", "string", ".status.providerID", priority=1),
                _label("NodePool", "karpenter.sh/nodepool", 1),
                PrinterColumn("NodeClass", "string", ".spec.nodeClassRef.name", priority=1),
                _condition("Drifted", 1),
            ),
        ),
    ),
    scope="Cluster",
    categories=("karpenter",),
)
