"""Comparing a definition of ours with upstream's: descriptions are ours, everything else is theirs."""

from __future__ import annotations

from collections.abc import Iterator

from mooring.kube.objects import Object


def differences(ours: Object, theirs: Object, path: str = "") -> Iterator[str]:
    """Where two schemas differ. That lists are atomic need not be said."""
    for key in sorted((ours.keys() | theirs.keys()) - {"description"}):
        mine, other = ours.get(key), theirs.get(key)
        if key == "properties":
            for name in sorted(dict(mine or {}).keys() | dict(other or {}).keys()):
                here = f"{path}.{name}"
                if name not in (mine or {}) or name not in (other or {}):
                    yield here
                else:
                    yield from differences((mine or {})[name], (other or {})[name], here)
        elif isinstance(mine, dict) and isinstance(other, dict) and key in ("items", "additionalProperties"):
            yield from differences(mine, other, f"{path}[]")
        elif mine != other and not (key == "x-kubernetes-list-type" and "atomic" in (mine, other)):
            yield f"{path} {key}: {mine} and not {other}"


def columns(version: Object) -> list[tuple[str, str, str]]:
    return [(each["name"], each["type"], each["jsonPath"]) for each in version["additionalPrinterColumns"]]
