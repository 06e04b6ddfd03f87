"""The systems that Kubernetes is installed on, as a table: distribution, architecture, and minor versions."""

from __future__ import annotations

from typing import Final, NamedTuple

from mooring.kube.errors import MooringError

__all__ = ["PLATFORMS", "Platform", "UnsupportedPlatform", "platform_of"]

_BOTH: Final = ("amd64", "arm64")


class Platform(NamedTuple):
    """`prefix` is how `status.hostinfo.osimage` begins. The minor versions of Kubernetes go from `first` to `last`."""

    prefix: str
    # The name that bundles have in theirs.
    slug: str
    first: int
    last: int
    architectures: tuple[str, ...] = _BOTH


PLATFORMS: Final = (
    Platform("Ubuntu 20.04", "ubuntu-20.04", 24, 26),
    Platform("Ubuntu 22.04", "ubuntu-22.04", 25, 35),
    Platform("Ubuntu 24.04", "ubuntu-24.04", 27, 35),
    Platform("Debian GNU/Linux 12", "debian-12", 27, 35),
)


class UnsupportedPlatform(MooringError):
    """No row of the table matches; the text says what there is."""


def platform_of(image: str, architecture: str, version: str) -> Platform:
    """The row for a system and a version of Kubernetes. Raises UnsupportedPlatform."""
    row = next((each for each in PLATFORMS if image.startswith(each.prefix)), None)
    if row is None:
        known = ", ".join(each.prefix for each in PLATFORMS)
        raise UnsupportedPlatform(
            f"there is no installer for {image or 'an unknown system'}; there is one for {known}. Install Kubernetes "
            "yourself and start the agent with --skip-installation, or leave installerRef out"
        )
    if architecture not in row.architectures:
        raise UnsupportedPlatform(
            f"there is no installer for {row.prefix} on {architecture or 'an unknown architecture'}; there is one for "
            f"{' and '.join(row.architectures)}"
        )
    minor = _minor(version)
    if minor is None or not row.first <= minor <= row.last:
        raise UnsupportedPlatform(
            f"there is no installer for Kubernetes {version or 'of no version'} on {row.prefix}; there is one for "
            f"v1.{row.first} to v1.{row.last}"
        )
    return row


def _minor(version: str) -> int | None:
    parts = version.removeprefix("v").split(".")
    return int(parts[1]) if len(parts) == 3 and parts[0] == "1" and parts[1].isdigit() else None
