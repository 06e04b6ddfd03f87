"""What `helm history -o json` says of a release: its newest revision, and the newest that was fully installed."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from mooring.features.installation.api.installation import HelmRelease
from mooring.kube.errors import MooringError

__all__ = ["NOT_FOUND", "release_of"]

# How Helm says that a release has no history.
NOT_FOUND: Final = "release: not found"
_CHART: Final = re.compile(r"(.+?)-(v?[0-9]+\.[0-9]+\.[0-9]+.*)")
_GOOD: Final = ("deployed", "superseded")


class _Revision(msgspec.Struct, frozen=True):
    revision: int = 0
    updated: str = ""
    status: str = ""
    chart: str = ""
    app_version: str = ""


_read = msgspec.json.Decoder(list[_Revision]).decode


def release_of(name: str, namespace: str, text: str) -> HelmRelease | None:
    """The release, of which there is None where the history is empty."""
    try:
        revisions = sorted(_read(text), key=lambda each: each.revision)
    except msgspec.DecodeError as error:
        raise MooringError(f"the history of release {name} cannot be read: {error}; use Helm 3.13 or newer") from None
    if not revisions:
        return None
    last = revisions[-1]
    found = _CHART.fullmatch(last.chart)
    chart, version = found.groups() if found else (last.chart, "")
    good = max((each.revision for each in revisions if each.status in _GOOD), default=0)
    fields: dict[str, Any] = {"chart": chart, "version": version, "app_version": last.app_version}
    return HelmRelease(
        name,
        namespace,
        **fields,
        revision=last.revision,
        status=last.status,
        updated=last.updated or None,
        good_revision=good,
    )
