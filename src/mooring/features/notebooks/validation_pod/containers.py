"""The containers of a validation pod: those that clone, with credentials of their own, and the one that runs."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from mooring.features.notebooks.api.jobs import NotebookSource, ValidationSpec
from mooring.features.notebooks.plain import plain
from mooring.features.notebooks.run_time import run_time
from mooring.features.notebooks.validation_pod.env import env_from, literals, validator_env
from mooring.features.notebooks.validation_pod.names import (
    CREDENTIALS_PATH,
    HOME_PATH,
    HOME_VOLUME,
    RUNNER_PATH,
    RUNNER_VOLUME,
    VALIDATOR,
    WORKSPACE_PATH,
    WORKSPACE_VOLUME,
    credentials_volume,
)
from mooring.kube.objects import Object

__all__ = ["clone_container", "validator_container"]

# A repository that is larger is no place for notebooks; it would fill the disk of the node.
MAX_CLONE_BYTES: Final = 1 << 30
MAX_CLONE_TIME: Final = timedelta(minutes=10)

_CONFINED: Final = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
_WORKSPACE: Final = {"name": WORKSPACE_VOLUME, "mountPath": WORKSPACE_PATH}
_RUNNER: Final = {"name": RUNNER_VOLUME, "mountPath": RUNNER_PATH, "readOnly": True}


def clone_container(name: str, source: NotebookSource, destination: str, spec: ValidationSpec, image: str) -> Object:
    """Credentials are files of this container alone: they stand in no command, no variable and no other container."""
    limit = min(run_time(spec), MAX_CLONE_TIME)
    variables = {
        "GIT_URL": source.git.url,
        "GIT_REF": source.git.ref,
        "GIT_NOTEBOOK_PATH": source.path,
        "GIT_DESTINATION": destination,
        "GIT_MAX_BYTES": str(MAX_CLONE_BYTES),
        "GIT_TIMEOUT_SECONDS": str(max(1, round(limit.total_seconds()))),
        "HOME": "/tmp",
    }
    mounts = [_WORKSPACE, _RUNNER]
    if source.git.credentials_secret:
        mounts.append({"name": credentials_volume(name), "mountPath": CREDENTIALS_PATH, "readOnly": True})
    return {
        "name": name,
        "image": image,
        "command": ["/bin/sh", f"{RUNNER_PATH}/clone.sh"],
        "env": literals(variables),
        "volumeMounts": mounts,
        "securityContext": dict(_CONFINED),
    }


def validator_container(spec: ValidationSpec, namespace: str) -> Object:
    config = spec.pod_config
    container: Object = {
        "name": VALIDATOR,
        "image": config.container_image,
        "command": ["python3", f"{RUNNER_PATH}/runner.pyz", f"{RUNNER_PATH}/settings.json"],
        "env": validator_env(spec, namespace),
        "volumeMounts": [
            _WORKSPACE,
            {"name": HOME_VOLUME, "mountPath": HOME_PATH},
            _RUNNER,
            *(plain(each) for each in config.volume_mounts),
        ],
        "securityContext": {"runAsNonRoot": True, **_CONFINED},
    }
    if sources := env_from(config):
        container["envFrom"] = sources
    if config.resources is not None and (resources := plain(config.resources)):
        container["resources"] = resources
    return container
