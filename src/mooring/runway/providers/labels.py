"""Labels and annotations of what runway makes: by them a deployment is found again, with what it was made of."""

from __future__ import annotations

from typing import Final

from mooring.kube.objects import Object
from mooring.runway.deployments.config import DeploymentConfig

__all__ = ["COMPUTE_TYPE", "INSTANCE", "MANAGED_BY", "MANAGER", "MODEL", "MODEL_SOURCE", "PROVIDER", "metadata"]

_PREFIX: Final = "runway.mooring.dev/"
INSTANCE: Final = "app.kubernetes.io/instance"
MANAGED_BY: Final = "app.kubernetes.io/managed-by"
MANAGER: Final = "mooring"
PROVIDER: Final = f"{_PREFIX}provider"
COMPUTE_TYPE: Final = f"{_PREFIX}compute-type"
MODEL_SOURCE: Final = f"{_PREFIX}model-source"
RUN_MODE: Final = f"{_PREFIX}run-mode"
# An annotation: ids of models have slashes.
MODEL: Final = f"{_PREFIX}model"


def metadata(config: DeploymentConfig, name: str = "") -> Object:
    """The metadata of an object of a deployment."""
    labels = {
        INSTANCE: config.name,
        MANAGED_BY: MANAGER,
        PROVIDER: config.provider,
        COMPUTE_TYPE: "gpu" if config.needs_gpu else "cpu",
        MODEL_SOURCE: config.model_source,
    }
    if config.model_source == "huggingface":
        labels[RUN_MODE] = config.gguf_run_mode
    return {
        "name": name or config.name,
        "namespace": config.namespace,
        "labels": labels,
        "annotations": {MODEL: config.model},
    }
