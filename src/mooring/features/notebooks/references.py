"""The Secrets and ConfigMaps that a job names, and which are missing. Whether they exist is all that is read."""

from __future__ import annotations

from collections.abc import Iterator

from mooring.features.notebooks.api.jobs import ValidationSpec
from mooring.features.notebooks.kinds import CONFIG_MAP_META, SECRET_META
from mooring.runtime.view import View

__all__ = ["missing_references"]


def missing_references(view: View, namespace: str, spec: ValidationSpec) -> tuple[str, ...]:
    """What must exist before the pod can start, as `Secret NAME`; what is optional is not among it."""
    missing = [f"Secret {name}" for name in sorted(set(_secrets(spec))) if not _exists(view, "Secret", namespace, name)]
    wanted = sorted(set(_config_maps(spec)))
    return (*missing, *(f"ConfigMap {name}" for name in wanted if not _exists(view, "ConfigMap", namespace, name)))


def _exists(view: View, kind: str, namespace: str, name: str) -> bool:
    return view.get(SECRET_META if kind == "Secret" else CONFIG_MAP_META, namespace, name) is not None


def _secrets(spec: ValidationSpec) -> Iterator[str]:
    config = spec.pod_config
    for source in (spec.notebook, spec.golden_notebook):
        if source is not None and source.git.credentials_secret:
            yield source.git.credentials_secret
    for variable in config.env:
        if variable.value_from is not None and variable.value_from.secret_key_ref is not None:
            yield variable.value_from.secret_key_ref.name
    yield from (each.secret_ref.name for each in config.env_from if each.secret_ref is not None)
    yield from config.credentials
    yield from (each.secret.secret_name for each in config.volumes if each.secret and not each.secret.optional)


def _config_maps(spec: ValidationSpec) -> Iterator[str]:
    config = spec.pod_config
    for variable in config.env:
        if variable.value_from is not None and variable.value_from.config_map_key_ref is not None:
            yield variable.value_from.config_map_key_ref.name
    yield from (each.config_map_ref.name for each in config.env_from if each.config_map_ref is not None)
    yield from (each.config_map.name for each in config.volumes if each.config_map and not each.config_map.optional)
