"""Volumes of a job and where they are mounted: each has one source, and none takes the place of the pod's own."""

from __future__ import annotations

import posixpath
from typing import Final

from mooring.features.notebooks.api.pod_config import JobVolume, PodConfig
from mooring.features.notebooks.validation_pod.names import (
    GOLDEN_PATH,
    REPOSITORY_PATH,
    RESERVED_PATHS,
    RESERVED_VOLUMES,
    RUNNER_PATH,
)
from mooring.kube.errors import FieldError, duplicate, invalid, not_found, required

__all__ = ["check_volumes"]

Errors = list[FieldError]

_SOURCES: Final = ("persistentVolumeClaim", "configMap", "secret", "emptyDir")
_RESERVED: Final = frozenset({*RESERVED_PATHS, REPOSITORY_PATH, GOLDEN_PATH})


def check_volumes(errors: Errors, config: PodConfig, path: str) -> None:
    names: set[str] = set()
    for index, volume in enumerate(config.volumes):
        _check_volume(errors, volume, names, f"{path}.volumes[{index}]")
        names.add(volume.name)
    seen: set[str] = set()
    for index, mount in enumerate(config.volume_mounts):
        here = f"{path}.volumeMounts[{index}]"
        if mount.name not in names:
            errors.append(not_found(f"{here}.name", mount.name))
        place = _place(mount.mount_path)
        if place in _RESERVED or place.startswith(f"{RUNNER_PATH}/"):
            detail = "the pod has a volume of its own there; mount at or below another directory"
            errors.append(invalid(f"{here}.mountPath", mount.mount_path, detail))
        elif place in seen:
            errors.append(duplicate(f"{here}.mountPath", mount.mount_path))
        seen.add(place)


def _check_volume(errors: Errors, volume: JobVolume, names: set[str], path: str) -> None:
    if volume.name in RESERVED_VOLUMES:
        detail = f"is reserved, as are {', '.join(each for each in RESERVED_VOLUMES if each != volume.name)}"
        errors.append(invalid(f"{path}.name", volume.name, detail))
    elif volume.name in names:
        errors.append(duplicate(f"{path}.name", volume.name))
    sources = (volume.persistent_volume_claim, volume.config_map, volume.secret, volume.empty_dir)
    given = [name for name, source in zip(_SOURCES, sources, strict=True) if source is not None]
    if not given:
        errors.append(required(path, f"one of {', '.join(_SOURCES)}"))
    elif len(given) > 1:
        errors.append(invalid(path, volume.name, f"may have one source, not {' and '.join(given)}"))


def _place(path: str) -> str:
    """A directory in its one spelling: /workspace/ and //workspace are /workspace."""
    return posixpath.normpath(f"/{path.lstrip('/')}")
