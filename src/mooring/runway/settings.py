"""Settings of runway: which KAITO and GPU Operator, and from where. An older one is a setting, no release of ours."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import msgspec

from mooring.kube.errors import InputError

__all__ = ["DEFAULT_SETTINGS", "RunwaySettings", "runway_settings"]

_VERSION: Final = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-[0-9A-Za-z.-]+)?").fullmatch
# NVIDIA writes its versions with a v.
_GPU_OPERATOR_VERSION: Final = re.compile(r"v?\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?").fullmatch
_REPOSITORY: Final = re.compile(r"(?:https?|oci)://[^\s'\"]+").fullmatch


class RunwaySettings(msgspec.Struct, frozen=True, rename="camel"):
    """Repositories are URLs of Helm repositories."""

    kaito_version: str = "0.8.0"
    kaito_repository: str = "https://kaito-project.github.io/kaito/charts/kaito"
    gpu_operator_version: str = "v25.10.1"
    gpu_operator_repository: str = "https://helm.ngc.nvidia.com/nvidia"

    @property
    def is_old_kaito(self) -> bool:
        """Whether it is one before 0.8, which has no gate against auto-provisioning and asks for Linux nodes only."""
        found = _VERSION(self.kaito_version)
        assert found is not None, "settings are checked where they are read"
        return (int(found[1]), int(found[2])) < (0, 8)


DEFAULT_SETTINGS: Final = RunwaySettings()


def runway_settings(
    kaito_version: str | None = None,
    kaito_repository: str | None = None,
    gpu_operator_version: str | None = None,
    gpu_operator_repository: str | None = None,
) -> RunwaySettings:
    """Settings as a person wrote them; what is not given has its default. Raises InputError with the flag."""
    usual = DEFAULT_SETTINGS
    return RunwaySettings(
        _version(kaito_version or usual.kaito_version, _VERSION, usual.kaito_version, "--kaito-version"),
        _repository(kaito_repository or usual.kaito_repository, "--kaito-repository"),
        _version(
            gpu_operator_version or usual.gpu_operator_version,
            _GPU_OPERATOR_VERSION,
            usual.gpu_operator_version,
            "--gpu-operator-version",
        ),
        _repository(gpu_operator_repository or usual.gpu_operator_repository, "--gpu-operator-repository"),
    )


def _version(text: str, form: Callable[[str], re.Match[str] | None], example: str, flag: str) -> str:
    if form(text) is None:
        raise InputError(f'"{text}" is no version of a chart; write it as {example}', flag)
    return text


def _repository(url: str, flag: str) -> str:
    if _REPOSITORY(url) is None:
        raise InputError(f'"{url}" is no URL of a Helm repository, such as https://...', flag)
    return url.rstrip("/")
