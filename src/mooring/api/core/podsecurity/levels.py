"""The pod security level of a namespace, by its labels: what is enforced, audited and warned of."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from mooring.kube.errors import FieldError, invalid

__all__ = ["PREFIX", "PRIVILEGED", "SecurityLevel", "SecurityPolicy", "policy_of"]

PREFIX: Final = "pod-security.kubernetes.io/"
_LEVELS: Final = ("privileged", "baseline", "restricted")
_VERSION: Final = re.compile(r"v1\.([0-9]|[1-9][0-9]*)").fullmatch
# The newest version that has a rule of its own.
_LATEST_MINOR: Final = 35


class SecurityLevel(NamedTuple):
    """A level and the version of Kubernetes whose rules count."""

    level: str = "privileged"
    version: str = "latest"

    def __str__(self) -> str:
        return f"{self.level}:{self.version}"

    @property
    def minor(self) -> int:
        return _LATEST_MINOR if self.version == "latest" else min(int(self.version[3:]), _LATEST_MINOR)

    def is_stricter(self, other: "SecurityLevel") -> bool:
        return _LEVELS.index(self.level) > _LEVELS.index(other.level)


PRIVILEGED: Final = SecurityLevel()


class SecurityPolicy(NamedTuple):
    enforce: SecurityLevel = PRIVILEGED
    audit: SecurityLevel = PRIVILEGED
    warn: SecurityLevel = PRIVILEGED
    errors: tuple[FieldError, ...] = ()


def policy_of(labels: Mapping[str, str]) -> SecurityPolicy:
    """What labels ask for. Where one cannot be read, the strictest is enforced and nothing more is warned of."""
    errors: list[FieldError] = []
    enforce = _read(labels, "enforce", errors)
    known = bool(errors)
    audit, warn = (_read(labels, mode, errors, otherwise="privileged") for mode in ("audit", "warn"))
    if f"{PREFIX}enforce" in labels and f"{PREFIX}warn" not in labels and not known and enforce.is_stricter(warn):
        version = warn.version if f"{PREFIX}warn-version" in labels else enforce.version
        warn = SecurityLevel(enforce.level, version)
    return SecurityPolicy(enforce, audit, warn, tuple(errors))


def _read(
    labels: Mapping[str, str], mode: str, errors: list[FieldError], otherwise: str = "restricted"
) -> SecurityLevel:
    level = labels.get(f"{PREFIX}{mode}", "privileged")
    if level not in _LEVELS:
        errors.append(_invalid(f"{PREFIX}{mode}", level, f"must be one of {', '.join(_LEVELS)}"))
        level = otherwise
    version = labels.get(f"{PREFIX}{mode}-version", "latest")
    if version != "latest" and not _VERSION(version):
        errors.append(_invalid(f"{PREFIX}{mode}-version", version, 'must be "latest" or "v1.x"'))
        version = "latest"
    return SecurityLevel(level, version)


def _invalid(label: str, value: str, detail: str) -> FieldError:
    return invalid(f"metadata.labels[{label}]", value, detail)
