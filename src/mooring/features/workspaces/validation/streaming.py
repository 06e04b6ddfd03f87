"""Model streaming: pods that read weights from a blob store while they start. Upstream's gate for it is off here.

The rules of its annotation are kept, so that an object means the same under both operators.
"""

from __future__ import annotations

from typing import Final

from mooring.features.workspaces.api import MODEL_STREAMING, Workspace
from mooring.features.workspaces.settings import Settings
from mooring.features.workspaces.validation.facts import ClusterFacts
from mooring.kube.errors import FieldError, plainly

__all__ = ["check_streaming"]

_BLOB_DRIVER: Final = "blob.csi.azure.com"


def check_streaming(
    errors: list[FieldError], workspace: Workspace, old: Workspace | None, settings: Settings, facts: ClusterFacts
) -> None:
    """On an update the annotation stays; for a new preset what it needs must be there."""
    if not settings.model_streaming:
        return
    wanted = workspace.metadata.annotations.get(MODEL_STREAMING)
    if old is not None:
        if wanted != old.metadata.annotations.get(MODEL_STREAMING):
            text = f"annotation {MODEL_STREAMING} is immutable after creation"
            errors.append(plainly(f"metadata.annotations[{MODEL_STREAMING}]", text))
        return
    if workspace.inference is None or workspace.inference.preset is None or wanted == "disabled":
        return
    if settings.cloud_provider != "azure":
        text = f'unsupported cloud provider "{settings.cloud_provider}" for model streaming'
        errors.append(plainly("metadata.annotations", text))
    elif not facts.has_csi_driver(_BLOB_DRIVER):
        text = f"CSI driver {_BLOB_DRIVER} not found; model streaming needs it"
        errors.append(plainly("metadata.annotations", text))
