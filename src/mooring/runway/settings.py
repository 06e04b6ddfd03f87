"""Settings of runway: which KAITO, and from where. A rollback to an older one is a setting, not a release of ours."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from mooring.kube.errors import InputError

__all__ = ["DEFAULT_SETTINGS", "RunwaySettings", "runway_settings"]

_VERSION: Final = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-[0-9A-Za-z.-]+)?").fullmatch
_REPOSITORY: Final = re.compile(r"(?:https?|file|oci)://[^\s'\"]+").fullmatch


class RunwaySettings(msgspec.Struct, frozen=True, rename="camel"):
    """`kaito_repository` is the URL of the Helm repository with KAITO's charts."""

    kaito_version: str = "0.8.0"
    kaito_repository: str = "https://kaito-project.github.io/kaito/charts/kaito"

    @property
    def is_old_kaito(self) -> bool:
        """Whether it is one before 0.8, which has no gate against auto-provisioning and asks for Linux nodes only."""
        found = _VERSION(self.kaito_version)
        assert found is not None, "settings are checked where they are read"
        return (int(found[1]), int(found[2])) < (0, 8)


DEFAULT_SETTINGS: Final = RunwaySettings()


def runway_settings(kaito_version: str | None = None, kaito_repository: str | None = None) -> RunwaySettings:
    """Settings as a person wrote them; what is not given has its default. Raises InputError with the flag."""
    version = kaito_version or DEFAULT_SETTINGS.kaito_version
    repository = kaito_repository or DEFAULT_SETTINGS.kaito_repository
    if _VERSION(version) is None:
        raise InputError(
            f'"{version}" is no version of a chart; write it as {DEFAULT_SETTINGS.kaito_version}', "--kaito-version"
        )
    if _REPOSITORY(repository) is None:
        raise InputError(f'"{repository}" is no URL of a Helm repository, such as https://...', "--kaito-repository")
    return RunwaySettings(version, repository.rstrip("/"))
