"""How nodes come to Workspaces: brought by people, or provisioned; set once for a whole process."""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["CloudProvider", "NodeProvisioner", "Settings"]

NodeProvisioner = Literal["byo", "karpenter", "azure-gpu-provisioner"]
CloudProvider = Literal["azure", "aws", "arc"]


class Settings(NamedTuple):
    """`cloud_provider` says whose instance types are known by name.

    `not_ready_pending`: a Workspace whose nodes are there but not ready waits for them instead of being refused.
    """

    node_provisioner: NodeProvisioner = "byo"
    cloud_provider: CloudProvider = "azure"
    not_ready_pending: bool = False
    node_image_family: str = "ubuntu"
    node_classes: tuple[str, ...] = ("image-family-azurelinux", "image-family-ubuntu")
    model_streaming: bool = False

    @property
    def provisions(self) -> bool:
        """Whether missing nodes are asked for."""
        return self.node_provisioner != "byo"
