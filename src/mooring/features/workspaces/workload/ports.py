"""The ports of a pod that serves a model."""

from __future__ import annotations

from typing import Final

from mooring.features.workspaces.api import INFERENCE_ROLE, RUNTIME, TRANSFORMERS, Workspace

__all__ = ["CACHE_EVENTS_PORT", "DECODE_PORT", "LEADER_PORT", "SERVING_PORT", "serving_port"]

SERVING_PORT: Final = 5000
# Where the server listens behind a sidecar that has the port of all others.
DECODE_PORT: Final = 5001
CACHE_EVENTS_PORT: Final = 5557
LEADER_PORT: Final = 6379


def serving_port(workspace: Workspace) -> int:
    """The port of the model's own server."""
    decodes = workspace.metadata.labels.get(INFERENCE_ROLE) == "decode"
    return DECODE_PORT if decodes and workspace.metadata.annotations.get(RUNTIME) != TRANSFORMERS else SERVING_PORT
